"""CPU kernels of the embedding ops."""
