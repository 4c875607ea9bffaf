"""CPU kernels of the indexing ops."""
