"""The CPU backend: kernels over NumPy arrays, one module per family and helper modules."""
