"""The handle that hooks are removed with."""

from mindtorch.autograd.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
