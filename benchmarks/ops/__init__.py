"""Every op of the table, layers, losses and optimizers, timed against torch or an older mindtorch: `make bench-ops`."""
