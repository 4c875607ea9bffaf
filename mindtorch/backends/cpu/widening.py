"""float16 and bfloat16 arithmetic is done in float32 and rounded once, at the end."""

from __future__ import annotations

import numpy as np


def widen(array: np.ndarray | None) -> np.ndarray | None:
    """The array in the dtype in which its kernel computes."""
    if array is None or array.dtype.itemsize != 2 or array.dtype.kind not in "fV":
        return array
    return array.astype(np.float32)


def narrow(array: np.ndarray, like: np.ndarray) -> np.ndarray:
    """A computed array in the dtype of an input."""
    return array if array.dtype == like.dtype else array.astype(like.dtype)


def narrow_all(arrays: tuple[np.ndarray | None, ...], like: np.ndarray) -> tuple[np.ndarray | None, ...]:
    return tuple(array if array is None else narrow(array, like) for array in arrays)
