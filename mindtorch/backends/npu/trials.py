"""Whether the CPU takes the dtypes and numbers of a pointwise call, asked once for each with arrays of one element.

Rules of shapes and dtypes do not know of numbers that a dtype has no room for, or of operands that only differ in a way
that an op refuses. The device would compute something of them.
"""

from functools import cache
from typing import Any

import numpy as np

from mindtorch.backends.npu.array import NpuArray
from mindtorch.dispatch.registry import find_op, kernel_table

_MANY = 4096
_right: set[tuple] = set()
_ARRAYS = (NpuArray, np.ndarray)
_NUMBERS = (bool, int, float, complex, str, type(None))


def check_operands(op: str, args: tuple, out: Any = None) -> None:
    """Raises torch's error for a call that the CPU refuses, whatever the shapes are."""
    if not op or not _can_be_tried(op, len(args)):
        return
    key = (op, *map(_kind_of, args), _kind_of(out), *[out is value for value in args])
    if None in key or key in _right:
        return
    _try(op, args, out)
    if len(_right) >= _MANY:
        _right.clear()
    _right.add(key)


@cache
def _can_be_tried(op: str, count: int) -> bool:
    """Whether one element says what many do, and the rule was asked with all that the kernel gets."""
    entry = find_op(op)
    return "pointwise" in entry.tags and len(entry.schema.arguments) == count


def _kind_of(value: Any) -> Any:
    """What counts of an operand; None if nothing can be tried with it."""
    if type(value) in _ARRAYS:
        return value.dtype, bool(value.shape)
    return (type(value), value) if type(value) in _NUMBERS else None


def _try(op: str, args: tuple, out: Any) -> None:
    # What `out` is resized to is not a matter of dtypes and numbers, so it has the result's shape here.
    dims = max((len(value.shape) for value in args if type(value) in _ARRAYS), default=0)
    target = None if out is None else np.ones((1,) * dims, out.dtype)
    operands = [target if value is out and out is not None else _small(value) for value in args]
    try:
        kernel_table(op)[np.ndarray](*operands, **({} if target is None else {"out": target}))
    except NotImplementedError:  # of a dtype, which the device may have
        pass


def _small(value: Any) -> Any:
    if type(value) in _ARRAYS:
        return np.ones((1,) * len(value.shape), value.dtype)
    return value
