"""CPU kernels of the reduction ops."""
