"""Forward-mode AD: dual tensors and the level they live in. How ops treat them is in mindtorch.dispatch.forward_ad."""

from itertools import count
from typing import Any, NamedTuple

from mindtorch import state
from mindtorch.dispatch.forward_ad import set_tangent, tangent_of, without_forward_ad
from mindtorch.tensor import Tensor

_thread = state.thread

# Every level that is entered has a number of its own, so that tangents of an earlier one are never seen again.
_next_level = count().__next__


class UnpackedDualTensor(NamedTuple):
    """The two parts of a dual tensor; the tangent is None for an ordinary one."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level, in which tensors can be dual. There is one at a time."""
    if _thread.dual_level >= 0:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _thread.dual_level = _next_level()
    state.count_thread_interceptor(1)
    return _thread.dual_level


def exit_dual_level(*, level: int | None = None) -> None:
    """End a level: its tangents are gone."""
    if level is None:
        level = _thread.dual_level
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    if level != _thread.dual_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _thread.dual_level = -1
    state.count_thread_interceptor(-1)


class dual_level:
    """A `with` block in which tensors can be dual."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of the tensor that carries the tangent through the ops that follow."""
    if _thread.dual_level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for name, part in (("primal", tensor), ("tangent", tangent)):
        if not (part.is_floating_point() or part.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {part.dtype}")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported."
        )
    if tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    if tangent.shape != tensor.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    dual = _view(tensor)
    set_tangent(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of a tensor."""
    tangent = tangent_of(tensor)
    return UnpackedDualTensor(tensor if tangent is None else _view(tensor), tangent)


def _view(tensor: Any) -> Tensor:
    with without_forward_ad():
        return tensor.view_as(tensor)


class _set_fwd_grad_enabled:
    """Switch forward AD on or off for a `with` block."""

    def __init__(self, mode: bool) -> None:
        self.previous = _thread.forward_grad_enabled
        _thread.forward_grad_enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: Any) -> None:
        _thread.forward_grad_enabled = self.previous
