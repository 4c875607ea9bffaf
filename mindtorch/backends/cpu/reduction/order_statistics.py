"""Kernels of the elements at a rank, the most frequent elements, and both extremes. nan is larger than everything."""

from typing import Any

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.promotion import BOOL, COMPLEX, INT64, real_number
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import is_all, is_any, moveaxis, take_along_last
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.common.reducing import as_computed, nonempty_dims, one_dim, scalar_name, store
from mindtorch.backends.cpu.common.unsupported_dtypes import UnsupportedDtypes, not_implemented
from mindtorch.iterator import check_apart, check_distinct, reduced_dims

Array = np.ndarray
Pair = tuple[Array, Array]


def _refuse(input: Array, unsupported: UnsupportedDtypes) -> None:
    if input.dtype in unsupported:
        raise unsupported[input.dtype](input.dtype)


def _store_pair(values: Array, indices: Array, input: Array, out: Pair | None) -> Pair:
    values_out, indices_out = out or (None, None)
    return store(values, input.dtype, values_out), store(indices, INT64, indices_out)


def _picked(rows: Array, indices: Array, input: Array, axis: int, keepdim: bool) -> Pair:
    """Elements of rows along the last dimension and where they are, in the shape of the result."""
    values = take_along_last(rows, indices[..., None])[..., 0]
    if keepdim and input.ndim:
        values, indices = np.expand_dims(values, axis), np.expand_dims(indices, axis)
    elif input.ndim < 2:  # copied, not to keep what the row was sorted in
        return values.reshape(()).copy(), indices.reshape(()).copy()
    return values, indices.reshape(values.shape)


# -------------------- medians --------------------

_NO_MEDIAN = not_implemented("median_cpu", BOOL, *COMPLEX)
_NO_MEDIAN_DIM = not_implemented("median_out", BOOL, *COMPLEX)


def median(input: Array) -> Array:
    return _median_of_all(input, skips_nan=False)


def nanmedian(input: Array) -> Array:
    return _median_of_all(input, skips_nan=True)


def _median_of_all(input: Array, skips_nan: bool) -> Array:
    if not input.size:
        return quiet(np.full((), np.nan).astype, input.dtype)
    _refuse(input, _NO_MEDIAN)
    row = as_computed(input, input.dtype).reshape(1, -1)
    return store(row[0, quiet(_median_places, row, skips_nan)].reshape(()), input.dtype, None)


def median_dim(input: Array, dim: int, keepdim: bool = False, out: Pair | None = None) -> Pair:
    return _median_along(input, dim, keepdim, out, skips_nan=False)


def nanmedian_dim(input: Array, dim: int, keepdim: bool = False, out: Pair | None = None) -> Pair:
    return _median_along(input, dim, keepdim, out, skips_nan=True)


def _median_along(input: Array, dim: int, keepdim: bool, out: Pair | None, skips_nan: bool) -> Pair:
    values, axis = one_dim(input, dim)
    nonempty_dims("median", input, dim)
    _check_median_out(input, out)
    _refuse(input, _NO_MEDIAN_DIM)
    rows = moveaxis(as_computed(values, input.dtype), axis, -1)
    indices = quiet(_median_places, rows, skips_nan)
    return _store_pair(*_picked(rows, indices, input, axis, keepdim), input, out)


def _check_median_out(input: Array, out: Pair | None) -> None:
    if out is None:
        return
    values, indices = out
    if indices.dtype != INT64:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have scalar type Long; but got "
            f"torch.{scalar_name(indices.dtype)}Tensor instead (while checking arguments for median)"
        )
    if values.dtype != input.dtype:
        raise RuntimeError(
            "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
            f"torch.{scalar_name(values.dtype)}Tensor does not equal torch.{scalar_name(input.dtype)}Tensor (while "
            "checking arguments for median)"
        )


def _median_places(rows: Array, skips_nan: bool) -> Array:
    """Where the lower one of the two in the middle is; the first nan counts for all, unless they are skipped."""
    missing = rows != rows
    if not is_any(missing):
        return _places_of_rank(rows, (rows.shape[-1] - 1) // 2)
    order = rows.argsort(-1, kind="stable")
    counted = rows.shape[-1] - (missing.sum(-1) if skips_nan else np.zeros(rows.shape[:-1], np.int64))
    middle = np.maximum(counted - 1, 0) // 2
    places = take_along_last(order, middle[..., None])[..., 0]
    return places if skips_nan else np.where(missing.any(-1), missing.argmax(-1), places)


def _places_of_rank(rows: Array, rank: int) -> Array:
    """Where the elements are that come at a rank in the stable order of their rows. Only equal ones take sorting."""
    if rows.shape[-1] >= _LONG:
        is_found = rows == np.partition(rows, rank, -1)[..., rank, None]
        if is_all(np.count_nonzero(is_found, -1) == 1):
            return is_found.argmax(-1)
    return rows.argsort(-1, kind="stable")[..., rank]


_LONG = 64

# -------------------- other ranks --------------------

_NO_KTHVALUE = not_implemented("kthvalue_cpu", BOOL, *COMPLEX)
_NO_MODE = not_implemented("mode_cpu", *COMPLEX)


def kthvalue(input: Array, k: int, dim: int = -1, keepdim: bool = False, out: Pair | None = None) -> Pair:
    values, axis = one_dim(input, dim)
    nonempty_dims("kthvalue", input, dim)
    if not 1 <= k <= values.shape[axis]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    _check_kthvalue_out(input, out)
    if input.size and input.ndim:
        _refuse(input, _NO_KTHVALUE)
    rows = moveaxis(as_computed(values, input.dtype), axis, -1)
    indices = _places_of_rank(rows, k - 1)
    return _store_pair(*_picked(rows, indices, input, axis, keepdim), input, out)


def _check_kthvalue_out(input: Array, out: Pair | None) -> None:
    if out is None:
        return
    check_apart(out[0], [input])
    if out[0].dtype != input.dtype:
        raise RuntimeError("output values must be of same type as input")
    if out[1].dtype != INT64:
        raise RuntimeError("output indices must be of scalar type Long")


def mode(input: Array, dim: int = -1, keepdim: bool = False, out: Pair | None = None) -> Pair:
    """The smallest of the most frequent elements, and its last place."""
    values, axis = one_dim(input, dim)
    nonempty_dims("mode", input, dim)
    for name, each, dtype in zip(("values", "indices"), out or (), (input.dtype, INT64)):
        if each.dtype != dtype:
            expected, given = scalar_name(dtype), scalar_name(each.dtype)
            raise RuntimeError(f"expected scalar type '{expected}' but got '{given}' for {name} output")
    if input.size and input.ndim:
        _refuse(input, _NO_MODE)
    rows = moveaxis(as_computed(values, input.dtype), axis, -1)
    return _store_pair(*_picked(rows, _mode_places(rows), input, axis, keepdim), input, out)


def _mode_places(rows: Array) -> Array:
    """In sorted rows equal elements are neighbours: the place where the longest run of them ends."""
    if not rows.size:
        return np.empty(rows.shape[:-1], np.int64)
    order = rows.argsort(-1, kind="stable")
    if rows.shape[-1] <= _INSERTED and rows.dtype.kind == "f" and is_any(missing := np.isnan(rows)):
        for row in map(tuple, np.argwhere(missing.any(-1))):
            order[row] = _order_by_insertion(rows[row].tolist())
    in_order = take_along_last(rows, order)
    begins = np.ones(rows.shape, bool)
    begins[..., 1:] = in_order[..., 1:] != in_order[..., :-1]
    numbers = np.arange(rows.shape[-1])
    lengths = numbers - np.maximum.accumulate(np.where(begins, numbers, 0), -1)
    return take_along_last(order, lengths.argmax(-1)[..., None])[..., 0]


_INSERTED = 16  # elements up to which the sort of the C++ library inserts one after the other


def _order_by_insertion(values: list[float]) -> list[int]:
    """The order in which that leaves a short row with nan, which is neither less nor greater: no number passes it,
    unless it is less than the first one."""
    order: list[int] = []
    for place, value in enumerate(values):
        end = place
        if order and value < values[order[0]]:
            end = 0
        while end and value < values[order[end - 1]]:
            end -= 1
        order.insert(end, place)
    return order


# -------------------- both extremes --------------------

_NO_AMINMAX = not_implemented("aminmax_cpu", *COMPLEX)


def aminmax(input: Array, dim: int | None = None, keepdim: bool = False, out: Pair | None = None) -> Pair:
    for each in out or ():
        if each.dtype != input.dtype:
            raise RuntimeError(f"Expected out tensor to have dtype {c_name(input)}, but got {c_name(each)} instead")
        check_distinct(each)
    if dim is None and not input.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if dim is not None:
        _check_aminmax_dim(input, dim)
    if input.size:
        _refuse(input, _NO_AMINMAX)
    aligned.check_walk(input)
    dims = reduced_dims(dim, input.ndim)
    computed = as_computed(input, input.dtype)
    results = [each.reduce(computed, dims, None, None, keepdim) for each in (np.minimum, np.maximum)]
    return _stored_extremes(results, input, out)


def _check_aminmax_dim(input: Array, dim: int) -> None:
    axis = one_dim(input, dim)[1]
    if input.ndim and not input.shape[axis]:
        raise IndexError(f"aminmax: Expected reduction dim {axis} to have non-zero size.")


def _stored_extremes(results: list[Array], input: Array, out: Pair | None) -> Pair:
    low, high = [store(result, input.dtype, each) for result, each in zip(results, out or (None, None))]
    return low, high


# -------------------- histograms --------------------


def histc(input: Array, bins: int = 100, min: Any = 0, max: Any = 0, out: Array | None = None) -> Array:
    """How many elements are in each of equally wide intervals. Elements outside of them, and nan, don't count."""
    _check_histc(input, bins, out)
    aligned.check_walk(input)
    low, high = quiet(_histogram_range, input, real_number(min), real_number(max))
    if input.dtype.kind not in "fV":
        _refuse(input, not_implemented("histogram_cpu", input.dtype))
    places = quiet(_bins_of, input.reshape(-1), input.dtype.type(low), input.dtype.type(high), bins)
    return store(cast(np.bincount(places, minlength=bins), input.dtype), input.dtype, out)


def _bins_of(values: Array, low: Any, high: Any, bins: int) -> Array:
    """In which interval each element is; computed in the dtype of the elements, as torch does.

    A range that is too wide for that is scaled down first.
    """
    inside, number = values[(values >= low) & (values <= high)], values.dtype.type(bins)
    if not np.isfinite((high - low) * number):
        inside, low, high = [each * values.dtype.type(2.0**-70) for each in (inside, low, high)]
    return np.minimum(((inside - low) * number / (high - low)).astype(np.int64), bins - 1)


def _check_histc(input: Array, bins: int, out: Array | None) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if out is not None and out.dtype != input.dtype:
        raise RuntimeError(
            "torch.histogram: input tensor and hist tensor should have the same dtype, but got input "
            f"{c_name(input)} and hist {c_name(out)}"
        )
    if input.dtype == BOOL:
        _refuse(input, not_implemented("linspace_cpu", BOOL))


def _histogram_range(input: Array, low: Any, high: Any) -> tuple[float, float]:
    """The range that is given; that of the elements if it is empty; a wider one if they are all equal."""
    if low == high and input.size:
        _refuse(input, _NO_AMINMAX)
        low, high = float(input.min()), float(input.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    bounds = (low - 1.0, high + 1.0) if low == high else (float(low), float(high))
    for bound in bounds:
        checked_number(bound, input.dtype)
    return bounds
