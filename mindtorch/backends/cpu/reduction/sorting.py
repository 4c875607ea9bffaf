"""Kernels of sort and topk. nan counts as larger than everything, and equal elements keep their order."""

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.promotion import BOOL, COMPLEX, INT64
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import moveaxis, take_along_last
from mindtorch.backends.cpu.common.arithmetic import RANGES
from mindtorch.backends.cpu.common.reducing import as_computed, check_out_dtype, one_dim, store
from mindtorch.backends.cpu.common.unsupported_dtypes import raising
from mindtorch.iterator import new_array
from mindtorch.iterator.constants import kept_constant

Array = np.ndarray
Pair = tuple[Array, Array]

_NO_SORT = raising(RuntimeError, " Sort does not support complex dtypes on CPU", *COMPLEX)
_NO_TOPK = raising(RuntimeError, " topk does not support complex dtypes on CPU", *COMPLEX) | raising(
    RuntimeError, "topk does not support bool dtypes on CPU", BOOL
)


def sort(input: Array, dim: int = -1, descending: bool = False, out: Pair | None = None) -> Pair:
    return sort_stable(input, True, dim, descending, out)


def sort_stable(
    input: Array, stable: bool | None, dim: int = -1, descending: bool = False, out: Pair | None = None
) -> Pair:
    """Always stable, which torch's is where it is asked for."""
    values, axis = one_dim(input, dim)
    if input.dtype in _NO_SORT:
        raise _NO_SORT[input.dtype](input.dtype)
    keys = as_computed(values, input.dtype)
    indices = order_descending(keys, axis) if descending else keys.argsort(axis, kind="stable")
    return _store_pair(_chosen(values, indices, axis), indices, input, out)


def order_descending(keys: Array, axis: int) -> Array:
    """The stable order, largest first: a stable sort of the keys read backwards, read backwards."""
    turned = (*[slice(None)] * axis, slice(None, None, -1))
    backwards = keys[turned].argsort(axis, kind="stable")
    return np.subtract(kept_constant(keys.shape[axis] - 1, INT64), backwards, backwards)[turned]


def _chosen(values: Array, indices: Array, axis: int) -> Array:
    is_last = axis == values.ndim - 1
    return take_along_last(values, indices) if is_last else np.take_along_axis(values, indices, axis)


def _store_pair(values: Array, indices: Array, input: Array, out: Pair | None) -> Pair:
    """Sorted tensors have the strides of their input."""
    shape = input.shape
    if out is not None:
        check_out_dtype(out[0], input.dtype)
        check_out_dtype(out[1], INT64)
        return (
            store(values.reshape(shape), input.dtype, out[0]),
            store(indices.reshape(shape), INT64, out[1]),
        )
    if input.flags.c_contiguous and 1 not in shape and input.size:
        return np.ascontiguousarray(values).reshape(shape), np.ascontiguousarray(indices).reshape(shape)
    strides = geometry.preserved_strides(shape, geometry.strides_of(input))
    results = new_array(shape, strides, input.dtype), new_array(shape, strides, INT64)
    for result, values_or_indices in zip(results, (values, indices), strict=True):
        np.copyto(result, values_or_indices.reshape(shape))
    return results


def topk(
    input: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, out: Pair | None = None
) -> Pair:
    values, axis = one_dim(input, dim)
    if not 0 <= k <= values.shape[axis]:
        raise RuntimeError("selected index k out of range")
    if not input.ndim:
        k = 1  # One number is its own best, however few are asked for.
    if input.dtype in _NO_TOPK:
        raise _NO_TOPK[input.dtype](input.dtype)
    values_out, indices_out = out or (None, None)
    if out is not None:
        check_out_dtype(values_out, input.dtype)
        check_out_dtype(indices_out, INT64)
    is_last = axis == values.ndim - 1
    rows = values if is_last else moveaxis(values, axis, -1)
    best = quiet(_best, as_computed(rows, input.dtype), k, largest)
    indices = best if is_last else moveaxis(best, -1, axis)
    chosen = _chosen(values, indices, axis)
    shape = chosen.shape if input.ndim else ()
    return store(chosen.reshape(shape), input.dtype, values_out), store(indices.reshape(shape), INT64, indices_out)


_FEW, _LONG = 16, 128  # so many searches of a row that long take less time than a partition of it


def _best(keys: Array, k: int, largest: bool) -> Array:
    """The indices of the k best of each row, best first. A partition first, as sorting all of a long row is slow."""
    length = keys.shape[-1]
    if 0 < k <= _FEW and length >= _LONG and (found := _best_one_by_one(keys, k, largest)) is not None:
        return found
    if k * 8 < length:
        part = np.argpartition(keys, length - k if largest else k - 1, axis=-1) if k else keys.argsort(axis=-1)
        candidates = np.sort(part[..., length - k :] if largest else part[..., :k], axis=-1)
        keys = take_along_last(keys, candidates)
        return take_along_last(candidates, _order(keys, largest))
    if largest and keys.ndim and keys.shape[-1]:
        backwards = keys[..., ::-1].argsort(axis=-1, kind="stable")[..., : length - k - 1 if k < length else None : -1]
        return np.subtract(kept_constant(length - 1, INT64), backwards, order="C")
    return _order(keys, largest)[..., :k]


def _best_one_by_one(keys: Array, k: int, largest: bool) -> Array | None:
    """The same by a search for each of the k. None if a row has too few that are better than what takes their place."""
    lowest, highest = RANGES[keys.dtype]
    search, worst = (np.argmax, lowest) if largest else (np.argmin, highest)
    rows = np.array(keys, order="C").reshape(-1, keys.shape[-1])
    numbers, found = np.arange(len(rows)), np.empty((len(rows), k), np.int64)
    for place in range(k):
        found[:, place] = best = search(rows, 1)
        chosen = rows[numbers, best]
        if np.count_nonzero(chosen > worst if largest else chosen < worst) < chosen.size:  # or NaN
            return None
        rows[numbers, best] = worst
    return found.reshape(*keys.shape[:-1], k)


def _order(keys: Array, largest: bool) -> Array:
    return order_descending(keys, keys.ndim - 1) if largest else keys.argsort(axis=-1, kind="stable")
