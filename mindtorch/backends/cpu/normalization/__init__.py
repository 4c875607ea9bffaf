"""CPU kernels of the normalization ops."""
