"""Looking at the graph and changing what it keeps: `torch.autograd.graph`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.engine import GradientEdge
from mindtorch.autograd._engine.execution import running
from mindtorch.autograd._engine.history import edge_of, edge_to_keep, mark_written
from mindtorch.autograd._engine.hooks import RemovableHandle
from mindtorch.autograd._engine.mutation import allow_mutation_on_saved_tensors
from mindtorch.autograd._engine.node_base import NodeBase as Node
from mindtorch.autograd._engine.saved_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph to which gradients of the tensor go."""
    edge = edge_of(tensor) if tensor.requires_grad else None
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*(edge or edge_to_keep(tensor))[:2])


def increment_version(tensor: Any) -> None:
    """Tell autograd that a tensor (or each of several) was written in a way that it could not see."""
    if not isinstance(tensor, (Tensor, Iterable)):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not isinstance(each, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if not each.is_inference():
            mark_written(each)


# -------------------- a hook on several tensors --------------------


class _MultiHandle(RemovableHandle):
    """The handle of one hook that sits on several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple:
        return self.handles

    def __setstate__(self, handles: tuple) -> None:
        self.handles = handles


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> RemovableHandle:
    """Call `fn(gradients)` once per backward pass, when the gradients of all the tensors that take part are known;
    with mode="any" call `fn(gradient)` with the first of them."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        first = _FirstGradient(fn)
        return _MultiHandle([tensor.register_hook(first.note) for tensor in tensors if tensor.requires_grad])
    hook = _AllGradients(tensors, fn)
    return _MultiHandle([tensor.register_hook(hook.for_tensor(i)) for i, tensor in enumerate(tensors)])


class _AllGradients:
    """Collects the gradients of a pass, in the pass itself."""

    def __init__(self, tensors: Sequence[Tensor], function: Callable) -> None:
        if not all(edge_of(tensor) for tensor in tensors):
            raise AssertionError("Expected gradient function to be set")
        self.nodes = [get_gradient_edge(tensor).node for tensor in tensors]
        self.function = function

    def for_tensor(self, position: int) -> Callable[[Any], None]:
        return lambda grad: self.note(position, grad)

    def note(self, position: int, grad: Any) -> None:
        task: Any = running.task
        if self not in task.notes:
            task.notes[self] = [sum([task.will_reach(node) for node in self.nodes]), [None] * len(self.nodes)]
        entry = task.notes[self]
        entry[0] -= 1
        entry[1][position] = grad
        if entry[0] == 0:
            self.function(entry[1])
            del task.notes[self]  # PyTorch begins anew with gradients that it has not expected


class _FirstGradient:
    """Passes on the first gradient of a pass."""

    def __init__(self, function: Callable) -> None:
        self.function = function

    def note(self, grad: Any) -> None:
        task: Any = running.task
        if self not in task.notes:
            task.notes[self] = True
            self.function(grad)
