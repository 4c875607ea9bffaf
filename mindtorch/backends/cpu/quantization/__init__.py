"""CPU kernels of the quantization ops."""
