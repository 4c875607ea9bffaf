"""CPU kernels of the fft ops."""
