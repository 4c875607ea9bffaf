"""CPU kernels of the resampling ops."""
