"""CPU kernels of the nn ops."""
