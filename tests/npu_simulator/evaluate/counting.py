"""Counting and finding: histograms, places in a sorted sequence, and results whose size depends on the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    BOOL,
    INT32,
    INT64,
    Evaluator,
    expect,
    is_inexact,
    real,
    require,
    store,
    store_prefix,
    wide,
)

EVALUATORS: dict[str, Evaluator] = {}


def _histc(self: Any, bins: int, low: float, high: float, out: Any) -> None:
    # Both bounds equal: those of the values. Values beyond the bounds are left out; the last bin has both ends.
    x = real(self).reshape(-1)
    low, high = (float(low), float(high)) if low != high else (x.min(initial=np.inf), x.max(initial=-np.inf))
    if low == high:
        low, high = low - 1, high + 1
    require(bins > 0, f"{bins} bins")
    store(out, np.histogram(x, bins, (low, high))[0] if x.size else np.zeros(bins))


def _bincount(self: Any, weights: Any, minimum: int, out: Any) -> None:
    # "out has max(self.max() + 1, minlength) elements": the caller knows how many, from the values
    require(self.ndim == 1 and not is_inexact(self.dtype), "a vector of integers is needed")
    require(out is not None and out.ndim == 1 and out.size >= minimum, f"the output is shorter than {minimum}")
    values = wide(self)
    require(not values.size or (values.min() >= 0 and values.max() < out.size), "a value is beyond the output")
    store(out, np.bincount(values, None if weights is None else real(weights), out.size))


def _searchsorted(sequence: Any, self: Any, as_int32: bool, right: bool, sorter: Any, out: Any) -> None:
    # One sequence for all, or one for each row of self. "out has the shape of self"; a number counts as a 0-dim self.
    wanted = np.asarray(self) if not isinstance(self, np.ndarray) else wide(self)
    require(out is not None and out.dtype == (INT32 if as_int32 else INT64), "outInt32 and the output differ")
    values = wide(sequence)
    if sorter is not None:
        values = np.take_along_axis(values, wide(sorter), -1)
    require(values.ndim == 1 or values.shape[:-1] == wanted.shape[:-1], "rows of the sequence and of self differ")
    side = "right" if right else "left"
    if values.ndim == 1:
        return store(out, np.searchsorted(values, wanted, side))
    rows = zip(values.reshape(-1, values.shape[-1]), wanted.reshape(-1, wanted.shape[-1]))
    store(out, np.array([np.searchsorted(row, own, side) for row, own in rows]).reshape(wanted.shape))


def _bucketize(self: Any, boundaries: Any, as_int32: bool, right: bool, out: Any) -> None:
    require(boundaries is not None and boundaries.ndim == 1, "boundaries are a vector")
    _searchsorted(boundaries, self, as_int32, right, None, out)


def _nonzero(self: Any, out: Any) -> None:
    found = np.argwhere(wide(self))
    expect(out, out.shape if out is not None else (), dtype=INT64)
    store_prefix(out, found, (self.size, self.ndim))


def _masked_select(self: Any, mask: Any, out: Any) -> None:
    require(mask is not None and mask.dtype in (BOOL, np.uint8), "the mask is neither bool nor uint8")
    x, chosen = np.broadcast_arrays(self, mask != 0)
    expect(out, out.shape if out is not None else (), dtype=self.dtype)
    store_prefix(out, x[chosen], (x.size,))


def _unique2(self: Any, sorted_: bool, inverse: bool, counts: bool, out: Any, positions: Any, numbers: Any) -> None:
    # "inverseOut has a meaning if returnInverse or returnCounts"; sizes depend on the data
    values, back, count = np.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
    expect(out, out.shape if out is not None else (), dtype=self.dtype)
    store_prefix(out, values, (self.size,))
    if inverse or counts:
        store(positions, back.reshape(self.shape), dtype=INT64)
    if counts:
        store_prefix(numbers, count, (self.size,))


def _unique(self: Any, sorted_: bool, inverse: bool, out: Any, positions: Any) -> None:
    _unique2(self, sorted_, inverse, False, out, positions, None)


EVALUATORS |= {
    "aclnnHistc": _histc,
    "aclnnBincount": _bincount,
    "aclnnSearchSorted": _searchsorted,
    "aclnnSearchSorteds": _searchsorted,
    "aclnnBucketize": _bucketize,
    "aclnnNonzero": _nonzero,
    "aclnnNonzeroV2": _nonzero,
    "aclnnMaskedSelect": _masked_select,
    "aclnnUnique2": _unique2,
    "aclnnUnique": _unique,
}


def _is_in(element: Any, test: Any, unique: bool, invert: bool, out: Any) -> None:
    # "assumeUnique" only makes it faster. (Of aclnnIsInScalarTensor it is not clear which shape it has.)
    store(out, np.isin(wide(element), test, invert=invert), dtype=BOOL)


EVALUATORS["aclnnIsInTensorScalar"] = _is_in
