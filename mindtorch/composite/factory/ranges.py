"""Numbers at even distances, written in `arange` and `linspace`: bounds in tensors, powers, ranges with their end."""

import math
from typing import Any

from mindtorch._core import state
from mindtorch._core.dtype import PYTHON_TYPES, float64
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.composite.common import out_forms
from mindtorch.dispatch import ops


def linspace_tensors(
    start: Any,
    end: Any,
    steps: int,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    first, last = _bounds("linspace", start, end)
    return ops.linspace(first, last, steps, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)


def linspace_tensors_out(start: Any, end: Any, steps: int, out: Tensor) -> Tensor:
    first, last = _bounds("linspace", start, end)
    return ops.linspace(first, last, steps, out=out)


def _bounds(op: str, start: Any, end: Any) -> list[Any]:
    """The numbers in the tensors that a range goes from and to."""
    dims = [bound.ndim if isinstance(bound, Tensor) else 0 for bound in (start, end)]
    if any(dims):
        shown = f"start with {dims[0]} dimension(s)"
        if isinstance(end, Tensor):
            shown += f" and end with {dims[1]} dimension(s)"
        raise RuntimeError(f"{op} only supports 0-dimensional start and end tensors, but got {shown}.")
    return [bound.item() if isinstance(bound, Tensor) else bound for bound in (start, end)]


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """The powers of a base at evenly spaced exponents; those of integers are computed in double precision."""
    dtype = PYTHON_TYPES.get(dtype, dtype)
    if dtype is boolean and steps > 1:
        raise NotImplementedError("\"logspace_cpu\" not implemented for 'Bool'")
    is_whole = dtype is not None and not (dtype.is_floating_point or dtype.is_complex)
    if is_whole and steps > 1:
        start, end = int(start), int(end)
    exponents = ops.linspace(start, end, steps, dtype=float64 if is_whole else dtype, layout=layout, device=device)
    powers = ops.pow(base, exponents)
    return powers.to(dtype) if is_whole else powers


def logspace_out(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor) -> Tensor:
    """The tensor keeps its shape if it has as many elements."""
    powers = logspace(start, end, steps, base, out.dtype, device=out.device)
    if out.numel() != steps:
        ops.empty_out((steps,), out=out)
    return write_out(out, powers.view(out.shape))


def logspace_tensors(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    first, last = _bounds("logspace", start, end)
    return logspace(first, last, steps, base, dtype, layout, device, pin_memory)


def logspace_tensors_out(start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor) -> Tensor:
    first, last = _bounds("logspace", start, end)
    return logspace_out(first, last, steps, base, out=out)


def range_from_to(
    start: Any, end: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return range_inclusive(start, end, 1, dtype, layout, device, pin_memory)


def range_from_to_out(start: Any, end: Any, out: Tensor) -> Tensor:
    return range_inclusive_out(start, end, out=out)


def range_inclusive(
    start: Any,
    end: Any,
    step: Any = 1,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Like arange, in floating point and with the end."""
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    dtype = dtype or state.default_dtype
    if dtype is boolean or dtype.is_complex:
        raise NotImplementedError(f"\"range_cpu\" not implemented for '{dtype.storage_name}'")
    if not dtype.is_floating_point:
        start, end, step = int(start), int(end), int(step)
    places = ops.arange(math.floor((end - start) / step) + 1, dtype=dtype, device=device)
    return places * step + start if step != 1 or start else places


def range_inclusive_out(start: Any, end: Any, step: Any = 1, *, out: Tensor) -> Tensor:
    return out_forms.put(out, range_inclusive(start, end, step, out.dtype, device=out.device))
