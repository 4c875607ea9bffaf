"""Kernels of embedding_bag: rows of a table, looked up and then added up, averaged or maximized within bags.

A bag is a stretch of the indices; `bag_of` has the number of the bag that each index is in. Sums over bags are products
of a sparse matrix, one row for each bag, with the table.
"""

from __future__ import annotations

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import is_any
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.precision import deliver, widen

scipy_sparse = lazy("scipy.sparse")

Array = np.ndarray

SUM, MEAN, MAX = 0, 1, 2


# -------------------- forward --------------------


def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=SUM,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=-1,
):
    return _forward(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, False)


def embedding_bag_forward_only(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=SUM,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=-1,
):
    return _forward(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx, True)


def _forward(
    weight: Array,
    indices: Array,
    offsets: Array,
    mode: int,
    per_sample: Array | None,
    include_last: bool,
    padding_idx: int,
    forward_only: bool,
) -> tuple[Array, ...]:
    """The bags, the bag of each index, the sizes of bags, and the indices that a maximum was found at."""
    _check(weight, indices, offsets, mode, per_sample, include_last)
    if indices.dtype != offsets.dtype:
        indices, offsets = indices.astype(np.int64), offsets.astype(np.int64)
    starts = offsets[:-1] if include_last else offsets
    bag_of = bags_of(starts, indices.size)
    is_summed_at_once = _is_fast(weight, padding_idx) and mode != MAX
    _check_range(weight, indices, is_summed_at_once)
    kept = indices != padding_idx
    sizes = np.bincount(bag_of[kept], minlength=starts.size).astype(indices.dtype)
    if mode == MAX:
        result, found = _largest(weight, indices[kept], bag_of[kept], sizes)
        return result, bag_of, sizes, found
    result = _sums(weight, indices, bag_of, kept, per_sample, starts.size)
    if mode == MEAN:
        result /= np.maximum(sizes, 1)[:, None]
        return deliver(result, weight), bag_of, sizes, sizes.copy()
    unused = np.zeros(offsets.size if forward_only else starts.size, indices.dtype)  # sums need no sizes
    return deliver(result, weight), bag_of[:0].copy() if is_summed_at_once else bag_of, unused, unused.copy()


def bags_of(starts: Array, count: int) -> Array:
    """The bag of each of `count` indices: how many bags have begun."""
    begun = np.bincount(starts[starts <= count], minlength=count + 1)[:count].cumsum() - 1
    return begun.astype(starts.dtype)


def _sums(weight: Array, indices: Array, bag_of: Array, kept: Array, per_sample: Array | None, bags: int) -> Array:
    table = widen(weight)
    shares = np.ones(indices.size, table.dtype) if per_sample is None else widen(per_sample)
    ends = bag_of[kept].searchsorted(np.arange(bags + 1))
    matrix = scipy_sparse.csr_array((shares[kept], indices[kept], ends), shape=(bags, weight.shape[0]))
    return matrix @ table


def _largest(weight: Array, indices: Array, bag_of: Array, sizes: Array) -> tuple[Array, Array]:
    """The first of the largest elements of each bag; zeros for an empty one. A bag is a row, filled up with nothing."""
    longest = max(int(sizes.max(initial=0)), 1)
    place = np.arange(indices.size) - (sizes.cumsum() - sizes)[bag_of]
    rows = np.zeros((sizes.size, longest), indices.dtype)
    rows[bag_of, place] = indices
    values = widen(weight)[rows]
    values[np.arange(longest) >= sizes[:, None]] = -np.inf
    first = values.argmax(1)
    found = np.take_along_axis(rows[:, :, None], first[:, None], 1)[:, 0]
    largest = np.take_along_axis(values, first[:, None], 1)[:, 0]
    largest[sizes == 0] = 0
    return deliver(largest, weight), found


# -------------------- what is refused --------------------


def _check(
    weight: Array, indices: Array, offsets: Array, mode: int, per_sample: Array | None, include_last: bool
) -> None:
    if indices.ndim not in (1, 2):
        raise RuntimeError(f"input has to be a 1D or 2D Tensor, but got Tensor of dimension {indices.ndim}")
    if indices.ndim == 1 and offsets.ndim != 1:
        raise RuntimeError(f"offsets has to be a 1D Tensor, but got Tensor of dimension {offsets.ndim}")
    if weight.ndim != 2:
        raise RuntimeError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    for each in (indices, offsets):
        _expect("indices", each, "Long, Int", each.dtype in (np.int32, np.int64))
    _expect("weight", weight, "Half, BFloat16, Float, Double", checks.is_float(weight))
    _check_offsets(indices, offsets)
    if per_sample is not None:
        _check_per_sample(weight, indices, mode, per_sample)
    if include_last and not offsets.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if mode not in (SUM, MEAN, MAX):
        raise RuntimeError("`mode` must be sum, mean, or max.")


def _expect(name: str, array: Array, allowed: str, fits: bool) -> None:
    if not fits:
        raise RuntimeError(
            f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: {allowed}; but got "
            f"{_type_name(array)} instead (while checking arguments for embedding_bag)"
        )


def _type_name(array: Array) -> str:
    name = checks.scalar_name(array)
    return f"CPU{name}Type" if array.dtype.kind in "bc" else f"torch.{name}Tensor"


def _check_offsets(indices: Array, offsets: Array) -> None:
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            f"However, got {offsets[0]}\n[ {_type_name(offsets)}{{}} ]"
        )
    if offsets.size and offsets[-1] > indices.shape[0]:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {indices.shape[0]} "
            f"but got offsets[-1] of {offsets[-1]}"
        )


def _check_per_sample(weight: Array, indices: Array, mode: int, per_sample: Array) -> None:
    if mode != SUM:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if weight.dtype != per_sample.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {_type_name(weight)} does not equal {_type_name(per_sample)} (while "
            "checking arguments for embedding_bag)"
        )
    for what, holds in (
        ("per_sample_weights.value().dim() == 1", per_sample.ndim == 1),
        ("per_sample_weights.value().numel() == indices.numel()", per_sample.size == indices.size),
    ):
        if not holds:
            raise RuntimeError(
                f"Expected {what} to be true, but got false.  (Could this error message be improved?  If so, please "
                "report an enhancement request to PyTorch.)"
            )


def _is_fast(weight: Array, padding_idx: int) -> bool:
    """Whether torch sums with a kernel of its own, which has other messages and leaves the bags of indices out."""
    return weight.dtype != np.float64 and weight.strides[1] == weight.itemsize and padding_idx < 0


def _check_range(weight: Array, indices: Array, names_place: bool) -> None:
    outside = (indices < 0) | (indices >= weight.shape[0])
    if not is_any(outside):
        return
    place = int(outside.argmax())
    if names_place:
        raise RuntimeError(
            f"Index {place} of input takes value {indices[place]} which is not in the valid range "
            f"[0, {weight.shape[0]})"
        )
    raise RuntimeError(f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {indices[place]}")


# -------------------- backward --------------------


def embedding_bag_backward(
    grad,
    indices,
    offsets,
    offset2bag,
    bag_size,
    maximum_indices,
    num_weights,
    scale_grad_by_freq,
    mode,
    sparse,
    per_sample_weights,
    padding_idx=-1,
):
    """Of a dense table."""
    for each in (indices, offsets):
        checks.expect_indices(each, "indices", "embedding_bag")
    checks.expect_index_dtype(bag_size)
    if indices.dtype != offsets.dtype:
        indices, offsets = indices.astype(np.int64), offsets.astype(np.int64)
    if not offset2bag.size:
        offset2bag = bags_of(offsets, indices.size)
    return embedding_bag_dense_backward(
        grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
        per_sample_weights, padding_idx,
    )  # fmt: skip


def embedding_bag_dense_backward(
    grad,
    indices,
    offset2bag,
    bag_size,
    maximum_indices,
    num_weights,
    scale_grad_by_freq,
    mode,
    per_sample_weights,
    padding_idx=-1,
):
    if not checks.is_float(grad):
        raise checks.wrong_type(grad, "grad_", "Half, BFloat16, Float, Double", "embedding_bag")
    checks.expect_indices(offset2bag, "offset2bag", "embedding_bag")
    if mode not in (SUM, MEAN, MAX):
        raise RuntimeError("mode == EmbeddingBagMode::MEAN || mode == EmbeddingBagMode::SUM INTERNAL ASSERT FAILED")
    upstream = widen(grad)
    if mode == MAX:
        result = _spread_to_maxima(upstream, maximum_indices, bag_size, num_weights)
        return deliver(result, grad)
    shares = np.ones(indices.size, upstream.dtype) if per_sample_weights is None else widen(per_sample_weights).copy()
    if scale_grad_by_freq:
        shares /= _frequencies(indices)
    if mode == MEAN:
        shares /= np.maximum(bag_size, 1)[offset2bag]
    kept = indices != padding_idx
    places = (indices[kept], offset2bag[kept])
    matrix = scipy_sparse.coo_array((shares[kept], places), shape=(num_weights, grad.shape[0]))
    return deliver(matrix.tocsr() @ upstream, grad)


def _frequencies(indices: Array) -> Array:
    """What each share is divided by: for the n-th of the rows that are used, torch counts the n-th index in order."""
    used, rank = np.unique(indices, return_inverse=True)
    ordered = np.sort(indices)
    return np.bincount(rank)[used.searchsorted(ordered[: used.size])][rank]


def _spread_to_maxima(grad: Array, found: Array, sizes: Array, rows: int) -> Array:
    result = np.zeros((rows, grad.shape[1]), grad.dtype)
    filled = sizes > 0
    quiet(np.add.at, result, (found[filled], np.arange(grad.shape[1])), grad[filled])
    return result


def embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, mode, padding_idx=-1):
    if mode != SUM:
        raise RuntimeError("embedding_bag_backward: per_sample_weights only supported for mode='sum'")
    checks.expect_float(grad, "_embedding_bag_per_sample_weights_backward_cpu")
    for each in (indices, offsets):
        checks.expect_indices(each, "indices", "embedding_bag")
    if not offset2bag.size:
        offset2bag = bags_of(offsets, indices.size)
    checks.expect_indices(offset2bag, "offset2bag", "embedding_bag")
    checks.expect_dtype(weight, grad)
    products = np.einsum("ij,ij->i", widen(grad)[offset2bag], widen(weight)[indices])
    products[indices == padding_idx] = 0
    return deliver(products, grad)


# -------------------- rows of limited length --------------------


def embedding_renorm(input, indices, max_norm, norm_type):
    """Shortens, in place, the rows that indices name and that are longer than `max_norm`."""
    if input.ndim != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {input.ndim}-dimensional tensor for argument #1 'self' (while "
            "checking arguments for embedding_renorm_)"
        )
    if indices.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{_type_name(indices)} instead (while checking arguments for embedding_renorm_)"
        )
    if input.dtype.kind not in "fVc":  # bfloat16 is of NumPy's kind V
        name = checks.scalar_name(input)
        raise RuntimeError(f"norm(): input dtype should be either floating point or complex. Got {name} instead.")
    rows = np.unique(indices)
    for row in rows[(rows < -input.shape[0]) | (rows >= input.shape[0])]:
        raise IndexError(f"select(): index {row} out of range for tensor of size {list(input.shape)} at dimension 0")
    found = widen(input[rows])
    norms = _norms(found, norm_type)
    too_long = norms > max_norm
    input[rows[too_long]] = found[too_long] * (max_norm / (norms[too_long] + 1e-7))[:, None]
    return input


def _norms(rows: Array, order: float) -> Array:
    return np.linalg.norm(rows, order, axis=1).astype(rows.dtype)
