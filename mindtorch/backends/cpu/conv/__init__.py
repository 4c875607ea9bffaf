"""CPU kernels of the conv ops."""
