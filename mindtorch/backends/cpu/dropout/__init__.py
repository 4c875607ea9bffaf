"""CPU kernels of the dropout ops."""
