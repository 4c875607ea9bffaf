"""Reductions of what several processes have sent to this one."""

from __future__ import annotations

import numpy as np

from mindtorch._core.promotion import BFLOAT16, FLOAT, HALF
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common import halves
from mindtorch.distributed.reduce_op import RedOpType

HALVES = frozenset((HALF, BFLOAT16))

# Truth values are reduced as bytes that are 0 or 1. What is NaN loses to what is a number, as in MPI.
_FOLDS = {
    RedOpType.SUM: (np.add, np.maximum),
    RedOpType.PRODUCT: (np.multiply, np.minimum),
    RedOpType.MIN: (np.fmin, np.minimum),
    RedOpType.MAX: (np.fmax, np.maximum),
    RedOpType.BAND: (np.bitwise_and, np.bitwise_and),
    RedOpType.BOR: (np.bitwise_or, np.bitwise_or),
    RedOpType.BXOR: (np.bitwise_xor, np.bitwise_xor),
}


def folded(parts: np.ndarray, op: RedOpType) -> np.ndarray:
    """The reduction of the rows, in the order of the ranks; half precision gives single precision."""
    if parts.dtype in HALVES:
        return _folded_halves(parts, _FOLDS[op][0])
    if parts.dtype.char == "?":
        rows = parts.view(np.uint8)
        return _folded(rows[0].copy(), rows[1:], _FOLDS[op][1]).view(np.bool_)
    return _folded(parts[0].copy(), parts[1:], _FOLDS[op][0])


def _folded(total: np.ndarray, rest: np.ndarray, fold: np.ufunc) -> np.ndarray:
    for each in rest:
        quiet(fold, total, each, out=total)
    return total


def _folded_halves(parts: np.ndarray, fold: np.ufunc) -> np.ndarray:
    total = halves.converted(parts[0], FLOAT)
    wide = np.empty_like(total)
    for each in parts[1:]:
        halves.convert_into(wide, each)
        quiet(fold, total, wide, out=total)
    return total
