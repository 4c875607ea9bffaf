"""CPU kernels of the attention ops."""
