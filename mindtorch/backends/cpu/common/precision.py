"""float16 and bfloat16 arithmetic is done in float32 and rounded once, at the end."""

from __future__ import annotations

import numpy as np

from mindtorch._core.promotion import FLOAT
from mindtorch._support.numpy_functions import copied_at_once
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.halves import convert_into, converted
from mindtorch.iterator import needs_resize

Arrays = tuple[np.ndarray | None, ...]


def widen(array: np.ndarray | None) -> np.ndarray | None:
    """The array in the dtype in which its kernel computes."""
    if array is None or array.dtype.itemsize != 2 or array.dtype.kind not in "fV":
        return array
    return converted(array, FLOAT)


def deliver(array: np.ndarray, like: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A computed array as the result: in the dtype of an input, or written to out, which must be of that dtype."""
    if out is None and type(array) is np.ndarray and array.dtype is like.dtype:
        return array
    check_out(out, like)
    return deliver_cast(array, like, out)


def check_out(out: np.ndarray | None, like: np.ndarray) -> None:
    """For the kernels that write to an out of one dtype only."""
    if out is not None and out.dtype != like.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {c_name(like)}, but got {c_name(out)} instead")


def deliver_cast(array: np.ndarray, like: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Like `deliver`, for the kernels that write to an out of any dtype."""
    if out is None:
        is_ready = type(array) is np.ndarray and array.dtype == like.dtype
        return array if is_ready else _as_dtype(array, like.dtype)
    if copied_at_once(out, array):
        return out
    if needs_resize(out, array.shape):
        return _as_dtype(array, out.dtype)
    convert_into(out, array)
    return out


def _as_dtype(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    array = np.asarray(array)
    return array if array.dtype == dtype else converted(array, dtype)


def deliver_all(arrays: Arrays, like: np.ndarray, outs: Arrays | None = None) -> Arrays:
    targets = outs or (None,) * len(arrays)
    return tuple(array if array is None else deliver(array, like, out) for array, out in zip(arrays, targets))
