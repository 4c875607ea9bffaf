"""Gathering, scattering, joining, splitting, padding and moving elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    BOOL,
    INT32,
    INT64,
    Evaluator,
    axis,
    broadcast,
    castable,
    expect,
    is_floating,
    refuse,
    require,
    same_dtype,
    store,
    wide,
)

EVALUATORS: dict[str, Evaluator] = {}


def positions(index: Any, size: int, negative: bool = False) -> np.ndarray:
    """Positions along a dimension; negative ones count from the end where the op's document takes them.

    Beyond it a device may read and write anything ("unpredictable behaviour", "random values"): here it fails.
    """
    if index is None:
        refuse("an index is null", 161001)
    require(index.dtype in (INT32, INT64, np.dtype("uint8")), f"an index of {index.dtype}")
    found = index.astype(np.int64)
    if found.size and (found.min() < (-size if negative else 0) or found.max() >= max(size, 1)):
        raise IndexError(f"positions {found.min()} to {found.max()} of {size}")
    return np.where(found < 0, found + size, found)


# -------------------- copies --------------------


def _cast(self: Any, dtype: Any, out: Any) -> None:
    expect(out, self.shape, dtype=dtype)
    store(out, wide(self).real if out.dtype.kind != "c" else wide(self))


def _copy(self: Any, source: Any) -> None:
    # The source is broadcast and cast; both may be strided.
    if self is None or source is None:
        refuse("a tensor is null", 161001)
    require(broadcast(source.shape, self.shape) == self.shape, f"{source.shape} does not fit {self.shape}")
    values = wide(source).real if self.dtype.kind != "c" else wide(source)
    store(self, np.broadcast_to(values if source.dtype != self.dtype else source, self.shape))


def _expand(self: Any, size: Sequence[int], out: Any) -> None:
    require(size is not None and len(size) >= self.ndim, "fewer sizes than dimensions")
    own = (1,) * (len(size) - self.ndim) + self.shape
    shape = tuple(mine if given == -1 else given for given, mine in zip(size, own))
    require(all(mine in (1, given) for given, mine in zip(shape, own)), f"{self.shape} can't be {shape}")
    store(out, np.broadcast_to(self, shape), dtype=self.dtype)


def _permute(self: Any, dims: Sequence[int], out: Any) -> None:
    at = [axis(dim, self.ndim) for dim in dims]
    require(sorted(at) == list(range(self.ndim)), f"{dims} is no permutation")
    store(out, np.transpose(self, at), dtype=self.dtype)


def _flip(self: Any, dims: Sequence[int], out: Any) -> None:
    store(out, np.flip(self, tuple(axis(dim, self.ndim) for dim in dims)) if self.ndim else self, dtype=self.dtype)


def _roll(x: Any, shifts: Sequence[int], dims: Sequence[int], out: Any) -> None:
    # No dims: of the flattened tensor, by one shift.
    require(len(shifts) == len(dims) or (not dims and len(shifts) == 1), "as many shifts as dimensions")
    rolled = np.roll(x, tuple(shifts), tuple(dims)) if dims else np.roll(x, shifts[0])
    store(out, rolled, dtype=x.dtype)


def _repeat(self: Any, repeats: Sequence[int], out: Any) -> None:
    require(len(repeats) >= self.ndim, "fewer repeats than dimensions")
    store(out, np.tile(self, tuple(repeats)), dtype=self.dtype)


def _slice(self: Any, dim: int, start: int, end: int, step: int, out: Any) -> None:
    require(step > 0, f"step {step}")
    index = [slice(None)] * self.ndim
    index[axis(dim, self.ndim)] = slice(start, end, step)
    store(out, self[tuple(index)], dtype=self.dtype)


def _slice_v2(self: Any, starts: Any, ends: Any, dims: Any, steps: Any, out: Any) -> None:
    index = [slice(None)] * self.ndim
    for dim, start, end, step in zip(dims, starts, ends, steps):
        index[axis(dim, self.ndim)] = slice(start, end, step)
    store(out, self[tuple(index)], dtype=self.dtype)


EVALUATORS |= {
    "aclnnCast": _cast,
    "aclnnInplaceCopy": _copy,
    "aclnnExpand": _expand,
    "aclnnPermute": _permute,
    "aclnnFlip": _flip,
    "aclnnRoll": _roll,
    "aclnnRepeat": _repeat,
    "aclnnSlice": _slice,
    "aclnnSliceV2": _slice_v2,
}

# -------------------- reading by index --------------------


def _selectors(indices: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """The indices of a list: an empty tensor of shape (0,) stands for a whole dimension."""
    require(indices is not None and len(indices) <= len(shape), "more indices than dimensions")
    require(all(index.dtype != BOOL for index in indices), "a mask: only positions are taken")
    return tuple(slice(None) if i.shape == (0,) else positions(i, size, True) for i, size in zip(indices, shape))


def _index(self: Any, indices: Any, out: Any) -> None:
    store(out, self[_selectors(indices, self.shape)], dtype=self.dtype)


def _index_select(self: Any, dim: int, index: Any, out: Any) -> None:
    require(index is not None and index.ndim <= 1, "the index is no vector")
    require(self.ndim or index.size == 1, "a tensor without dimensions has one place")
    x, at = self.reshape(self.shape or (1,)), axis(dim, self.ndim)
    found = np.take(x, positions(index, x.shape[at]).reshape(-1), at)
    store(out, found if self.ndim else found.reshape(()), dtype=self.dtype)


def _along(self: Any, dim: int, index: Any, negative: bool = False) -> tuple[np.ndarray, int, tuple[np.ndarray, ...]]:
    """For gather and scatter: where each element of the index points, in all dimensions."""
    x = self.reshape(self.shape or (1,))
    found = index.reshape(index.shape or (1,))
    at = axis(dim, x.ndim)
    require(found.ndim == x.ndim, f"an index of {index.ndim} dimensions for {self.ndim}")
    require(
        all(i <= s for d, (i, s) in enumerate(zip(found.shape, x.shape)) if d != at), "the index is larger than self"
    )
    where = list(np.indices(found.shape))
    where[at] = positions(found, x.shape[at], negative)
    return x, at, tuple(where)


def _gather(self: Any, dim: int, index: Any, out: Any) -> None:
    # "index: [-self.shape[dim], self.shape[dim] - 1]"
    x, _, where = _along(self, dim, index, True)
    store(out, x[where].reshape(index.shape), dtype=self.dtype)


def _take(self: Any, index: Any, out: Any) -> None:
    store(out, self.reshape(-1)[positions(index, self.size, True)], dtype=self.dtype)


def _embedding(weight: Any, indices: Any, out: Any) -> None:
    require(weight.ndim == 2, "the weight is no matrix")
    # "negative indices are an error, those beyond the end give random values"
    store(out, weight[positions(indices, len(weight))], dtype=weight.dtype)


EVALUATORS |= {
    "aclnnIndex": _index,
    "aclnnIndexSelect": _index_select,
    "aclnnGather": _gather,
    "aclnnTake": _take,
    "aclnnEmbedding": _embedding,
}

# -------------------- writing by index --------------------

_KINDS: dict[int, Callable[[np.ndarray, Any, np.ndarray], None] | None] = {
    # "reduce: 0 replaces, 1 adds, 2 multiplies, 3 maximum, 4 minimum, 5 mean"
    0: None,
    1: np.add.at,
    2: np.multiply.at,
    3: np.maximum.at,
    4: np.minimum.at,
}


def put(x: np.ndarray, where: Any, values: Any, kind: int) -> None:
    """Writes to positions, one after the other."""
    function = _KINDS[kind]
    if function is None:
        x[where] = values
    else:
        function(x, where, values)


def _truth(value: Any, dtype: np.dtype) -> Any:
    """A number among bools: whatever is not 0 is true."""
    return value != 0 if dtype == BOOL else value


def _scatter(self: Any, dim: int, index: Any, source: Any, reduce: int, out: Any) -> None:
    require(reduce in (0, 1, 2), f"reduce {reduce}")
    dtype = same_dtype(self, source) if isinstance(source, np.ndarray) else self.dtype
    x, _, where = _along(wide(self), dim, index)
    x = x.copy()
    if isinstance(source, np.ndarray):
        _put_source(x, where, source, index, reduce)
    else:
        put(x, where, _truth(source, self.dtype), reduce)
    store(out, x.reshape(self.shape), dtype=dtype)


def _put_source(x: np.ndarray, where: Any, source: Any, index: Any, kind: int) -> None:
    values, shape = wide(source).reshape(source.shape or (1,)), index.shape or (1,)
    require(
        values.ndim == len(shape) and all(i <= s for i, s in zip(shape, values.shape)), "the index is larger than src"
    )
    put(x, where, values[tuple(map(slice, shape))], kind)


def _scatter_add(self: Any, dim: int, index: Any, source: Any, out: Any) -> None:
    _scatter(self, dim, index, source, 1, out)


_NEUTRAL = {1: 0, 2: 1, 3: -np.inf, 4: np.inf, 5: 0}


def _scatter_reduce(self: Any, dim: int, index: Any, source: Any, reduce: int, include: bool, out: Any) -> None:
    # includeSelf false: what was in the places that are written takes no part
    require(reduce in range(6), f"reduce {reduce}")
    x, _, where = _along(wide(self), dim, index)
    x = x.copy()
    count = np.full(x.shape, int(include))
    np.add.at(count, where, 1)
    if reduce == 0 or not include:
        first = wide(source)[tuple(map(slice, index.shape))].reshape(where[0].shape)
        neutral = _NEUTRAL.get(reduce)
        x[where] = first if neutral is None or not np.isfinite(neutral) else neutral
    if reduce:
        _put_source(x, where, source, index, 1 if reduce == 5 else reduce)
    if reduce == 5:
        x = x / np.maximum(count, 1) if x.dtype.kind in "fc" else x // np.maximum(count, 1)
    store(out, x.reshape(self.shape), dtype=same_dtype(self, source))


def _index_put(self: Any, indices: Any, values: Any, accumulate: bool, unsafe: bool) -> None:
    # selfRef[indices] = values, or += ; values are broadcast
    dtype = same_dtype(self, values)
    where = _selectors(indices, self.shape)
    x = wide(self)
    target = x[where].shape
    require(broadcast(values.shape, target) == target, f"values {values.shape} for {target}")
    put(x, where, wide(values), int(accumulate))
    store(self, x if dtype != BOOL else x != 0)


def _put(self: Any, index: Any, source: Any, accumulate: bool) -> None:
    # Positions in the flattened tensor.
    same_dtype(self, source)
    require(index.size == source.size, f"{index.size} positions for {source.size} values")
    x = wide(self).reshape(-1)
    put(x, positions(index, self.size, True).reshape(-1), wide(source).reshape(-1), int(accumulate))
    store(self, x.reshape(self.shape))


def _index_add(self: Any, dim: int, index: Any, source: Any, alpha: Any, out: Any) -> None:
    dtype = same_dtype(self, source)
    x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
    found = positions(index, x.shape[at]).reshape(-1)
    values = wide(source).reshape(source.shape or (1,))
    require(values.shape == x.shape[:at] + (found.size,) + x.shape[at + 1 :], f"a source of {source.shape}")
    np.add.at(x, (slice(None),) * at + (found,), values * alpha)
    store(out, x.reshape(self.shape), dtype=dtype)


def _index_add_v2(self: Any, dim: int, index: Any, source: Any, alpha: Any, mode: int, out: Any) -> None:
    _index_add(self, dim, index, source, alpha, out)


def _index_copy(self: Any, dim: int, index: Any, source: Any, out: Any) -> None:
    dtype = same_dtype(self, source)
    x, at = self.reshape(self.shape or (1,)).copy(), axis(dim, self.ndim)
    x[(slice(None),) * at + (positions(index, x.shape[at]).reshape(-1),)] = source.reshape(source.shape or (1,))
    store(out, x.reshape(self.shape), dtype=dtype)


def _inplace_index_copy(self: Any, dim: int, index: Any, source: Any) -> None:
    _index_copy(self, dim, index, source, self)


def _index_fill(self: Any, dim: int, index: Any, value: Any, out: Any) -> None:
    x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
    x[(slice(None),) * at + (positions(index, x.shape[at], True).reshape(-1),)] = value
    store(out, x.reshape(self.shape), dtype=self.dtype)


def _masked_fill(self: Any, mask: Any, value: Any) -> None:
    # The mask is broadcast to selfRef; the value is a number or a 0-dim tensor.
    require(mask is not None and mask.dtype == BOOL, "the mask is not bool")
    require(broadcast(mask.shape, self.shape) == self.shape, f"a mask of {mask.shape} for {self.shape}")
    if isinstance(value, np.ndarray):
        require(value.size == 1, "the value is no single one")
        require(castable(value.dtype, self.dtype), f"{value.dtype} can't be cast to {self.dtype}")
        value = wide(value).reshape(())
    store(self, np.where(mask, _truth(value, self.dtype), wide(self)))


def _masked_scatter(self: Any, mask: Any, source: Any) -> None:
    chosen = np.broadcast_to(mask != 0, self.shape)
    x = self.copy()
    x[chosen] = source.reshape(-1)[: int(chosen.sum())]
    store(self, x, dtype=same_dtype(self, source))


def _embedding_backward(grad: Any, indices: Any, number: int, padding: int, scale: bool, out: Any) -> None:
    # paddingIdx: that row gets no gradient; -1, which is 2**64 - 1 in this unsigned argument, is none
    require(is_floating(grad.dtype), "a floating gradient is needed")
    rows = positions(indices, number).reshape(-1)
    g = wide(grad).reshape(rows.size, -1)
    if scale:
        g = g / np.bincount(rows, minlength=number)[rows][:, None]
    result = np.zeros((number, g.shape[1] if rows.size else grad.shape[-1]))
    np.add.at(result, rows, g)
    if padding < number:
        result[padding] = 0
    store(out, result, dtype=grad.dtype)


EVALUATORS |= {
    "aclnnScatter": _scatter,
    "aclnnScatterValue": _scatter,
    "aclnnScatterAdd": _scatter_add,
    "aclnnScatterReduce": _scatter_reduce,
    "aclnnIndexPutImpl": _index_put,
    "aclnnInplacePut": _put,
    "aclnnIndexAdd": _index_add,
    "aclnnIndexAddV2": _index_add_v2,
    "aclnnIndexCopy": _index_copy,
    "aclnnInplaceIndexCopy": _inplace_index_copy,
    "aclnnIndexFill": _index_fill,
    "aclnnInplaceMaskedFillScalar": _masked_fill,
    "aclnnInplaceMaskedFillTensor": _masked_fill,
    "aclnnInplaceMaskedScatter": _masked_scatter,
    "aclnnEmbeddingDenseBackward": _embedding_backward,
}

# -------------------- parts of matrices, pads --------------------


def _triangle(function: Callable[..., np.ndarray]) -> Evaluator:
    def evaluate(self: Any, diagonal: int, out: Any) -> None:
        require(self.ndim >= 2, "a matrix is needed")
        store(out, function(wide(self), diagonal), dtype=self.dtype)

    return evaluate


def _diag(self: Any, diagonal: int, out: Any) -> None:
    require(self.ndim in (1, 2), "a vector or a matrix is needed")
    store(out, np.diag(self, diagonal), dtype=self.dtype)


def _widths(padding: Sequence[int], rank: int) -> list[tuple[int, int]]:
    """Pairs for the last dimension, the one before, and so on."""
    require(len(padding) % 2 == 0 and len(padding) <= 2 * rank, f"{len(padding)} pads for {rank} dimensions")
    widths = list(zip(padding[::2], padding[1::2]))[::-1]
    return [(0, 0)] * (rank - len(widths)) + widths


def _constant_pad(self: Any, pad: Sequence[int], value: Any, out: Any) -> None:
    # A negative pad cuts.
    widths = _widths(pad, self.ndim)
    kept = tuple(slice(max(-a, 0), size - max(-b, 0)) for (a, b), size in zip(widths, self.shape))
    grown = [(max(a, 0), max(b, 0)) for a, b in widths]
    store(out, np.pad(wide(self)[kept], grown, constant_values=_truth(value, self.dtype)), dtype=self.dtype)


def _pad(mode: Any) -> Evaluator:
    def evaluate(self: Any, padding: Sequence[int], out: Any) -> None:
        store(out, np.pad(self, _widths(padding, self.ndim), mode), dtype=self.dtype)

    return evaluate


def _pad_backward(mode: Any) -> Evaluator:
    """Each element of the gradient goes where the padded element came from."""

    def evaluate(grad: Any, self: Any, padding: Sequence[int], out: Any) -> None:
        origin = np.pad(np.arange(self.size).reshape(self.shape), _widths(padding, self.ndim), mode)
        expect(grad, origin.shape)
        result = np.bincount(origin.reshape(-1), wide(grad).reshape(-1), self.size)
        store(out, result.reshape(self.shape), dtype=same_dtype(grad, self))

    return evaluate


EVALUATORS |= {
    "aclnnTril": _triangle(np.tril),
    "aclnnTriu": _triangle(np.triu),
    "aclnnDiag": _diag,
    "aclnnConstantPadNd": _constant_pad,
}
for _name, _mode, _dims in (("Reflection", "reflect", 3), ("Replication", "edge", 3), ("Circular", "wrap", 3)):
    for _rank in range(1, _dims + 1):
        if f"{_name}{_rank}" != "Circular1":
            EVALUATORS[f"aclnn{_name}Pad{_rank}d"] = _pad(_mode)
            EVALUATORS[f"aclnn{_name}Pad{_rank}dBackward"] = _pad_backward(_mode)
