"""CPU kernels of the padding ops."""
