"""Reductions of what several processes have sent to this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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
    folding(result.dtype, op)(result, parts)


def folding(dtype: np.dtype[Any], op: RedOpType) -> Callable[[np.ndarray, Sequence[np.ndarray]], None]:
    """`fold_into` for a dtype and a reduction. The result may be one of the first two parts."""
    for_numbers, for_bytes = _FOLDS[op]
    if dtype in HALVES:
        return partial(_fold_halves, for_numbers)
    return partial(_fold_bytes, for_bytes) if dtype.char == "?" else partial(_fold, for_numbers)


def _fold(fold: np.ufunc, result: np.ndarray, parts: Sequence[np.ndarray]) -> None:
    if len(parts) == 1:
        result[...] = parts[0]
        return
    quiet(fold, parts[0], parts[1], out=result)
    for each in parts[2:]:
        quiet(fold, result, each, out=result)


def _fold_bytes(fold: np.ufunc, result: np.ndarray, parts: Sequence[np.ndarray]) -> None:
    _fold(fold, result.view(np.uint8), [each.view(np.uint8) for each in parts])


def _fold_halves(fold: np.ufunc, result: np.ndarray, parts: Sequence[np.ndarray]) -> None:
    total = halves.converted(parts[0], FLOAT)
    wide = np.empty_like(total)
    for each in parts[1:]:
        halves.convert_into(wide, each)
        quiet(fold, total, wide, out=total)
    halves.convert_into(result, total)
