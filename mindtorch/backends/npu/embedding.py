"""embedding_bag on the NPU by hand: results in torch's shapes, and gradients put together."""

from collections.abc import Callable

from mindtorch._core.promotion import BOOL, INT32, INT64
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.chip import is_younger
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, check_same_device, copied
from mindtorch.backends.npu.steps import FLOATS, bag_numbers, converted, like, narrowed, shaped, zeroed

_bags = aclnn("aclnnEmbeddingBag", "TTTblbTblTTTT")
_dense_backward = aclnn("aclnnEmbeddingDenseBackward", "TTqqbT")
_divide = aclnn("aclnnDiv", "TTT")
_equals = aclnn("aclnnEqScalar", "TST")
_masked_fill = aclnn("aclnnInplaceMaskedFillScalar", "TTS")
_maximum = aclnn("aclnnClampMin", "TST")
_multiply = aclnn("aclnnMul", "TTT")
_scatter_add = aclnn("aclnnScatterAdd", "TlTTT")
_select = aclnn("aclnnIndexSelect", "TlTT")
_sum = aclnn("aclnnReduceSum", "TIbdT")

SUM, MEAN, MAX = 0, 1, 2
_INDICES = (INT32, INT64)


def _takes(weight: NpuArray, indices: NpuArray, offsets: NpuArray, mode: int, per_sample: NpuArray | None) -> bool:
    """If not, the CPU's kernel computes it, or says what is wrong."""
    if weight.ndim != 2 or weight.dtype not in FLOATS or mode not in (SUM, MEAN, MAX) or not weight.size:
        return False
    if not indices.ndim == offsets.ndim == 1 or indices.dtype not in _INDICES or offsets.dtype not in _INDICES:
        return False
    if per_sample is None:
        return bool(indices.size and offsets.size)
    return mode == SUM and per_sample.shape == indices.shape and per_sample.dtype == weight.dtype


def _forward(op: str, forward_only: bool) -> Callable:
    on_cpu = kernel_for(op)

    def kernel(
        weight: NpuArray,
        indices: NpuArray,
        offsets: NpuArray,
        scale_grad_by_freq: bool,
        mode: int,
        sparse: bool,
        per_sample_weights: NpuArray | None,
        include_last_offset: bool,
        padding_idx: int,
    ) -> tuple[NpuArray, ...]:
        check_same_device(op, weight, indices, offsets, None, None, None, per_sample_weights)
        if not _takes(weight, indices, offsets, mode, per_sample_weights) or offsets.size <= include_last_offset:
            return on_cpu(
                weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                padding_idx,
            )  # fmt: skip
        if indices.dtype != offsets.dtype:
            indices, offsets = converted(indices, INT64), converted(offsets, INT64)
        bags = offsets.size - include_last_offset
        result, bag_of, sizes, found = _room(weight, indices, offsets, mode, bags)
        # Both flags are about gradients, and ACLNN takes them only if they are false.
        _bags(
            weight, indices, offsets, False, mode, False, per_sample_weights, include_last_offset, padding_idx,
            result, bag_of, sizes, found,
        )  # fmt: skip
        sizes = narrowed(sizes, 0, 0, bags)
        if mode == MAX:
            return result, bag_of, sizes, found
        if mode == MEAN:
            return result, bag_of, sizes, copied(like(sizes), sizes)
        unused = like(indices, shape=(offsets.size if forward_only else bags,))
        is_fast = padding_idx < 0 and weight.strides[1] == weight.itemsize
        kept = like(indices, shape=(0,)) if is_fast else bag_of
        return result, kept, zeroed(unused), zeroed(like(unused))

    return kernel


def _room(
    weight: NpuArray, indices: NpuArray, offsets: NpuArray, mode: int, bags: int
) -> tuple[NpuArray, NpuArray, NpuArray, NpuArray]:
    """For the results, in the shapes that the chip gives them."""
    is_young = is_younger(weight.root.index)
    found = (bags, weight.shape[1]) if mode == MAX else (0,) if is_young else (bags,)
    sizes = (offsets.size if is_young else bags,)
    integers = like(indices, shape=indices.shape), like(indices, shape=sizes), like(indices, shape=found)
    return like(weight, shape=(bags, weight.shape[1])), *integers


embedding_bag = _forward("_embedding_bag", forward_only=False)
embedding_bag_forward_only = _forward("_embedding_bag_forward_only", forward_only=True)


# -------------------- gradients --------------------

_backward_on_cpu = kernel_for("_embedding_bag_backward")
_dense_on_cpu = kernel_for("_embedding_bag_dense_backward")
_per_sample_on_cpu = kernel_for("_embedding_bag_per_sample_weights_backward")


def embedding_bag_backward(
    grad: NpuArray,
    indices: NpuArray,
    offsets: NpuArray,
    offset2bag: NpuArray,
    bag_size: NpuArray,
    maximum_indices: NpuArray,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: NpuArray | None,
    padding_idx: int,
) -> NpuArray:
    given = (grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights, None, mode, sparse)
    check_same_device("_embedding_bag_backward", *given, per_sample_weights)
    if not _is_dense(grad, indices, offsets, scale_grad_by_freq, mode):
        return _backward_on_cpu(
            grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
            sparse, per_sample_weights, padding_idx,
        )  # fmt: skip
    if not offset2bag.size:
        offset2bag = bag_numbers(converted(offsets, INT64), indices.size)
    return embedding_bag_dense_backward(
        grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
        per_sample_weights, padding_idx,
    )  # fmt: skip


def _is_dense(grad: NpuArray, indices: NpuArray, bags: NpuArray, scaled: bool, mode: int) -> bool:
    """Divided by frequencies, torch has others on the CPU than ACLNN: those are computed there."""
    if scaled or grad.ndim != 2 or grad.dtype not in FLOATS or mode not in (SUM, MEAN, MAX) or not grad.size:
        return False
    return indices.ndim == 1 and indices.size > 0 and indices.dtype in _INDICES and bags.dtype in _INDICES


def embedding_bag_dense_backward(
    grad: NpuArray,
    indices: NpuArray,
    offset2bag: NpuArray,
    bag_size: NpuArray,
    maximum_indices: NpuArray,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: NpuArray | None,
    padding_idx: int,
) -> NpuArray:
    given = (grad, indices, offset2bag, bag_size, maximum_indices, num_weights, None, mode, per_sample_weights)
    check_same_device("_embedding_bag_dense_backward", *given)
    if not _is_dense(grad, indices, offset2bag, scale_grad_by_freq, mode):
        return _dense_on_cpu(
            grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode,
            per_sample_weights, padding_idx,
        )  # fmt: skip
    result = like(grad, shape=(num_weights, grad.shape[1]))
    if mode == MAX:
        return _to_maxima(grad, maximum_indices, bag_size, result)
    if mode == MEAN:
        grad = _shared(grad, bag_size)
    rows = _rows(grad, offset2bag)
    if per_sample_weights is not None:
        _multiply(rows, _column(converted(per_sample_weights, grad.dtype)), rows)
    _dense_backward(rows, indices, num_weights, padding_idx, False, result)
    return result


def _rows(table: NpuArray, places: NpuArray) -> NpuArray:
    result = like(table, shape=(places.size, table.shape[1]))
    _select(table, 0, places, result)
    return result


def _column(array: NpuArray) -> NpuArray:
    """Of one dimension, so that it broadcasts over rows."""
    return shaped(array, (array.size, 1), (*array.strides, array.itemsize))


def _shared(grad: NpuArray, sizes: NpuArray) -> NpuArray:
    """Divided by how many indices a bag has."""
    counts, result = like(sizes), like(grad)
    _maximum(sizes, 1, counts)
    _divide(grad, _column(converted(counts, grad.dtype)), result)
    return result


def _to_maxima(grad: NpuArray, found: NpuArray, sizes: NpuArray, result: NpuArray) -> NpuArray:
    empty, given = like(sizes, BOOL), copied(like(grad), grad)
    _equals(sizes, 0, empty)
    _masked_fill(given, _column(empty), 0)
    _scatter_add(zeroed(result), 0, converted(found, INT64), given, result)
    return result


def embedding_bag_per_sample_weights_backward(
    grad: NpuArray,
    weight: NpuArray,
    indices: NpuArray,
    offsets: NpuArray,
    offset2bag: NpuArray,
    mode: int,
    padding_idx: int,
) -> NpuArray:
    check_same_device("_embedding_bag_per_sample_weights_backward", grad, weight, indices, offsets, offset2bag)
    if mode != SUM or grad.dtype != weight.dtype or not _is_dense(grad, indices, offsets, False, mode):
        return _per_sample_on_cpu(grad, weight, indices, offsets, offset2bag, mode, padding_idx)
    if not offset2bag.size:
        offset2bag = bag_numbers(converted(offsets, INT64), indices.size)
    products, result = _rows(grad, offset2bag), like(grad, shape=indices.shape)
    _multiply(products, _rows(weight, indices), products)
    _sum(products, (1,), False, grad.dtype, result)
    if padding_idx >= 0:
        is_padding = like(indices, BOOL)
        _equals(indices, padding_idx, is_padding)
        _masked_fill(result, is_padding, 0)
    return result
