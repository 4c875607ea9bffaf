"""CPU kernels of the loss ops."""
