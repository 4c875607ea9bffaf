"""Plain arrays, for which a kernel need not look at dtype and layout again.

An array is plain if it is NumPy's own, of float32 or float64, row-major, and without dimensions of size 0 or 1: NumPy
and torch agree on dtype and strides of every pointwise result, and that is plain too. A tensor remembers in `_mt_kind`
what its array is: a `Kind`, False if it is not plain, None until computed. A kernel table has an entry for
each kind.
"""

from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.promotion import DOUBLE, FLOAT
from mindtorch._core.tensor import WrappedNumber


class Kind:
    """The plain arrays of one dtype. A key of kernel tables: it is hashed by identity, unlike a dtype."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"<plain {self.dtype}>"


PLAIN_FLOAT = Kind(FLOAT)
PLAIN_DOUBLE = Kind(DOUBLE)
KINDS = (PLAIN_FLOAT, PLAIN_DOUBLE)

# What a fast path raises when the slow path must decide: no loop for the dtype or the kind of number (KeyError), shapes
# that don't broadcast (ValueError), arrays of another backend (TypeError), a quiet context that is in use and the
# errors of the computation itself (RuntimeError), numbers that don't fit (OverflowError), too little memory
# (MemoryError).
FAST_PATH_FAILED = (KeyError, ValueError, TypeError, RuntimeError, OverflowError, MemoryError)

_KEEP_THE_DTYPE = frozenset((float, int, bool))  # the numbers that leave the dtype of a float array as it is


def has_bare_array(tensor: Any) -> bool:
    """Whether a composite may compute on the array of a tensor: it is NumPy's own, and no mode is active."""
    return not state.active_modes and type(tensor._mt_array) is np.ndarray


def kind_of(tensor: Any) -> Any:
    """The kind of a tensor or wrapped number, remembered; None if it is not plain."""
    kind = tensor._mt_kind
    if kind is None:
        tensor._mt_kind = kind = _look_at(tensor._mt_array)
    return kind or None


def common_kind(tensor: Any, other: Any) -> Kind | None:
    """The kind that two operands share; a number has that of the tensor. None if there is no such kind."""
    kind = kind_of(tensor)
    if kind and (kind_of(other) is kind or (type(other) is WrappedNumber and type(other._mt_array) in _KEEP_THE_DTYPE)):
        return kind
    return None


def _look_at(array: Any) -> Any:
    if type(array) is not np.ndarray:
        return False
    dtype = array.dtype
    kind = PLAIN_FLOAT if dtype is FLOAT else PLAIN_DOUBLE if dtype is DOUBLE else None
    return kind if kind and array.flags.c_contiguous and array.ndim and array.size and 1 not in array.shape else False
