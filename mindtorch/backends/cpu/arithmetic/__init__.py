"""CPU kernels of the arithmetic ops."""
