"""What can be active around a call: autocast, forward AD, `vmap`, anomaly mode, `__torch_dispatch__`."""
