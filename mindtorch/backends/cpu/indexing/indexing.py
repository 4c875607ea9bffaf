"""Indexing kernels: elements picked by index or mask, written by index or mask, and the backward of views."""

from collections.abc import Sequence

import numpy as np

from mindtorch import iterator
from mindtorch._core import aligned, geometry
from mindtorch._core.promotion import INT32
from mindtorch._core.strided import allocate
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import broadcast_to, is_within, may_share_memory
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.common.casting import deliver
from mindtorch.backends.cpu.common.checks import check_static_size, not_implemented, scalar_name
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.indexing.advanced import (
    add_at,
    check_bounds,
    check_nothing_is_picked,
    key_of,
    open_key,
    pick,
    resolve,
    result_shape,
)
from mindtorch.backends.cpu.indexing.joining import triangle
from mindtorch.backends.cpu.indexing.rows import add_rows, add_rows_exactly
from mindtorch.backends.cpu.indexing.targets import (
    check_index_rows,
    check_range,
    contiguous_target,
    target_of,
)
from mindtorch.backends.cpu.view import view

Array = np.ndarray

_BOOL = np.dtype(np.bool_)
_INT64 = np.dtype(np.int64)
_INDEX_DTYPES = (_INT64, np.dtype(np.int32))

tril = triangle("tril", keeps_lower=True)
triu = triangle("triu", keeps_lower=False)


# -------------------- index and index_put --------------------


def index(input, indices, out=None):
    if len(indices) == 1 and out is None and input.flags.c_contiguous and (first := indices[0]) is not None:
        if first.dtype is _INT64 and input.ndim and first.ndim and first.flags.c_contiguous:
            try:
                return input.take(first, 0)
            except IndexError:
                pass  # torch's message comes from the general case
        elif first.dtype is _BOOL and first.shape == input.shape:
            return input[first]
    if out is not None and out.dtype != input.dtype:
        raise RuntimeError(
            f"index_out: self ({scalar_name(input)}) and result ({scalar_name(out)}) must have the same scalar type"
        )
    return deliver(pick(input, resolve(input.shape, indices)), out)


def index_put(input, indices, values, accumulate=False, out=None):
    if out is input and values.size == 1 and not accumulate and _is_mask_for_all(indices, input):
        np.putmask(input, indices[0], checked_number(values.item(), input.dtype))
        return input
    if out is input and not accumulate and _is_simple_write(input, indices, values):
        try:
            input[tuple(indices)] = values
            return input
        except IndexError:
            pass  # torch's message comes from the general case
    if out is input:
        iterator.warn_if_expanded(out, "index_put_", "tensor[indices] = tensor")
    if values.size == 1 and not accumulate and _is_one_mask(indices):
        if out is input:
            iterator.warn_if_expanded(out, "masked_fill_", "tensor[mask] = scalar")
        values = checked_number(values.item(), input.dtype)
    elif out is input:
        iterator.check_apart(out, [values, *(index for index in indices if index is not None)])
    resolved = resolve(input.shape, indices)
    target = target_of(input, out)
    try:
        _check_values(input, values, result_shape(input.shape, resolved))
        if accumulate:
            check_bounds(input.shape, resolved)
            add_at(target, open_key(input.shape, resolved), values)
        else:
            target[key_of(resolved)] = values
    except (IndexError, ValueError):
        check_nothing_is_picked(input.shape, resolved)
    return target


def _is_simple_write(input: Array, indices: Sequence[Array | None], values: Array) -> bool:
    """Whether indices of the first dimensions choose what a number, or as many as there are, can be written to."""
    first = indices[0] if indices else None
    if first is None or not input.size or not input.flags.c_contiguous or len(indices) > input.ndim:
        return False
    if values.dtype is not input.dtype or (values.ndim and values.shape != first.shape + input.shape[len(indices) :]):
        return False
    if any([index is None or index.dtype is not _INT64 or index.shape != first.shape for index in indices]):
        return False
    return not any([may_share_memory(input, each) for each in (values, *indices)])


def _is_mask_for_all(indices: Sequence[Array | None], input: Array) -> bool:
    """Whether an index list is a mask for every element, and there is nothing else to look at."""
    mask = indices[0] if len(indices) == 1 else None
    return mask is not None and mask.dtype is _BOOL and mask.shape == input.shape and input.flags.c_contiguous


def _is_one_mask(indices: Sequence[Array | None]) -> bool:
    """Whether an index list is a mask for some dimensions; a mask takes one number of any dtype, as `masked_fill`."""
    given = [index for index in indices if index is not None]
    if len(given) == 1 and given[0].dtype == np.uint8:
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
    return len(given) == 1 and given[0].dtype is _BOOL


def _check_values(input: Array, values: Array, shape: tuple[int, ...]) -> None:
    fits = values.ndim <= len(shape) and all(
        extent in (1, wanted) for extent, wanted in zip(reversed(values.shape), reversed(shape), strict=False)
    )
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )
    if input.dtype != values.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {scalar_name(input)} for the destination "
            f"and {scalar_name(values)} for the source."
        )


# -------------------- along one dimension --------------------


def index_select(input, dim, index, out=None):
    dim = geometry.wrap_dim(dim, input.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in _INDEX_DTYPES:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    _check_same_result("index_select", input, out)
    if out is not None:
        iterator.check_distinct(out)
        iterator.check_apart(out, [input, index])
    if not input.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    extent = input.shape[dim] if input.ndim else 1
    aligned.check_fits((*input.shape[:dim], index.size, *input.shape[dim + 1 :]), input.dtype)
    if index.size and not extent and input.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if not is_within(index, 0, extent):
        raise IndexError("index out of range in self")
    if not input.ndim:
        return deliver(input.copy(), out)
    return deliver(input.take(index.reshape(-1), dim), out)


def index_add(input, dim, index, source, alpha=1, out=None):
    dim = geometry.wrap_dim(dim, input.ndim)
    check_index_rows("index_add_", input, dim, index, source)
    if alpha != 1:
        source = quiet(np.multiply, source, checked_number(alpha, source.dtype))
    target = contiguous_target(input, out, index, source)
    if not input.ndim:
        if not is_within(index, 0, 1):
            raise IndexError("index out of range in self")
        np.add(target, source.reshape(()), out=target)
        return target
    check_range(index, dim, input.shape[dim])
    if input.ndim > 1:
        add_rows_exactly(target, dim, index.reshape(-1), source)
    else:
        quiet(add_rows, target, dim, index.reshape(-1), source)
    return target


# -------------------- masks --------------------


def masked_select(input, mask, out=None):
    if mask.dtype != _BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    _check_same_result("masked_select", input, out)
    if out is not None:
        iterator.check_distinct(out)
        iterator.check_apart(out, (input, mask))
    shape = iterator.broadcast_shapes(mask.shape, input.shape)
    aligned.check_fits(shape, _INT64)  # that is how torch counts them
    if mask.shape != shape:
        mask = broadcast_to(mask, shape)
    if input.shape != shape:
        input = broadcast_to(input, shape)
    return deliver(input[mask], out)


def masked_scatter(input, mask, source, out=None):
    shape = input.shape if out is not None else iterator.broadcast_shapes(mask.shape, input.shape)
    if input.dtype != source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{scalar_name(input)} and {scalar_name(source)}"
        )
    if mask.dtype != _BOOL:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {scalar_name(mask)}")
    if out is not None:
        iterator.check_distinct(out)
        if mask.ndim > len(shape):
            raise view_geometry.too_few_sizes(mask.shape, shape, view.type_name(mask))
        view_geometry.expand(mask.shape, mask.strides, 1, shape)
    target = broadcast_to(input, shape).copy() if out is None else target_of(input, out)
    mask = broadcast_to(mask, shape)
    count = int(np.count_nonzero(mask))
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    target[mask] = source.reshape(-1)[:count]
    return target


def _check_same_result(op: str, input: Array, out: Array | None) -> None:
    if out is not None and out.dtype != input.dtype:
        raise RuntimeError(f"{op}(): self and result must have the same scalar type")


def nonzero(input, out=None):
    """The places of nonzero elements, one per row; torch writes them by columns."""
    if out is not None and out.dtype != _INT64:
        raise RuntimeError(
            f"nonzero: Expected out tensor to have scalar type Long but got scalar type{scalar_name(out)}"
        )
    places = input.nonzero() if input.ndim else ()
    count = len(places[0]) if places else int(bool(input))
    result = allocate((count, len(places)), (_INT64.itemsize, count * _INT64.itemsize), _INT64)
    for column, numbers in enumerate(places):
        result[:, column] = numbers
    return deliver(result, out)


def nonzero_static(input, size, fill_value=-1):
    """The first `size` of these places, filled up where there are fewer."""
    check_static_size(size)
    result = np.full((size, input.ndim), fill_value, _INT64)
    if input.ndim and input.size:
        places = _first_nonzero(input, size)
        result[: places.size] = np.stack(np.unravel_index(places, input.shape), 1)
    return result


def _first_nonzero(input: Array, count: int) -> Array:
    """Numbers of elements in the order of rows; the part that is looked at next is twice as long as the last."""
    elements = input.reshape(-1) if input.flags.c_contiguous else input.flat
    found, missing, start, stop = [np.empty(0, _INT64)], count, 0, 256 + 2 * count
    while missing and start < input.size:
        found.append(np.flatnonzero(elements[start:stop])[:missing] + start)
        missing -= found[-1].size
        start, stop = stop, 3 * stop
    return np.concatenate(found)


def repeat_interleave_numbers(repeats, output_size=None):
    """Each place as often as the number there says; `output_size` is what a program says their sum is."""
    if repeats.dtype not in (_INT64, INT32):
        raise not_implemented("repeat_interleave_cpu", repeats)
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    aligned.check_walk(repeats)
    if output_size is not None and repeats.size and repeats.sum() != output_size:
        raise RuntimeError("allocated size does not match required size")
    if repeats.min(initial=0) < 0:
        raise RuntimeError("repeats can not be negative")
    return np.arange(repeats.size, dtype=repeats.dtype).repeat(repeats)


# -------------------- backward of views --------------------


def select_backward(grad_output, input_sizes, dim, index):
    result = _zeros(input_sizes, grad_output)
    return _written(view.select(result, dim, index), grad_output, result)


def slice_backward(grad_output, input_sizes, dim, start, end, step):
    result = _zeros(input_sizes, grad_output)
    return _written(view.slice(result, dim, start, end, step), grad_output, result)


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    return diagonal_backward(input, view_geometry.diag_embed_shape(input.shape, offset, dim1, dim2), offset, dim1, dim2)


def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    result = _zeros(input_sizes, grad_output)
    return _written(view.diagonal(result, offset, dim1, dim2), grad_output, result)


def _zeros(sizes: Sequence[int], grad: Array) -> Array:
    if min(sizes, default=0) < 0:
        raise RuntimeError("zeros: Dimension size must be non-negative.")
    return aligned.zeros(sizes, grad.dtype)


def _written(part: Array, grad: Array, result: Array) -> Array:
    """The result, of which a part has become the gradient of that part."""
    if part.shape != grad.shape:
        iterator.check_inplace_shape(part, iterator.broadcast_shapes(part.shape, grad.shape))
    part[...] = grad
    return result


def unfold_backward(grad_in, input_sizes, dim, size, step):
    """Every place gets the gradients of all windows that show it; one place of all windows at a time never overlaps."""
    result = aligned.zeros(input_sizes, grad_in.dtype)
    windows = view.unfold(result, dim, size, step)
    if windows.shape != grad_in.shape:
        both = iterator.broadcast_shapes(windows.shape, grad_in.shape)
        iterator.check_inplace_shape(windows, both)
        iterator.check_inplace_shape(grad_in, both)
    for place in range(size):
        shown = windows[..., place]
        quiet(np.add, shown, grad_in[..., place], out=shown)
    return result
