"""CPU kernels of the comparison ops."""
