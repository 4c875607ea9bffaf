"""Helpers around training."""

from mindtorch.utils import _python_dispatch, _pytree, checkpoint, data, graph, hooks

__all__ = ["_python_dispatch", "_pytree", "checkpoint", "data", "graph", "hooks"]
