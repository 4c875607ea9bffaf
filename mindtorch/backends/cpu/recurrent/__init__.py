"""CPU kernels of the recurrent ops."""
