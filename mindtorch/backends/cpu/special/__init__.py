"""CPU kernels of the special ops."""
