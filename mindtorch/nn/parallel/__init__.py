"""Modules on several devices. There is one, so the module does all the work."""

from mindtorch.nn.parallel.data_parallel import DataParallel

__all__ = ["DataParallel"]
