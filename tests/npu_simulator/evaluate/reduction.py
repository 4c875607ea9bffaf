"""Sums, extrema, norms, cumulative functions, sorting and counting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    BOOL,
    INT32,
    INT64,
    Evaluator,
    axes,
    axis,
    expect,
    is_floating,
    is_inexact,
    real,
    refuse,
    require,
    same_dtype,
    store,
    wide,
)

EVALUATORS: dict[str, Evaluator] = {}
Function = Callable[..., np.ndarray]


def every(dims: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """The dimensions to reduce. Some ops take none for all, others do not; naming them is right with each."""
    found = axes(dims, rank)
    require(found or not rank, "no dimensions: a reduction of all has to name them all")
    return found


def store_one(out: Any, value: Any, **checks: Any) -> None:
    """A single value. "The output has shape (1)" in the documents; 0-dim ones are taken as well."""
    if out is None:
        refuse("an output is null", 161001)
    require(out.shape in ((), (1,)), f"the output has shape {out.shape} for a single value")
    store(out, np.reshape(value, out.shape), **checks)


def computed_in(self: Any, dtype: Any, out: Any) -> np.ndarray:
    """`dtype`: "what self is converted to before; has to be that of out"."""
    require(isinstance(dtype, np.dtype), f"dtype {dtype}")
    expect(out, out.shape if out is not None else (), dtype=dtype)
    return wide(self if is_inexact(dtype) or not is_inexact(self.dtype) else self.astype(dtype))


# -------------------- sums and the like --------------------


def _reduction(function: Function) -> Evaluator:
    """self, dims, keepDims, dtype, out"""

    def evaluate(self: Any, dims: Any, keep: bool, dtype: Any, out: Any) -> None:
        x = computed_in(self, dtype, out)
        store(out, function(x, axis=every(dims, x.ndim), keepdims=keep))

    return evaluate


def _extremum(function: Function) -> Evaluator:
    def evaluate(self: Any, dims: Any, keep: bool, out: Any) -> None:
        store(out, function(wide(self), axis=every(dims, self.ndim), keepdims=keep), dtype=self.dtype)

    return evaluate


def _of_truth(function: Function) -> Evaluator:
    def evaluate(self: Any, dims: Any, keep: bool, out: Any) -> None:
        require(out is not None and out.dtype in (BOOL, np.uint8), "the output is neither bool nor uint8")
        store(out, function(wide(self) != 0, axis=every(dims, self.ndim), keepdims=keep))

    return evaluate


def _whole(function: Function) -> Evaluator:
    def evaluate(self: Any, out: Any) -> None:
        store_one(out, function(wide(self)), dtype=self.dtype)

    return evaluate


def _prod(self: Any, dtype: Any, out: Any) -> None:
    store_one(out, computed_in(self, dtype, out).prod())


def _prod_dim(self: Any, dim: int, keep: bool, dtype: Any, out: Any) -> None:
    x = computed_in(self, dtype, out)
    store(out, x.prod(axis(dim, x.ndim), keepdims=keep) if x.ndim else x)


def _aminmax(self: Any, dims: Any, keep: bool, least: Any, greatest: Any) -> None:
    at = every(dims, self.ndim)
    store(least, np.min(wide(self), axis=at, keepdims=keep), dtype=self.dtype)
    store(greatest, np.max(wide(self), axis=at, keepdims=keep), dtype=self.dtype)


def _aminmax_dim(self: Any, dim: int, keep: bool, least: Any, greatest: Any) -> None:
    _aminmax(self, (dim,), keep, least, greatest)


def _aminmax_all(self: Any, least: Any, greatest: Any) -> None:
    store_one(least, wide(self).min(), dtype=self.dtype)
    store_one(greatest, wide(self).max(), dtype=self.dtype)


def variance(x: np.ndarray, dims: tuple[int, ...], correction: float, keep: bool) -> np.ndarray:
    """The sum of squared distances from the mean, over max(0, n - correction)."""
    count = math.prod(x.shape[d] for d in dims)
    distance = np.abs(x - x.mean(dims, keepdims=True)) ** 2
    return distance.sum(dims, keepdims=keep) / np.float64(max(0, count - correction))


def _var(self: Any, dims: Any, unbiased: bool, keep: bool, out: Any) -> None:
    _var_correction(self, dims, int(unbiased), keep, out)


def _var_correction(self: Any, dims: Any, correction: int, keep: bool, out: Any) -> None:
    require(is_floating(self.dtype), f"the variance of {self.dtype}")
    store(out, variance(wide(self), every(dims, self.ndim), correction, keep), dtype=self.dtype)


def _std(self: Any, dims: Any, correction: int, keep: bool, out: Any) -> None:
    require(is_floating(self.dtype), f"the deviation of {self.dtype}")
    store(out, np.sqrt(variance(wide(self), every(dims, self.ndim), correction, keep)), dtype=self.dtype)


def _mean(x: np.ndarray, axis: Any, keepdims: bool) -> np.ndarray:
    """That of no elements is nan."""
    count = x.size // max(np.sum(x, axis=axis).size, 1)
    with np.errstate(invalid="ignore"):
        return np.sum(x, axis=axis, keepdims=keepdims) / np.float64(count)


def _with_mean(of_variance: Evaluator) -> Evaluator:
    def evaluate(self: Any, dims: Any, correction: int, keep: bool, out: Any, mean: Any) -> None:
        of_variance(self, dims, correction, keep, out)
        store(mean, wide(self).mean(every(dims, self.ndim), keepdims=keep), dtype=self.dtype)

    return evaluate


def _logsumexp(self: Any, dims: Any, keep: bool, out: Any) -> None:
    x, at = real(self), every(dims, self.ndim)
    highest = x.max(at, keepdims=True)
    shift = np.where(np.isfinite(highest), highest, 0)
    result = np.log(np.exp(x - shift).sum(at, keepdims=True)) + shift
    store(out, result if keep else np.squeeze(result, at))


def norm(x: np.ndarray, order: float, dims: tuple[int, ...], keep: bool) -> np.ndarray:
    """The p-norm of vectors along dimensions."""
    size = np.abs(x)
    if order == math.inf:
        return size.max(dims, keepdims=keep)
    if order == -math.inf:
        return size.min(dims, keepdims=keep)
    if order == 0:
        return (size != 0).sum(dims, keepdims=keep).astype(float)
    return (size**order).sum(dims, keepdims=keep) ** (1 / order)


def _norm(self: Any, order: float, dims: Any, keep: bool, out: Any) -> None:
    require(is_inexact(self.dtype), f"a norm of {self.dtype}")
    store(out, norm(wide(self), float(order), every(dims, self.ndim), keep))


def _vector_norm(self: Any, order: float, dims: Any, keep: bool, dtype: Any, out: Any) -> None:
    x = computed_in(self, dtype, out)
    store(out, norm(x, float(order), every(dims, x.ndim), keep))


def _add_up(tensors: Any, out: Any) -> None:
    # aclnnSum adds the tensors of a list; the sum along dimensions is aclnnReduceSum.
    require(tensors, "no tensors")
    store(out, sum(wide(tensor) for tensor in tensors), dtype=same_dtype(*tensors))


def _trace(self: Any, out: Any) -> None:
    require(self.ndim == 2, "a matrix is needed")
    store_one(out, np.trace(wide(self)))


EVALUATORS |= {
    "aclnnReduceSum": _reduction(np.sum),
    "aclnnReduceNansum": _reduction(np.nansum),
    "aclnnMean": _reduction(_mean),
    "aclnnProd": _prod,
    "aclnnProdDim": _prod_dim,
    "aclnnAmax": _extremum(np.max),
    "aclnnAmin": _extremum(np.min),
    "aclnnMax": _whole(np.max),
    "aclnnMin": _whole(np.min),
    "aclnnAll": _of_truth(np.all),
    "aclnnAny": _of_truth(np.any),
    "aclnnAminmax": _aminmax,
    "aclnnAminmaxDim": _aminmax_dim,
    "aclnnAminmaxAll": _aminmax_all,
    "aclnnVar": _var,
    "aclnnVarCorrection": _var_correction,
    "aclnnStd": _std,
    "aclnnVarMean": _with_mean(_var_correction),
    "aclnnStdMeanCorrection": _with_mean(_std),
    "aclnnLogSumExp": _logsumexp,
    "aclnnNorm": _norm,
    "aclnnLinalgVectorNorm": _vector_norm,
    "aclnnSum": _add_up,
    "aclnnTrace": _trace,
}

# -------------------- positions --------------------


def store_index(out: Any, values: np.ndarray) -> None:
    """Positions, as int32 or int64."""
    require(out is not None and out.dtype in (INT32, INT64), "positions are int32 or int64")
    store(out, values)


def _nan_aware(function: Function) -> Callable[[np.ndarray, int], np.ndarray]:
    """The first position of the extremum; NaN is one, as NumPy has it."""
    return lambda x, at: function(x, axis=at, keepdims=True)


def _with_position(function: Function) -> Evaluator:
    def evaluate(self: Any, dim: int, keep: bool, out: Any, indices: Any) -> None:
        x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
        found = _nan_aware(function)(x, at)
        _store_picked(x, found, at, keep, self, out, indices)

    return evaluate


def _store_picked(x: np.ndarray, found: np.ndarray, at: int, keep: bool, self: Any, out: Any, indices: Any) -> None:
    """The values at positions along a dimension, and the positions."""
    values = np.take_along_axis(x, found, at)
    shape = values.shape if keep else values.shape[:at] + values.shape[at + 1 :]
    shape = shape if self.ndim else ()
    store(out, values.reshape(shape), dtype=self.dtype)
    store_index(indices, found.reshape(shape))


def _position(function: Function) -> Evaluator:
    def evaluate(self: Any, dim: int, keep: bool, out: Any) -> None:
        x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
        found = _nan_aware(function)(x, at)
        store_index(out, found.reshape(self.shape) if not self.ndim else found if keep else found.squeeze(at))

    return evaluate


def order(x: np.ndarray, at: int, descending: bool) -> np.ndarray:
    """The stable order along a dimension; NaN counts as greatest."""
    if not descending:
        return np.argsort(x, at, kind="stable")
    flipped = np.argsort(np.flip(x, at), at, kind="stable")
    return np.flip(x.shape[at] - 1 - flipped, at)


def _sort(self: Any, stable: bool, dim: int, descending: bool, values: Any, indices: Any) -> None:
    x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
    found = order(x, at, descending)
    store(values, np.take_along_axis(x, found, at).reshape(self.shape), dtype=self.dtype)
    expect(indices, self.shape, dtype=INT64)
    store(indices, found.reshape(self.shape))


def _argsort(self: Any, dim: int, descending: bool, out: Any) -> None:
    x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
    store(out, order(x, at, descending).reshape(self.shape), dtype=INT64)


def _topk(self: Any, k: int, dim: int, largest: bool, sorted_: bool, values: Any, indices: Any) -> None:
    # "sorted: only True is supported at present": False leaves the order open, and the sorted one is one
    x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
    require(0 <= k <= x.shape[at], f"{k} of {x.shape[at]}")
    found = np.take(order(x, at, largest), range(k), at)
    shape = found.shape if self.ndim else ()
    store(values, np.take_along_axis(x, found, at).reshape(shape), dtype=self.dtype)
    store(indices, found.reshape(shape), dtype=INT64)


def _kth(self: Any, k: int, dim: int, keep: bool, values: Any, indices: Any) -> None:
    x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
    require(1 <= k <= x.shape[at], f"{k} of {x.shape[at]}")
    found = np.take(order(x, at, False), [k - 1], at)
    _store_picked(x, found, at, keep, self, values, indices)


def _median_position(x: np.ndarray, at: int, ignore_nan: bool) -> np.ndarray:
    """Of the lower one of two middle values. NaN is the median where it is not ignored."""
    positions = order(x, at, False)
    is_nan = np.isnan(x)
    count = (~is_nan).sum(at, keepdims=True)
    middle = np.maximum(count - 1, 0) // 2
    if not ignore_nan:
        middle = np.where(is_nan.any(at, keepdims=True), count, (x.shape[at] - 1) // 2)
    return np.take_along_axis(positions, middle, at)


def _median_dim(ignore_nan: bool) -> Evaluator:
    def evaluate(self: Any, dim: int, keep: bool, values: Any, indices: Any) -> None:
        x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
        _store_picked(x, _median_position(x, at, ignore_nan), at, keep, self, values, indices)

    return evaluate


def _median(ignore_nan: bool) -> Evaluator:
    def evaluate(self: Any, out: Any) -> None:
        x = wide(self).reshape(-1)
        if not x.size:
            return store_one(out, np.nan, dtype=self.dtype)
        store_one(out, x[_median_position(x, 0, ignore_nan)], dtype=self.dtype)

    return evaluate


def _cumulative_extremum(better: Function) -> Evaluator:
    """The extremum so far and its last position; NaN stays."""

    def evaluate(self: Any, dim: int, values: Any, indices: Any) -> None:
        x, at = wide(self).reshape(self.shape or (1,)), axis(dim, self.ndim)
        rows = np.moveaxis(x, at, 0)
        positions = np.zeros(rows.shape, np.int64)
        for i in range(1, len(rows)):
            best = np.take_along_axis(rows, positions[i - 1 : i], 0)[0]
            wins = better(rows[i], best) | np.isnan(rows[i])
            positions[i] = np.where(wins & (~np.isnan(best) | np.isnan(rows[i])), i, positions[i - 1])
        best = np.take_along_axis(rows, positions, 0)
        store(values, np.moveaxis(best, 0, at).reshape(self.shape), dtype=self.dtype)
        store_index(indices, np.moveaxis(positions, 0, at).reshape(self.shape))

    return evaluate


EVALUATORS |= {
    "aclnnMaxDim": _with_position(np.argmax),
    "aclnnMinDim": _with_position(np.argmin),
    "aclnnArgMax": _position(np.argmax),
    "aclnnArgMin": _position(np.argmin),
    "aclnnSort": _sort,
    "aclnnArgsort": _argsort,
    "aclnnTopk": _topk,
    "aclnnKthvalue": _kth,
    "aclnnMedian": _median(False),
    "aclnnNanMedian": _median(True),
    "aclnnMedianDim": _median_dim(False),
    "aclnnNanMedianDim": _median_dim(True),
    "aclnnCummax": _cumulative_extremum(np.greater_equal),
    "aclnnCummin": _cumulative_extremum(np.less_equal),
}

# -------------------- cumulative sums and products --------------------


def _cumsum(self: Any, dim: int, dtype: Any, out: Any) -> None:
    x = computed_in(self, dtype, out)
    store(out, x.cumsum(axis(dim, x.ndim)) if x.ndim else x)


def _cumprod(input: Any, dim: Any, dtype: Any, out: Any) -> None:
    # dim is an aclScalar; dtype undefined (-1): that of the input
    x = computed_in(input, input.dtype if dtype == -1 else dtype, out)
    store(out, x.cumprod(axis(int(dim), x.ndim)) if x.ndim else x)


def _inplace_cumprod(self: Any, dim: Any) -> None:
    _cumprod(self, dim, -1, self)


EVALUATORS |= {"aclnnCumsum": _cumsum, "aclnnCumprod": _cumprod, "aclnnInplaceCumprod": _inplace_cumprod}
