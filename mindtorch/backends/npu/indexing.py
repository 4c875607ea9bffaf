"""Indexing on the NPU by hand: what masks and numbers decide the size of, joining, and the backward of views."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.geometry import wrap_dim
from mindtorch._core.promotion import BOOL, INT64, common_dtype
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.meta import rules
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, delivered, operands, placed, remembered
from mindtorch.backends.npu.positions import check_found
from mindtorch.backends.npu.sharing import check_apart
from mindtorch.backends.npu.steps import FLOATS, contiguous
from mindtorch.dispatch.registry import kernel_table
from mindtorch.iterator import is_expanded

_cat = aclnn("aclnnCat", "LlT")
_cat_rule = remembered(rules.cat("default"), "cat")
_copy = aclnn("aclnnInplaceCopy", "TT")
_index = aclnn("aclnnIndex", "TLT")
_index_put = aclnn("aclnnIndexPutImpl", "TLTbb")
_index_rule = remembered(rules.index(None), "index.Tensor")
_masked_select = aclnn("aclnnMaskedSelect", "TTT")
_nonzero = aclnn("aclnnNonzero", "TT")
_scatter_reduce = aclnn("aclnnScatterReduce", "TlTTlbT")
_scatter_rule = remembered(rules.same("first"), "scatter_reduce.two")
_unfold_grad = aclnn("aclnnUnfoldGrad", "TIlllT")
_zero = aclnn("aclnnInplaceZero", "T")


# -------------------- sizes that numbers decide --------------------


def nonzero(input: NpuArray, out: Any = None) -> NpuArray:
    count, ndim = input.size, input.ndim
    places = new((count, ndim), INT64, input.root.index)
    if count and ndim:
        (shape,) = _nonzero.with_shapes((1,), input, places)
        places = _first(places, shape[0])
    elif not ndim:
        places = new((int(input.item() != 0), 0), INT64, input.root.index)
    result = _transposed_layout(places)
    return result if out is None else delivered(result, out)


def _first(array: NpuArray, count: int) -> NpuArray:
    """The first rows of an array."""
    return array.part((count, *array.shape[1:]), array.dtype, array.strides, array.byte_offset)


def _transposed_layout(places: NpuArray) -> NpuArray:
    """Column by column in memory, as torch gives the places."""
    rows, columns = places.shape
    strides = (places.itemsize, max(rows, 1) * places.itemsize)
    return copied(new(places.shape, places.dtype, places.root.index, strides), places)


def masked_select(input: NpuArray, mask: NpuArray, out: Any = None) -> NpuArray:
    if mask.dtype != BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    input, mask = operands(input, mask)
    shape = np.broadcast_shapes(input.shape, mask.shape)
    found = new((int(np.prod(shape)),), input.dtype, input.root.index)
    if found.size:
        (size,) = _masked_select.with_shapes((2,), input, mask, found)
        found = _first(found, size[0])
    result = copied(new(found.shape, found.dtype, found.root.index), found)
    return result if out is None else delivered(result, out)


# -------------------- index and index_put --------------------


def index(input: NpuArray, indices: Sequence[NpuArray | None], out: Any = None) -> NpuArray:
    picked = _positions(indices, input)
    result = placed(_index_rule(input, picked, out=out), input)
    if result.size:
        _index(input, _without_gaps(picked, input), result)
    return result if out is None else delivered(result, out)


def index_put(
    input: NpuArray, indices: Sequence[NpuArray | None], values: NpuArray, accumulate: bool, out: Any = None
) -> NpuArray:
    target = input if out is input else copied(_target(input, out), input)
    check_apart(target, values, *indices)
    if values.dtype != input.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{scalar_name(input)} for the destination and {scalar_name(values)} for the source."
        )
    if is_expanded(target):
        return _put_on_cpu(input, indices, values, accumulate, out=out)
    picked = _positions(indices, input)
    if not target.size or not all(each is None or each.size for each in picked):
        _refuse_put(input, indices, values, accumulate, out=out)  # if it is wrong
    else:
        values, _ = operands(values, input)
        _index_put(target, _without_gaps(picked, input), values, accumulate, False)
    return target


_put_on_cpu = kernel_for("index_put")
_refuse_put = cpu_kernel_for("index_put", is_trial=True)


def _target(input: NpuArray, out: NpuArray | None) -> NpuArray:
    return out if out is not None and out.shape == input.shape else new(input.shape, input.dtype, input.root.index)


def _positions(indices: Sequence[Any], input: NpuArray) -> list[NpuArray | None]:
    """The indices of dimensions: masks as the places where they are true, what is on the CPU on the device."""
    found: list[NpuArray | None] = []
    for each in indices:
        if each is None:
            found.append(None)
            continue
        moved = each if type(each) is NpuArray else _moved(_checked(each, input, len(found)), input)
        if moved.dtype == BOOL or moved.dtype == np.uint8:
            _check_mask(moved, input, len(found))
            places = nonzero(moved)
            found += [_column(places, dim) for dim in range(moved.ndim)]
        else:
            found.append(moved)
    return found


def _check_mask(mask: NpuArray, input: NpuArray, dim: int) -> None:
    for place, size in enumerate(mask.shape):
        if dim + place >= input.ndim or input.shape[dim + place] != size:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {place} does not match the shape of the indexed "
                f"tensor {list(input.shape)} at index {dim + place}"
            )


def _checked(indices: np.ndarray, input: NpuArray, dim: int) -> np.ndarray:
    """What is on the host can be looked at there: the device takes whatever it gets."""
    if indices.size and indices.dtype != BOOL and indices.dtype != np.uint8:
        size = input.shape[dim]
        check_found(indices, -size, size, f"dimension {dim} with size {size}")
    return indices


def _moved(array: np.ndarray, like: NpuArray) -> NpuArray:
    target = new(array.shape, array.dtype, like.root.index)
    return kernel_table("copy_")[NpuArray](target, array, False)


def _column(places: NpuArray, dim: int) -> NpuArray:
    rows, _ = places.shape
    return places.part((rows,), places.dtype, places.strides[:1], places.byte_offset + dim * places.strides[1])


def _without_gaps(indices: Sequence[NpuArray | None], input: NpuArray) -> list[NpuArray]:
    """ACLNN takes an empty array for a dimension that is not indexed, and none for those behind the last index."""
    last = max(place for place, each in enumerate(indices) if each is not None)
    return [new((0,), INT64, input.root.index) if each is None else each for each in indices[: last + 1]]


# -------------------- joining, scattering --------------------


def cat(tensors: Sequence[NpuArray], dim: int, out: Any = None) -> NpuArray:
    kept = [each for each in tensors if each.shape != (0,)] or [tensors[0]]
    dtype = common_dtype(*tensors)
    first = next(each for each in kept if type(each) is NpuArray)
    result = placed(_cat_rule(tensors, dim, out=out), first)
    check_apart(result, *tensors)
    parts = [_converted(each, dtype) for each in kept if each.size]
    if parts:
        _cat(parts, dim, result)
    return result if out is None else delivered(result, out)


def _converted(array: Any, dtype: np.dtype) -> Any:
    if type(array) is not NpuArray or array.dtype == dtype:
        return array
    return copied(new(array.shape, dtype, array.root.index), array)


_SUM = 1
_scatter_on_cpu = kernel_for("scatter_reduce.two")


def scatter_reduce(
    input: NpuArray, dim: int, index: NpuArray, src: NpuArray, reduce: str, include_self: bool, out: Any = None
) -> NpuArray:
    if reduce != "sum":  # the others are not on all chips
        return _scatter_on_cpu(input, dim, index, src, reduce, include_self, out=out)
    result = placed(_scatter_rule(input, dim, index, src, reduce, include_self, out=out), input)
    _scatter_reduce(input, dim, index, src, _SUM, include_self, result)
    return result if out is None else delivered(result, out)


# -------------------- the backward of views --------------------


def _spread(grad: NpuArray, input_sizes: Sequence[int], kernel: Any, *args: Any) -> NpuArray:
    """Zeros, with a gradient where a view showed the input."""
    result = new(tuple(input_sizes), grad.dtype, grad.root.index)
    if result.size:
        _zero(result)
    part = kernel(result, *args)
    if part.size:
        _copy(part, grad)
    return result


def _view(op: str) -> Any:
    return kernel_table(op)[MetaArray]


def select_backward(grad_output: NpuArray, input_sizes: Sequence[int], dim: int, index: int) -> NpuArray:
    return _spread(grad_output, input_sizes, _view("select.int"), dim, index)


def slice_backward(
    grad_output: NpuArray, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> NpuArray:
    return _spread(grad_output, input_sizes, _view("slice.Tensor"), dim, start, end, step)


def diagonal_backward(grad_output: NpuArray, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> NpuArray:
    return _spread(grad_output, input_sizes, _view("diagonal"), offset, dim1, dim2)


def diag_embed(input: NpuArray, offset: int, dim1: int, dim2: int) -> NpuArray:
    shape = view_geometry.diag_embed_shape(input.shape, offset, dim1, dim2)
    return _spread(input, shape, _view("diagonal"), offset, dim1, dim2)


_unfold_backward_on_cpu = kernel_for("unfold_backward")


def unfold_backward(grad_in: NpuArray, input_sizes: Sequence[int], dim: int, size: int, step: int) -> NpuArray:
    """ACLNN has windows in the last two dimensions only, and takes no strided gradient."""
    if grad_in.dtype not in FLOATS or not grad_in.size or not input_sizes:
        return _unfold_backward_on_cpu(grad_in, input_sizes, dim, size, step)
    last = len(input_sizes) - 1
    dim = wrap_dim(dim, len(input_sizes))
    sizes = [*input_sizes[:dim], *input_sizes[dim + 1 :], input_sizes[dim]]
    windows = contiguous(_with_last(grad_in, dim, last))
    lines = new(tuple(sizes), grad_in.dtype, grad_in.root.index)
    _unfold_grad(windows, sizes, last, size, step, lines)
    if dim == last:
        return lines
    result = new(tuple(input_sizes), grad_in.dtype, grad_in.root.index)
    copied(_with_last(result, dim, last), lines)
    return result


def _with_last(array: NpuArray, dim: int, place: int) -> NpuArray:
    """With a dimension moved up to a place, and those between down."""
    order = [*range(dim), *range(dim + 1, place + 1), dim, *range(place + 1, array.ndim)]
    shape, strides = [tuple([sizes[each] for each in order]) for sizes in (array.shape, array.strides)]
    return array.part(shape, array.dtype, strides, array.byte_offset)
