"""Looking at the graph and changing what it keeps: `torch.autograd.graph`."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch import state
from mindtorch.autograd.engine import GradientEdge
from mindtorch.autograd.execution import running
from mindtorch.autograd.history import edge_of, mark_written
from mindtorch.autograd.hooks import RemovableHandle
from mindtorch.autograd.node_base import NodeBase as Node
from mindtorch.autograd.saved_tensor import check_hooks
from mindtorch.tensor import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]

_thread = state.thread


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph to which gradients of the tensor go."""
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(*edge)


def increment_version(tensor: Any) -> None:
    """Tell autograd that a tensor (or each of several) was written in a way that it could not see."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        mark_written(each)


# -------------------- saved tensors --------------------


class saved_tensors_hooks:
    """In this block, graphs keep what `pack_hook(tensor)` returns, and `unpack_hook` of that is the tensor again."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _thread.saved_tensor_hooks_disabled is not None:
            raise RuntimeError(_thread.saved_tensor_hooks_disabled)
        check_hooks("_push_saved_tensors_default_hooks", self.pack_hook, self.unpack_hook)
        _thread.saved_tensor_hooks = (*_thread.saved_tensor_hooks, (self.pack_hook, self.unpack_hook))
        state.count_interceptor(1)

    def __exit__(self, *exception: Any) -> None:
        _thread.saved_tensor_hooks = _thread.saved_tensor_hooks[:-1]
        state.count_interceptor(-1)


class save_on_cpu(saved_tensors_hooks):
    """In this block, graphs keep their tensors on the CPU and bring them back for backward."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_to_cpu, _to_device)


def _to_cpu(tensor: Tensor) -> tuple:
    return tensor.device, tensor.to("cpu")


def _to_device(packed: tuple) -> Tensor:
    device, tensor = packed
    return tensor.to(device)


class disable_saved_tensors_hooks:
    """In this block, `saved_tensors_hooks` is an error with the given message."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        if _thread.saved_tensor_hooks:
            raise RuntimeError(self.error_message)
        self.previous = _thread.saved_tensor_hooks_disabled
        _thread.saved_tensor_hooks_disabled = self.error_message

    def __exit__(self, *exception: Any) -> None:
        _thread.saved_tensor_hooks_disabled = self.previous


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
        if any(edge_of(tensor) is None for tensor in tensors):
            raise AssertionError("Expected gradient function to be set")
        self.nodes = [edge_of(tensor)[0] for tensor in tensors]
        self.function = function

    def for_tensor(self, position: int) -> Callable[[Any], None]:
        return lambda grad: self.note(position, grad)

    def note(self, position: int, grad: Any) -> None:
        task: Any = running.task
        if self not in task.notes:
            others = sum(task.will_reach(node) for i, node in enumerate(self.nodes) if i != position)
            task.notes[self] = [1 + others, [None] * len(self.nodes)]
        entry = task.notes[self]
        entry[0] -= 1
        entry[1][position] = grad
        if entry[0] == 0:
            self.function(entry[1])


class _FirstGradient:
    """Passes on the first gradient of a pass."""

    def __init__(self, function: Callable) -> None:
        self.function = function

    def note(self, grad: Any) -> None:
        task: Any = running.task
        if self not in task.notes:
            task.notes[self] = True
            self.function(grad)
