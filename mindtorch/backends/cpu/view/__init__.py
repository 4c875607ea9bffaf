"""CPU kernels of the view ops."""
