"""CPU kernels of the pooling ops."""
