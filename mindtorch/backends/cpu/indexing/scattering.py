"""Kernels that read or write elements along one dimension by an index of the same rank, and `put` and index_reduce."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core import aligned, geometry
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import is_any, is_within, moveaxis
from mindtorch._support.warnings import warn_once
from mindtorch.backends.cpu.common.casting import check_same, deliver_same
from mindtorch.backends.cpu.common.checks import not_implemented, scalar_name
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.indexing.advanced import add_at, add_at_exactly
from mindtorch.backends.cpu.indexing.rows import add_rows, add_rows_exactly, row_index
from mindtorch.backends.cpu.indexing.targets import (
    INDEX_DTYPES,
    check_index_rows,
    check_range,
    contiguous_target,
    flat_places,
    target_of,
)

Array = np.ndarray
Key = tuple[Array, ...]
Write = Callable[[Array, Key, Array], None]

_FEW = 1 << 13  # elements of an index for which places in memory are found sooner than those along each dimension

# -------------------- gather and scatter --------------------


def gather(input, dim, index, sparse_grad=False, out=None):
    dim = geometry.wrap_dim(dim, input.ndim)
    if out is not None:
        check_same(input, out)
    _check_index_dtype(index, "gather")
    if out is not None:
        iterator.check_distinct(out)
        iterator.check_apart(out, [input, index])
    if not index.size:
        return deliver_same(np.empty(index.shape, input.dtype), out)
    _check_same_ndim(index, input, "input")
    source = input.reshape(1) if not input.ndim else input
    if index.shape != source.shape and _exceeds(index, source, skipped=dim):
        raise RuntimeError(
            f"Size does not match at dimension {_exceeds(index, source, skipped=dim)[0]} expected index "
            f"{list(index.shape)} to be no larger than self {list(input.shape)} apart from dimension {dim}"
        )
    aligned.check_fits(index.shape, input.dtype)
    rows = row_index(index, dim, source.shape)
    check_range(index if rows is None else rows, dim, source.shape[dim])
    if rows is not None:
        picked = source.take(rows, dim)
    elif source.flags.c_contiguous and (dim == index.ndim - 1 or index.size <= _FEW):
        picked = source.reshape(-1).take(flat_places(index, dim, index.shape, source.shape))
    else:
        picked = np.ascontiguousarray(source[_along(index, dim)])
    if picked.shape != index.shape:
        picked = picked.reshape(index.shape)
    return picked if out is None else deliver_same(picked, out)


def scatter(input, dim, index, src, out=None):
    return _scattered(input, dim, index, src, out, _assign)


def scatter_value(input, dim, index, value, out=None):
    return _scattered(input, dim, index, checked_number(value, input.dtype), out, _assign, is_number=True)


def scatter_add(input, dim, index, src, out=None):
    return _scattered(input, dim, index, src, out, add_at_exactly, write_rows=add_rows_exactly)


def _scattered(
    input: Array,
    dim: int,
    index: Array,
    values: Array,
    out: Array | None,
    write: Write,
    is_number: bool = False,
    write_rows: Callable[[Array, int, Array, Array], None] | None = None,
) -> Array:
    """`write_rows` writes whole rows along a dimension, where the index is the same for all their elements."""
    dim = geometry.wrap_dim(dim, input.ndim)
    _check_index_dtype(index, "scatter")
    if values.dtype != input.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    target = contiguous_target(input, out, index, values)
    if not index.size:
        return target
    _check_same_ndim(index, input, "self")
    places = target.reshape(1) if not target.ndim else target
    if not is_number:
        values = _matching_part(values, index, input, dim)
    elif _exceeds(index, places, skipped=dim):
        raise _scatter_size_error(index, input, dim, "")
    rows = None if write_rows is None else row_index(index, dim, places.shape)
    check_range(index if rows is None else rows, dim, places.shape[dim])
    if write_rows is not None and rows is not None:
        write_rows(places, dim, rows, values)
    elif places.flags.c_contiguous and (dim == index.ndim - 1 or write is not _assign):
        write(places.reshape(-1), (flat_places(index, dim, index.shape, places.shape),), values)
    else:
        write(places, _along(index, dim), values)
    return target


def _assign(target: Array, key: Key, values: Array) -> None:
    target[key] = values


def _matching_part(src: Array, index: Array, input: Array, dim: int) -> Array:
    """The part of `src` that the index has places for."""
    is_too_large = index.shape != input.shape and bool(_exceeds(index, input, skipped=dim))
    if src.shape == index.shape and src.ndim and not is_too_large:
        return src
    if src.ndim and not is_too_large:
        for each in range(index.ndim):
            geometry.wrap_dim(each, src.ndim)
    _check_same_ndim(index, src, "src")
    values = src if src.ndim else src.reshape(1)
    if is_too_large or _exceeds(index, values, skipped=None):
        raise _scatter_size_error(index, input, dim, f" and to be no larger size than src {list(src.shape)}")
    return values[tuple([slice(extent) for extent in index.shape or (1,)])]


def _scatter_size_error(index: Array, target: Array, dim: int, more: str) -> RuntimeError:
    return RuntimeError(
        f"Expected index {list(index.shape)} to be no larger than self {list(target.shape)} apart from dimension {dim}"
        f"{more}"
    )


def _check_index_dtype(index: Array, op: str) -> None:
    if index.size and index.dtype not in INDEX_DTYPES:
        raise RuntimeError(f"{op}(): Expected dtype int32/int64 for index")


def _check_same_ndim(index: Array, input: Array, name: str) -> None:
    if index.ndim != input.ndim and max(index.ndim, 1) != max(input.ndim, 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")


def _exceeds(index: Array, array: Array, skipped: int | None) -> list[int]:
    """The dimensions in which the index is larger than the array."""
    sizes = zip(index.shape or (1,), array.shape, strict=False)
    return [dim for dim, (extent, limit) in enumerate(sizes) if dim != skipped and extent > limit]


def _along(index: Array, dim: int) -> tuple[Array, ...]:
    """The subscript that uses the index for one dimension and counts through the others."""
    if not index.ndim:
        return (index.reshape(1),)
    last = index.ndim - 1
    return tuple(
        [
            index if each == dim else np.arange(extent).reshape((extent,) + (1,) * (last - each))
            for each, extent in enumerate(index.shape)
        ]
    )


# -------------------- scatter that reduces --------------------

_UFUNCS = {
    "sum": np.add, "add": np.add, "mean": np.add, "prod": np.multiply, "multiply": np.multiply,
    "amax": np.maximum, "amin": np.minimum,
}  # fmt: skip


_EXTREMES = {"amax": "maximum_cpu", "amin": "minimum_cpu"}


def scatter_named(input, dim, index, src, reduce, out=None):
    _warn_of_reduce()
    return _scattered(input, dim, index, src, out, _named(reduce))


def scatter_value_named(input, dim, index, value, reduce, out=None):
    return _scattered(input, dim, index, checked_number(value, input.dtype), out, _named(reduce), is_number=True)


def _named(reduce: str) -> Write:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return _reducing(reduce, include_self=True)


def _warn_of_reduce() -> None:
    warn_once(
        "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
        "release. Use torch.scatter_reduce instead for more reduction options.",
        kind="scatter reduce",
    )


def scatter_reduce(input, dim, index, src, reduce, include_self=True, out=None):
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    check_same(input, out)
    if index.size and ((reduce in _EXTREMES and input.dtype.kind == "c") or (reduce == "mean" and input.dtype == bool)):
        raise not_implemented(f"scatter_gather_tensor_cpu_reduce_{reduce}", input)
    write, write_rows = _reducing(reduce, include_self), partial(_reduce_rows, reduce, include_self)
    return _scattered(input, dim, index, src, out, write, write_rows=write_rows)


def index_reduce(input, dim, index, source, reduce, include_self=True, out=None):
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    warn_once("index_reduce() is in beta and the API may change at any time.")
    dim = geometry.wrap_dim(dim, input.ndim)
    check_index_rows("index_reduce_", input, dim, index, source)
    target = contiguous_target(input, out, index, source)
    places = target.reshape(1) if not target.ndim else target
    aligned.check_walk(index)
    if not is_within(index, 0, places.shape[dim]):
        raise IndexError("index out of range in self")
    _check_index_reduce_dtype(input, reduce, include_self)
    _reduce_rows(reduce, include_self, places, dim, index.reshape(-1), source if source.ndim else source.reshape(1))
    return target


def _reduce_rows(reduce: str, include_self: bool, target: Array, dim: int, index: Array, source: Array) -> None:
    _reducing(reduce, include_self, _combine_rows)(moveaxis(target, dim, 0), index, moveaxis(source, dim, 0))


def _combine_rows(function: np.ufunc, target: Array, rows: Array, values: Array) -> None:
    """As `function.at`, by whole rows: all that come first for their row, then all that come second, and so on."""
    if function is np.add:
        add_rows(target, 0, rows, values)
        return
    if target.ndim == 1 or values.size < _ELEMENTS_OF_A_TURN:
        function.at(target, rows, values)
        return
    order = rows.argsort(kind="stable")
    begins = np.flatnonzero(np.diff(rows[order], prepend=-1))
    turns = np.arange(rows.size) - begins.repeat(np.diff(begins, append=rows.size))
    sizes = np.bincount(turns)
    if sizes.size * _ELEMENTS_OF_A_TURN > values.size:
        function.at(target, rows, values)
        return
    for part in np.split(order[turns.argsort(kind="stable")], sizes.cumsum()[:-1]):
        target[rows[part]] = function(target[rows[part]], values[part])


_ELEMENTS_OF_A_TURN = 1000  # so many take `ufunc.at` as long as a turn that is almost empty


def _check_index_reduce_dtype(input: Array, reduce: str, include_self: bool) -> None:
    if not include_self and input.dtype.kind in "bc":
        raise not_implemented("index_reduce_func_exclude_input_init", input)
    if reduce in _EXTREMES and input.dtype.kind == "c":
        raise not_implemented(_EXTREMES[reduce], input)
    if reduce == "mean" and input.dtype.kind == "b":
        raise not_implemented("div_floor_cpu", input)


def _combine(function: np.ufunc, target: Array, key: Key, values: Array) -> None:
    if len(key) == 1 and values.shape == key[0].shape:  # NumPy is quicker with a row of each
        function.at(target, key[0].reshape(-1), values.reshape(-1))
    else:
        function.at(target, key, values)


def _reducing(reduce: str, include_self: bool, combine: Callable[..., None] = _combine) -> Write:
    """Combines the values with what is in their places, or, without that, with each other."""

    def write(target: Array, key: Key, values: Array) -> None:
        wide = widen(target)
        if not include_self:
            wide = wide.copy() if wide is target else wide
            wide[key] = _neutral(reduce, wide.dtype)
        quiet(combine, _UFUNCS[reduce], wide, key, widen(values))
        if reduce == "mean":
            wide = _divided(wide, key, int(include_self))
        if wide is not target:
            target[...] = wide

    return write


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind == "f":
        return -np.inf if reduce == "amax" else np.inf
    return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max


def _divided(totals: Array, key: Key, start: int) -> Array:
    by_row = not isinstance(key, tuple)
    counts = np.full((len(totals),) + (1,) * (totals.ndim - 1) if by_row else totals.shape, start)
    np.add.at(counts, key, 1)
    np.maximum(counts, 1, out=counts)
    if totals.dtype.kind in "iu":
        return totals // counts.astype(totals.dtype)
    return quiet(np.divide, totals, counts.astype(totals.real.dtype))


# -------------------- put --------------------


def put(input, index, source, accumulate=False, out=None):
    """Writes to elements by their number in row-major order."""
    _check_put(input, index, source)
    if out is not None:
        iterator.check_distinct(out)
        iterator.check_apart(out, [index, source])
    target = target_of(input, out)
    flat = target.reshape(-1)
    numbers = index.reshape(-1)
    outside = (numbers < -input.size) | (numbers >= input.size)
    if is_any(outside):
        bad = numbers[outside][0]
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {input.size} elements.")
    numbers = np.where(numbers < 0, numbers + input.size, numbers)
    (add_at if accumulate else _assign)(flat, (numbers,), source.reshape(-1))
    if not np.shares_memory(flat, target):
        np.copyto(target, flat.reshape(target.shape))
    return target


def _check_put(input: Array, index: Array, source: Array) -> None:
    if index.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {scalar_name(index)}")
    if input.dtype != source.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_name(input)} and source.dtype = {scalar_name(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.size}, index.numel() = {index.size}"
        )
    if index.size and not input.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
