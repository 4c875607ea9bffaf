"""float16 and bfloat16 arithmetic is done in float32 and rounded once, at the end."""

from __future__ import annotations

import numpy as np

Arrays = tuple[np.ndarray | None, ...]


def widen(array: np.ndarray | None) -> np.ndarray | None:
    """The array in the dtype in which its kernel computes."""
    if array is None or array.dtype.itemsize != 2 or array.dtype.kind not in "fV":
        return array
    return array.astype(np.float32)


def deliver(array: np.ndarray, like: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A computed array as the result: written to out, or in the dtype of an input."""
    if out is not None:
        out[...] = array
        return out
    return np.asarray(array, like.dtype)


def deliver_all(arrays: Arrays, like: np.ndarray, outs: Arrays | None = None) -> Arrays:
    targets = outs or (None,) * len(arrays)
    return tuple(array if array is None else deliver(array, like, out) for array, out in zip(arrays, targets))
