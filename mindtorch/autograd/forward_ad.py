"""Forward-mode AD: dual tensors and the levels they live in.

How ops treat them is in mindtorch.dispatch.modes.forward_ad.
"""

from typing import Any, NamedTuple

from mindtorch._core import state
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch.autograd._engine.history import is_view, noted_edge, set_history
from mindtorch.autograd._engine.node_base import ConnectedNode
from mindtorch.autograd._engine.zero_ways import depending
from mindtorch.autograd.grad_mode import ModeContext
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.tangents import (
    Level,
    depend_with,
    inside_of,
    keep_without_tangent,
    set_tangent,
    tangent_of,
)

_thread = state.thread
depend_with(depending)


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor; the tangent is None for an ordinary one."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level, in which tensors can be dual. There is one at a time."""
    if _thread.dual_level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    return enter_inner_level()


def enter_inner_level() -> int:
    """Begin a level inside of those that there are."""
    _thread.dual_levels = (*_thread.dual_levels, Level())
    _thread.dual_level = len(_thread.dual_levels) - 1
    state.count_thread_mode(1)
    return _thread.dual_level


def exit_dual_level(*, level: int | None = None) -> None:
    """End a level: its tangents are gone."""
    if level is None:
        level = _thread.dual_level
    if level != _thread.dual_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    *outer, ended = _thread.dual_levels
    _thread.dual_levels = tuple(outer)
    _thread.dual_level = level - 1
    state.count_thread_mode(-1)
    ended.end()


class dual_level(ModeContext):
    """A `with` block, or a decorated function, in which tensors can be dual."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Tensor:
    """A view of the tensor that carries the tangent through the ops that follow."""
    number = _thread.dual_level if level is None else level
    if number < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for name, part in (("primal", tensor), ("tangent", tangent)):
        if not (part.is_floating_point() or part.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {part.dtype}")
    if tensor.layout is not strided:
        raise errors.no_strides(tensor.layout)
    if tangent_of(tensor, number) is not None:
        raise RuntimeError(
            f"Making a dual Tensor based on a Tensor that already has a forward gradient at the same level {number} is "
            "not supported."
        )
    if tangent_of(tangent, number) is not None:
        raise RuntimeError(
            f"Setting a forward grad that itself has a forward gradient at the same level{number} is not supported."
        )
    dual = _view_inside_of(number, tensor)
    set_tangent(dual, tangent, number)
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of a tensor."""
    number = _thread.dual_level if level is None else level
    tangent = tangent_of(tensor, number) if _thread.forward_grad_enabled else None
    if number < 0:
        return UnpackedDualTensor(tensor, None)
    with inside_of(number):
        primal = _unpacked(tensor)
    if tangent is not None:
        keep_without_tangent(primal, number)
    return UnpackedDualTensor(primal, tangent)


class Identity(ConnectedNode):
    """The node of a primal. The gradient goes on as the object that it is, history and all."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::Identity"

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        return grads


def _unpacked(tensor: Any) -> Tensor:
    """A view of a tensor whose node, if it has one, has the name that texts show."""
    primal = ops.alias(tensor)
    edge = None if _thread.transforms else noted_edge(primal)
    if edge and is_view(primal):
        set_history(primal, Identity(edge[0].next_edges))
    return primal


def _view_inside_of(number: int, tensor: Any) -> Tensor:
    """The tensor without its tangent at a level, by the op that texts name."""
    with inside_of(number):
        if _thread.transforms:
            return ops.alias(tensor)
        view = tensor.view_as(tensor)
        if 1 in tensor.shape:  # where a `view_as` has strides of its own, which tell memory formats
            view._mt_array = tensor.detach()._mt_array
        return view


def _is_fwd_grad_enabled() -> bool:
    return _thread.forward_grad_enabled


class _set_fwd_grad_enabled:
    """Switch forward AD on or off, at once and until the `with` block ends."""

    def __init__(self, mode: bool) -> None:
        self._before = _thread.forward_grad_enabled
        _thread.forward_grad_enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        _thread.forward_grad_enabled = self._before
