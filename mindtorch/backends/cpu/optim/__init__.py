"""CPU kernels of the optim ops."""
