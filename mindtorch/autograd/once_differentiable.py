"""`once_differentiable`: for a `backward` that may not be differentiated itself."""

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import edge_of, set_history
from mindtorch.autograd._engine.node_base import ConnectedNode

_thread = state.thread


class Error(ConnectedNode):
    """A node that may not be reached."""

    __slots__ = ("message",)

    def __init__(self, next_edges: tuple, message: str) -> None:
        super().__init__(next_edges)
        self.message = message

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        raise RuntimeError(self.message)


def once_differentiable(function: Callable) -> Callable:
    """Decorator for a `backward` whose own derivative would be wrong: asking for it is an error."""

    @functools.wraps(function)
    def unrecorded(ctx: Any, *args: Any) -> Any:
        grad_enabled = _thread.grad_enabled
        state.set_grad_enabled(False)
        try:
            outputs = function(ctx, *args)
        finally:
            state.set_grad_enabled(grad_enabled)
        if not grad_enabled or not any(isinstance(arg, Tensor) and edge_of(arg) is not None for arg in args):
            return outputs
        return tuple(map(_guarded, outputs if isinstance(outputs, tuple) else (outputs,)))

    return unrecorded


def _guarded(tensor: Any) -> Any:
    """The tensor as the output of a node that raises."""
    if tensor is None:
        return None
    source = tensor.detach().requires_grad_()
    message = "trying to differentiate twice a function that was marked with @once_differentiable"
    guarded = tensor.detach()
    set_history(guarded, Error((edge_of(source),), message))
    return guarded
