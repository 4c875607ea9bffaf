"""CPU kernels of the bitwise ops."""
