"""Signal processing."""

from mindtorch.signal import windows

__all__ = ["windows"]
