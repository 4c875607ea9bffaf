"""Reductions of what several processes have sent to this one."""

from __future__ import annotations

from collections.abc import Sequence

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


def fold_into(result: np.ndarray, parts: Sequence[np.ndarray], op: RedOpType) -> None:
    """Reduce parts in the order of the ranks; half precision in single precision, rounded once."""
    if result.dtype in HALVES:
        halves.convert_into(result, _folded_halves(parts, _FOLDS[op][0]))
    elif result.dtype.char == "?":
        _fold_into(result.view(np.uint8), [each.view(np.uint8) for each in parts], _FOLDS[op][1])
    else:
        _fold_into(result, parts, _FOLDS[op][0])


def _fold_into(result: np.ndarray, parts: Sequence[np.ndarray], fold: np.ufunc) -> None:
    if len(parts) == 1:
        result[...] = parts[0]
        return
    quiet(fold, parts[0], parts[1], out=result)
    for each in parts[2:]:
        quiet(fold, result, each, out=result)


def _folded_halves(parts: Sequence[np.ndarray], fold: np.ufunc) -> np.ndarray:
    total = halves.converted(parts[0], FLOAT)
    wide = np.empty_like(total)
    for each in parts[1:]:
        halves.convert_into(wide, each)
        quiet(fold, total, wide, out=total)
    return total
