"""Joining, splitting and repeating."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    INT32,
    INT64,
    Evaluator,
    axis,
    promote,
    require,
    same_dtype,
    store,
    wide,
)
from tests.npu_simulator.evaluate.indexing import positions

EVALUATORS: dict[str, Evaluator] = {}


def _cat(tensors: Any, dim: int, out: Any) -> None:
    require(tensors, "no tensors")
    # "1-dim empty tensors are left out"
    parts = [tensor for tensor in tensors if tensor.shape != (0,)] or tensors
    dtype = tensors[0].dtype
    for tensor in tensors:
        dtype = promote(dtype, tensor.dtype)
    at = axis(dim, parts[0].ndim)
    others = {part.shape[:at] + part.shape[at + 1 :] for part in parts}
    require(len(others) == 1 and len({part.ndim for part in parts}) == 1, "sizes differ")
    store(
        out,
        np.concatenate([wide(part).astype(wide(np.empty(0, dtype)).dtype) for part in parts], at),
        castable_from=dtype,
    )


def _stack(tensors: Any, dim: int, out: Any) -> None:
    require(tensors and len({tensor.shape for tensor in tensors}) == 1, "tensors of one shape are needed")
    at = axis(dim, tensors[0].ndim + 1)
    dtype = same_dtype(*tensors)
    store(out, np.stack(tensors, at), dtype=dtype)


def _split(self: Any, sizes: Sequence[int], dim: int, out: Any) -> None:
    at = axis(dim, self.ndim)
    require(sum(sizes) == self.shape[at] and len(sizes) == len(out), f"parts {tuple(sizes)} of {self.shape[at]}")
    for part, own in zip(np.split(self, np.cumsum(sizes)[:-1], at), out):
        store(own, part, dtype=self.dtype)


def _split_tensor(self: Any, section: int, dim: int, out: Any) -> None:
    length = self.shape[axis(dim, self.ndim)]
    require(section > 0, "parts of size 0")
    _split(self, [min(section, length - begin) for begin in range(0, length, section)], dim, out)


EVALUATORS |= {
    "aclnnCat": _cat,
    "aclnnStack": _stack,
    "aclnnSplitWithSize": _split,
    "aclnnSplitTensor": _split_tensor,
}


# -------------------- repeating --------------------


def _times(repeats: Any, size: int) -> np.ndarray:
    """One number for all, or one for each element, given by a tensor or a number."""
    if not isinstance(repeats, np.ndarray):
        require(repeats >= 0, f"{repeats} repeats")
        return np.full(size, repeats)
    require(repeats.dtype in (INT32, INT64) and repeats.ndim < 2, "repeats are a vector of integers")
    require(repeats.size in (1, size), f"{repeats.size} numbers of repeats for {size} elements")
    return np.broadcast_to(wide(repeats).reshape(-1), (size,))


def _repeat_interleave(self: Any, repeats: Any, size: int, out: Any) -> None:
    _repeat_interleave_dim(self.reshape(-1), repeats, 0, size, out)


def _repeat_interleave_dim(self: Any, repeats: Any, dim: int, size: int, out: Any) -> None:
    # outputSize: that of the dimension afterwards, the sum of the repeats. From it and not from the values, which the
    # first phase does not know, the shape follows.
    at = axis(dim, self.ndim)
    times = _times(repeats, self.shape[at])
    require(
        out is not None and out.shape == self.shape[:at] + (size,) + self.shape[at + 1 :], "outputSize and out differ"
    )
    if times.sum() == size:
        store(out, np.repeat(self, times, at), dtype=self.dtype)
    elif times.any():
        raise ValueError(f"outputSize {size}, and {times.sum()} repeats")


def _gather_v2(self: Any, dim: int, index: Any, out: Any) -> None:
    # The dimension becomes those of the index: self.shape[:dim] + index.shape + self.shape[dim + 1:]
    at = axis(dim, self.ndim)
    store(out, np.take(self, positions(index, self.shape[at]), at), dtype=self.dtype)


EVALUATORS |= {
    "aclnnRepeatInterleave": _repeat_interleave,
    "aclnnRepeatInterleaveWithDim": _repeat_interleave_dim,
    "aclnnRepeatInterleaveInt": _repeat_interleave,
    "aclnnRepeatInterleaveIntWithDim": _repeat_interleave_dim,
    "aclnnGatherV2": _gather_v2,
}
