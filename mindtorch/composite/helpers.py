"""What decompositions use besides ops, and other composite ops, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch._core.dtype import FROM_NUMPY, complex128, float64, int64, uint64
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.fast_path import has_bare_array
from mindtorch._core.layout import strided
from mindtorch._core.promotion import int_to_float, result_type
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.dispatch import ops
from mindtorch.dispatch.registry import kernels_in

_factory = kernels_in("mindtorch.backends.cpu.factory.factory")

_Number = bool | int | float | complex


def number_beside(number: _Number, tensor: Tensor) -> Tensor:
    """The number as a 0-dim tensor that promotes with `tensor` as the number itself does.

    It is converted as elements are, so that any number will do: those too large for an integral dtype wrap around.
    """
    return _converted(number, tensor, result_type(tensor, number))


def float_beside(number: _Number, tensor: Tensor) -> Tensor:
    """The same for an op that computes on floating-point numbers: -1 beside unsigned integers is -1.0."""
    return _converted(number, tensor, FROM_NUMPY[int_to_float(tensor._mt_array, number)])


def _converted(number: _Number, tensor: Tensor, dtype: Dtype) -> Tensor:
    if has_bare_array(tensor):
        return wrap(np.array(cast(np.array(number, _widest(number).numpy), dtype.numpy)))
    return ops.scalar_tensor(number, dtype=_widest(number), device=tensor.device).to(dtype)


def _widest(number: _Number) -> Dtype:
    if isinstance(number, int) and not isinstance(number, bool):
        return int64 if number < 1 << 63 else uint64
    return boolean if isinstance(number, bool) else complex128 if isinstance(number, complex) else float64


def element_beside(number: _Number, tensor: Tensor) -> Tensor:
    """The number as an element beside those of `tensor`, whose common dtype it must fit into."""
    return element_of(number, result_type(tensor, number), tensor)


def element_of(number: _Number, dtype: Dtype, tensor: Tensor) -> Tensor:
    """A number that must fit into the dtype, as a 0-dim tensor on the device of another one."""
    if has_bare_array(tensor):
        array = np.empty((), dtype.numpy)
        return wrap(_factory.fill(array, number, array))
    return ops.scalar_tensor(number, dtype=dtype, device=tensor.device)


def fresh(filled: Tensor) -> Tensor:
    """A tensor that no caller has seen yet: that it was filled is no change."""
    filled._mt_version = None
    return filled


def options_like(input: Tensor, dtype: Dtype | None, device: Any, layout: Any = None) -> dict[str, Any]:
    """dtype, device and layout for a factory, those of the input where nothing is given."""
    options = {"dtype": dtype or input.dtype, "device": input.device if device is None else device}
    layout = layout or input.layout
    return options if layout is strided else {**options, "layout": layout}


def bound_of(high: Tensor) -> int:
    """The bound of random integers that a tensor is."""
    if high.numel() != 1 or high.ndim or high.device.type != "cpu":
        raise RuntimeError("high must be a scalar tensor and on CPU")
    return int(high.item())
