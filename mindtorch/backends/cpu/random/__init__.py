"""CPU kernels of the random ops."""
