"""Tensors and what they are made of: storage, dtype, device, layout, geometry, and what is switched on."""
