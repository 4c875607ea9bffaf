"""Where programs find `AdamW` in torch; it is in `adam`."""

from mindtorch.optim.adam import AdamW

__all__ = ["AdamW"]
