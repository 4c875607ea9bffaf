"""CPU kernels of the sparse ops."""
