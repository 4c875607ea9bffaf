"""Where programs find `scatter` and `gather` in torch; they are in `devices`."""

from mindtorch.nn.parallel.devices import gather, scatter

__all__ = ["gather", "scatter"]
