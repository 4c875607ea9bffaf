"""Rows of tables: bags of them, and rows of limited length."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    INT32,
    INT64,
    Evaluator,
    expect,
    is_younger_chip,
    refuse,
    require,
    store,
    wide,
)
from tests.npu_simulator.evaluate.indexing import positions

EVALUATORS: dict[str, Evaluator] = {}

_SUM, _MEAN = 0, 1


def _checked(weight: Any, indices: Any, offsets: Any, mode: int, per_sample: Any) -> np.dtype:
    """The dtype of the results that are integers: the wider one of the indices and the offsets."""
    if weight is None or indices is None or offsets is None:
        refuse("a tensor is null", 161001)
    require(weight.ndim == 2 and indices.ndim == 1 and offsets.ndim == 1, "a table, and two vectors")
    require({indices.dtype, offsets.dtype} <= {INT32, INT64}, "indices and offsets are int32 or int64")
    if per_sample is not None:
        expect(per_sample, indices.shape, dtype=weight.dtype)
        require(mode == _SUM, "perSampleWeights in another mode than sum")
    return INT64 if INT64 in (indices.dtype, offsets.dtype) else INT32


def _embedding_bag(
    weight: Any, indices: Any, offsets: Any, scaled: bool, mode: int, sparse: bool, per_sample: Any,
    include_last: bool, padding: int, out: Any, offset2bag: Any, bag_size: Any, maxima: Any,
) -> None:  # fmt: skip
    # "mode: 0 sum, 1 mean, all others max; paddingIdx: the index that takes no part; sparse, scaleGradByFreq: False"
    require(not sparse and not scaled, "sparse and scaleGradByFreq have to be false")
    dtype = _checked(weight, indices, offsets, mode, per_sample)
    bags, young = len(offsets) - include_last, is_younger_chip()
    places, starts = wide(indices), wide(offsets)[:bags]
    # The document does not say what other offsets give: those that do not ascend from 0 fail here.
    if bags and not (starts[0] == 0 and (np.diff(starts) >= 0).all() and starts[-1] <= len(places)):
        raise IndexError(f"offsets {starts.min()} to {starts.max()} of {len(places)} indices, the first {starts[0]}")
    own = (starts[:, None] <= np.arange(len(places))).sum(0) - 1
    table = wide(weight)
    positions(indices, len(table))
    result, sizes = np.zeros((bags, weight.shape[1])), np.zeros(len(offsets) if young else bags, np.int64)
    found = np.zeros((bags, weight.shape[1]), np.int64)
    factors = np.ones(len(places)) if per_sample is None else wide(per_sample)
    for bag in range(bags):
        members = np.flatnonzero((own == bag) & (places != padding))
        sizes[bag] = len(members)
        rows = table[places[members]]
        if mode in (_SUM, _MEAN):
            result[bag] = (rows * factors[members, None]).sum(0) / (max(len(members), 1) if mode == _MEAN else 1)
        elif len(members):
            result[bag], found[bag] = rows.max(0), places[members][rows.argmax(0)]
    store(out, result, dtype=weight.dtype)
    store(offset2bag, own, dtype=dtype)
    store(bag_size, sizes, dtype=dtype)
    # In sum and mean CANN's page gives the shape of maxIndices, and not what is in it: it is left as it was.
    if mode in (_SUM, _MEAN):
        return expect(maxima, (0,) if young else (bags,), dtype=dtype)
    store(maxima, found, dtype=dtype)


def _embedding_renorm(self: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    # rows that are named and longer than maxNorm are multiplied by maxNorm / (norm + 1e-7)
    require(self is not None and indices is not None and self.ndim == 2, "a table and indices")
    require(indices.dtype in (INT32, INT64), f"indices of {indices.dtype}")
    rows, table = np.unique(positions(indices, len(self))), wide(self)
    norms = np.linalg.norm(table, norm_type, axis=1)
    long = rows[norms[rows] > max_norm]
    table[long] *= (max_norm / (norms[long] + 1e-7))[:, None]
    store(self, table)


EVALUATORS |= {"aclnnEmbeddingBag": _embedding_bag, "aclnnEmbeddingRenorm": _embedding_renorm}
