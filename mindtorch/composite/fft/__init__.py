"""The fft ops that are written in other ops."""
