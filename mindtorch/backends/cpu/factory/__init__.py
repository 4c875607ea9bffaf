"""CPU kernels of the factory ops."""
