"""Calls of ops without an autograd kernel on tensors that require grad: as in torch, the backward pass warns."""

from typing import Any

from mindtorch._core import state
from mindtorch._core.autograd_meta import takes_part
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.history import edges_of, set_history
from mindtorch.autograd._engine.node_base import ConnectedNode
from mindtorch.dispatch.call_form import tensors_among
from mindtorch.library.results import may_record

_thread = state.thread

_WARNING = (
    "{}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. This "
    "may lead to silently incorrect behavior. This behavior is deprecated and will be removed in a future version of "
    "PyTorch. If your operator is differentiable, please ensure you have registered an autograd kernel to the correct "
    "Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). If your operator is not "
    "differentiable, or to squash this warning and use the previous behavior, please register "
    "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd."
)


class WarnNotImplemented(ConnectedNode):
    """Ends the graph at an op without a derivative: a warning, and no gradients."""

    def __init__(self, next_edges: tuple, op: str) -> None:
        super().__init__(next_edges)
        self.op = op

    def name(self) -> str:
        return "torch::autograd::WarnNotImplemented"

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        _warn(self.op)
        return (None,) * len(edges)


def run_unrecorded(operator: Any, *args: Any, **kwargs: Any) -> Any:
    """Run the kernel. What it has recorded itself stays, and other results get a node that warns."""
    if not _thread.grad_enabled or not (may_record(args) or may_record(kwargs.values())):
        return operator.run_kernel(*args, **kwargs)
    tensors = tensors_among((*args, *kwargs.values()))
    edges = edges_of(tensors)
    result = operator.run_kernel(*args, **kwargs)
    if edges:
        _watch(operator.name, edges, tensors_among((result,)))
    return result


def _watch(op: str, edges: tuple, results: list[Tensor]) -> None:
    node = WarnNotImplemented(edges, op)
    position = 0
    for tensor in results:
        if takes_part(tensor):
            tensor.register_hook(lambda grad: _warn(op))
        elif tensor.is_floating_point() or tensor.is_complex():
            set_history(tensor, node, position)
            position += 1


def _warn(op: str) -> None:
    warn(_WARNING.format(op), UserWarning)
