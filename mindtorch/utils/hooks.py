"""The handle that hooks are removed with."""

from mindtorch.autograd._engine.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
