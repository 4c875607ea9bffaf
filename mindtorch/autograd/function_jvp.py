"""Custom Functions in forward mode: the tangents that the `jvp` staticmethod gives to the outputs."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.tangents import inside_of, set_tangent, tangent_of

_thread = state.thread

# What an output of `forward` is to `jvp`.
_CONSTANT = "without a derivative"
_WRITTEN = "an input that was written"
_NEW = "anything else"


def role_of(output: Any, marked: Sequence[Any], written: Sequence[Any]) -> str:
    """The role of an output, given the tensors that were marked as not differentiable and as dirty."""
    is_float = isinstance(output, Tensor) and (output.is_floating_point() or output.is_complex())
    if not is_float or any(each is output for each in marked):
        return _CONSTANT
    return _WRITTEN if any(each is output for each in written) else _NEW


def apply_jvp(function: Any, ctx: Any, args: tuple, outputs: Sequence[Any], roles: Sequence[str]) -> None:
    """Give the outputs their tangents at each level of forward AD at which an input has one."""
    for number in range(_thread.dual_level + 1):
        tangents = [tangent_of(value, number) for value in args]
        if all(tangent is None for tangent in tangents):
            continue
        given = [_tangent_or_zeros(ctx, value, tangent) for value, tangent in zip(args, tangents, strict=True)]
        with inside_of(number):
            results = function.jvp(ctx, *given)
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(outputs):
            raise RuntimeError(
                "Function's jvp returned an invalid number of forward gradients "
                f"(expected {len(outputs)} but got {len(results)})"
            )
        for place, (output, tangent, role) in enumerate(zip(outputs, results, roles, strict=True)):
            if isinstance(output, Tensor):
                _check_tangent(tangent, role, place)
                _store(output, tangent, role, number, args)


def _check_tangent(tangent: Any, role: str, place: int) -> None:
    if tangent is not None and not isinstance(tangent, Tensor):
        raise RuntimeError(f"expected Variable or None (got {errors.type_name(tangent)}) for grad output {place}.")
    if role is _CONSTANT:
        if tangent is not None:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {place}, but  the corresponding forward output is not "
                "a differentiable Tensor.You should return None at that position instead."
            )
    elif tangent is None or not (tangent.is_floating_point() or tangent.is_complex()):
        raise RuntimeError("Expected both tensor and its forward grad to be floating point or complex")


def _store(output: Any, tangent: Any, role: str, number: int, args: Sequence[Any]) -> None:
    """As of an op: the tangent of a view is a view, and that of a written input the same tensor as before."""
    old = tangent_of(output, number) if role is _WRITTEN else None
    if old is not None and tangent is not old:
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
            "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
        )
    if old is not None or role is _CONSTANT:
        return
    is_alias = output._is_view() and all(output is not value for value in args)
    # In `torch.func.jvp` what `forward` gives is a tensor of the transform, which is no view.
    if is_alias and not tangent._is_view() and not _thread.dual_levels[number].depth:
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
        )
    set_tangent(output, tangent, number)


def _tangent_or_zeros(ctx: Any, value: Any, tangent: Any) -> Any:
    if tangent is None and isinstance(value, Tensor) and ctx._materialize:
        return ops.zeros_like(value)
    return tangent
