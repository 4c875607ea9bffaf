"""CPU kernels of the activation ops."""
