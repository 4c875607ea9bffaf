"""CPU kernels of the pointwise ops."""
