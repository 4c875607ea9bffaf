"""CPU kernels of the linalg ops."""
