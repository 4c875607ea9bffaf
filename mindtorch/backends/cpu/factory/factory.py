"""Kernels that make arrays: from nothing, like another array, and as copies; and those that fill one."""

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core import aligned, geometry, state
from mindtorch._core.device import as_device
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import strided
from mindtorch._core.memory_format import (
    checked_format,
    contiguous_format,
    memory_format,
    preserve_format,
)
from mindtorch._core.promotion import BFLOAT16, number_dtype, real_number
from mindtorch._core.strided import allocate, formatted_strides, strides_of
from mindtorch._core.strided import empty_like as new_like
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import may_share_memory
from mindtorch._support.warnings import warn
from mindtorch.backends.cpu.common.casting import cast, copy_into
from mindtorch.backends.cpu.common.checks import not_implemented, scalar_name
from mindtorch.backends.cpu.common.numbers import filling
from mindtorch.backends.cpu.common.transposing import copy_elements
from mindtorch.backends.cpu.factory.ranges import arange_length, arange_values, linspace_values
from mindtorch.dispatch.keys import backend_for_device
from mindtorch.dispatch.registry import kernel_table

Array = np.ndarray


# -------------------- from nothing --------------------


def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None, out=None):
    if out is not None:
        return _of_size(out, size)
    if memory_format is not None and memory_format is not contiguous_format:
        return _empty_formatted(size, _numpy(dtype), checked_format(memory_format, "empty"))
    return aligned.empty(size, _numpy(dtype))


def empty_strided(size, stride, dtype=None, layout=None, device=None, pin_memory=None):
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    geometry.check_sizes(size)
    if any(each < 0 for each in stride):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    wanted = _numpy(dtype)
    return allocate(tuple(size), tuple([each * wanted.itemsize for each in stride]), wanted)


def zeros(size, dtype=None, layout=None, device=None, pin_memory=None, out=None):
    try:
        if out is None:
            return aligned.zeros(size, (dtype or state.default_dtype).numpy)
        return _filled(_of_size(out, size), 0)
    except RuntimeError:
        if any(extent < 0 for extent in size):
            raise RuntimeError("zeros: Dimension size must be non-negative.") from None
        raise


def ones(size, dtype=None, layout=None, device=None, pin_memory=None, out=None):
    return _filled(empty(size, dtype, out=out), 1)


def full(size, fill_value, dtype=None, layout=None, device=None, pin_memory=None, out=None):
    target = _of_size(out, size) if out is not None else empty(size, dtype or FROM_NUMPY[number_dtype(fill_value)])
    return fill(target, fill_value, target)


def eye(n, dtype=None, layout=None, device=None, pin_memory=None, out=None):
    return eye_m(n, n, dtype, out=out)


def eye_m(n, m, dtype=None, layout=None, device=None, pin_memory=None, out=None):
    for name, extent in (("n", n), ("m", m)):
        if extent < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {extent}")
    result = _of_size(out, (n, m)) if out is not None else aligned.empty((n, m), _numpy(dtype))
    result.fill(0)
    np.einsum("ii->i", result[: min(n, m), : min(n, m)])[...] = 1
    return result


def arange(start, end, step=1, dtype=None, layout=None, device=None, pin_memory=None, out=None):
    if type(start) is type(end) is type(step) is int and dtype is None and out is None:
        if 0 < step < _EXACT and -_EXACT < start <= end < _EXACT:
            return np.arange(start, end, step)
    wanted = out.dtype if out is not None else _numpy(dtype) if dtype else _range_dtype(start, end, step)
    if wanted.kind in "bc":
        raise not_implemented("arange_cpu", np.empty(0, wanted))
    start, end, step = map(real_number, (start, end, step))
    if wanted == np.int64:
        _check_whole(start, end, step)
    length = arange_length(start, end, step, wanted)
    if out is not None and out.size not in (0, length):
        warn(
            f"The number of elements in the out tensor of shape {list(out.shape)} is {out.size} which does not match "
            f"the computed number of elements {length}. Note that this may occur as a result of rounding error. The "
            f"out tensor will be resized to a tensor of shape ({length},).",
            UserWarning,
        )
    return _in_a_row(arange_values(start, step, length, wanted).astype(wanted, copy=False), out)


_EXACT = 1 << 53  # NumPy computes with doubles how many integers there are


def _check_whole(*numbers: Any) -> None:
    if any(math.isfinite(number) and not -geometry.MOST - 1 <= int(number) <= geometry.MOST for number in numbers):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")


def _range_dtype(*numbers: Any) -> np.dtype:
    whole = all(isinstance(number, int) for number in numbers)
    return np.dtype(np.int64) if whole else state.default_dtype.numpy


def linspace(start, end, steps, dtype=None, layout=None, device=None, pin_memory=None, out=None):
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    wanted = out.dtype if out is not None else _line_dtype(dtype, start, end)
    if wanted.kind == "b" and steps > 1:
        raise not_implemented("linspace_cpu", np.empty(0, wanted))
    return _in_a_row(quiet(linspace_values, start, end, steps, wanted).astype(wanted, copy=False), out)


def _in_a_row(values: Array, out: Array | None) -> Array:
    """The values; or in `out`, which keeps its shape if it has as many elements."""
    if out is None:
        return values
    if out.size != values.size:
        return values.astype(out.dtype, copy=False)
    iterator.check_distinct(out)
    copy_into(out, values.reshape(out.shape))
    return out


def _line_dtype(dtype: Dtype | None, start: Any, end: Any) -> np.dtype:
    default = state.default_dtype
    if isinstance(start, builtins.complex) or isinstance(end, builtins.complex):
        return _numpy(dtype or default.to_complex())
    return _numpy(dtype)


# -------------------- like another array --------------------


def empty_like(input, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return _like("empty_like", input, dtype, device, memory_format)


def _like(function: str, input: Array, dtype: Dtype | None, device: Any, memory_format: memory_format | None) -> Any:
    """A new array like the input; `function` is for the error text."""
    if device is not None and as_device(device).type != "cpu":
        return _empty_elsewhere(input, dtype, device, memory_format)
    wanted = input.dtype if dtype is None else dtype.numpy
    if memory_format is None or memory_format is preserve_format:
        return new_like(input, wanted)
    if memory_format is contiguous_format:
        return aligned.empty(input.shape, wanted)
    return _empty_formatted(input.shape, wanted, checked_format(memory_format, function))


def zeros_like(input, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    if device is None and memory_format is None and input.flags.c_contiguous and 1 not in input.shape and input.size:
        return aligned.zeros(input.shape, input.dtype if dtype is None else dtype.numpy)
    return _fill_anywhere(_like("zeros_like", input, dtype, device, memory_format), 0)


def ones_like(input, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return _fill_anywhere(_like("ones_like", input, dtype, device, memory_format), 1)


def full_like(input, fill_value, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    return _fill_anywhere(_like("full_like", input, dtype, device, memory_format), fill_value)


def _empty_formatted(size: Sequence[int], dtype: np.dtype, memory_format: memory_format) -> Array:
    """A new array in a channels-last format."""
    return allocate(tuple(size), formatted_strides(size, dtype.itemsize, memory_format), dtype)


# -------------------- other backends --------------------


def _empty_elsewhere(input: Array, dtype: Dtype | None, device: Any, memory_format: memory_format | None) -> Any:
    """An array of another backend with the geometry that `empty_like` gives."""
    model = _like("empty_like", input, None, None, memory_format)
    strides = tuple([stride // model.itemsize for stride in strides_of(model)])
    make = kernel_table("empty_strided")[backend_for_device(as_device(device).type)]
    return make(model.shape, strides, dtype or FROM_NUMPY[input.dtype], None, device, None)


def _fill_anywhere(target: Any, value: Any) -> Any:
    if type(target) is Array:
        return fill(target, value, target)
    return kernel_table("fill.Scalar")[type(target)](target, value, target)


# -------------------- copies --------------------


def clone(input, memory_format=None):
    if memory_format is None and input.flags.c_contiguous and 1 not in input.shape and input.size:
        return aligned.copy(input)
    result = _like("clone", input, None, None, memory_format)
    copy_elements(result, input)
    return result


def copy(input, other, non_blocking=False):
    """Writes `other`, broadcast and converted, to `input`."""
    if type(other) is not Array:
        other = _fetched(input, other)
    if _is_simple_copy(input, other):
        copy_elements(input, other)
        return input
    if _is_itself(input, other):
        return input
    if other.shape != input.shape or not (input.base is None is other.base):  # else nothing can be wrong
        _COPY.build((input,), (other,))
    copy_into(input, other)
    return input


def _is_simple_copy(input: Array, other: Array) -> bool:
    """Whether there is nothing to convert, to broadcast or to refuse."""
    if other.shape != input.shape or other.dtype is not input.dtype:
        return False
    is_distinct = input.flags.c_contiguous or (input.ndim == 1 and input.strides[0] != 0)
    has_own_memory = input.base is None is other.base and input is not other
    return is_distinct and (has_own_memory or not may_share_memory(input, other))


_COPY = iterator.Builder(iterator.Options(same_dtype=False, resize_outputs=False))


def _is_itself(input: Array, src: Array) -> bool:
    """Whether a copy would change nothing."""
    if src is input:
        return True
    if input.base is None is src.base or not may_share_memory(input, src):
        return False
    return iterator.is_same_view(input, src)


def _fetched(input: Array, other: Any) -> Array:
    """The elements of a Python number or of another backend's array."""
    if getattr(other, "layout", strided) is not strided:
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"torch.{scalar_name(input)}Tensor and src type = torch.sparse.{scalar_name(other)}Tensor"
        )
    return other.to_numpy() if hasattr(other, "to_numpy") else np.asarray(other)


def to_copy(input, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    target = empty_like(input, dtype, layout, device, pin_memory, memory_format)
    if type(target) is not Array:
        kernel_table("copy_")[type(target)](target, input, non_blocking)
    else:
        copy_into(target, input)
    return target


# -------------------- filling --------------------


def fill(input, value, out=None):
    if isinstance(value, Array):
        if value.ndim:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
            )
        if out is input:
            iterator.check_distinct(out)
        return _fill_converted(new_like(input) if out is None else _resized(out, input.shape), value)
    target = new_like(input) if out is None else _resized(out, input.shape)
    if type(value) is float and target.dtype.kind == "f" and -_ALWAYS_FITS < value < _ALWAYS_FITS:
        return _filled(target, value)
    return _filled(target, filling(value, target))


def _fill_converted(target, value):
    """Fills with a 0-d array: converted as elements are, so that any value is good enough."""
    return _filled(target, cast(value, target.dtype))


# Smaller numbers than this fit in any floating-point dtype.
_ALWAYS_FITS = 1000.0


def zero(input):
    return _filled(input, 0)


def _filled(target: Array, value: Any) -> Array:
    if target.flags.c_contiguous:
        if target.dtype is BFLOAT16:  # NumPy fills with a dtype of its own ten times as fast
            target.view(np.uint16).fill(np.asarray(value, BFLOAT16).view(np.uint16))
        else:
            target.fill(value)
    else:
        np.copyto(target, value, casting="unsafe")
    return target


def _resized(out: Array, size: Sequence[int]) -> Array:
    """`out`, or a new array of its dtype when it has another shape."""
    if not iterator.needs_resize(out, tuple(size)):
        return out
    return aligned.empty(size, out.dtype)


def _of_size(out: Array, size: Sequence[int]) -> Array:
    """The same without a warning: whoever makes new values for `out` has no use for its elements."""
    if out.shape == tuple(size):
        return out
    geometry.check_sizes(size)
    geometry.check_numel(size)
    return aligned.empty(size, out.dtype)


def _numpy(dtype: Dtype | None) -> np.dtype:
    return (dtype or state.default_dtype).numpy


# -------------------- complex numbers from parts --------------------


def complex(real, imag, out=None):
    if real.dtype.char not in "fde" or imag.dtype.char not in "fde":
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {scalar_name(real)} and "
            f"{scalar_name(imag)}"
        )
    if real.dtype != imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_name(real)} but got scalar type {scalar_name(imag)} for second "
            "argument"
        )
    wanted = FROM_NUMPY[real.dtype].to_complex().numpy
    if out is not None and out.dtype != wanted:
        raise RuntimeError(
            f"Expected object of scalar type {FROM_NUMPY[wanted].storage_name} but got scalar type {scalar_name(out)} "
            "for argument 'out'"
        )
    shape, strides = iterator.result_layout([real, imag])
    if out is None or iterator.needs_resize(out, shape):
        out = np.empty(shape, wanted) if strides is None else _allocate_elements(shape, strides, wanted)
    out.real, out.imag = real, imag
    return out


def _allocate_elements(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> Array:
    return allocate(shape, tuple([stride * dtype.itemsize for stride in strides]), dtype)
