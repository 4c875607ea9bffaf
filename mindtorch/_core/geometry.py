"""Shapes and strides of arrays: pure functions over tuples of ints, and over anything that has NumPy's attributes.

Over tuples, strides count in any unit the caller likes, bytes or elements; `unit` is the size of one element in it.
NumPy's own strides are bytes, torch's are elements: `strides_of` is the one place that converts.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any

from mindtorch._core.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from mindtorch._support import errors

Ints = Sequence[int]


# -------------------- dimensions and sizes --------------------


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front. A 0-dim tensor counts as having one dimension."""
    bound = ndim or 1
    if 0 <= dim < bound:
        return dim
    if -bound <= dim < 0:
        return dim + bound
    raise errors.dim_out_of_range(dim, ndim)


def wrap_dims(dims: Ints, ndim: int) -> list[int]:
    """`dims` counted from the front; none may occur twice."""
    if len(dims) == 1:
        return [wrap_dim(dims[0], ndim)]
    wrapped = [wrap_dim(dim, ndim) for dim in dims]
    for dim in wrapped:
        if wrapped.count(dim) > 1:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return wrapped


def check_sizes(size: Ints) -> None:
    """Sizes of a new tensor may not be negative."""
    for extent in size:
        if extent < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {extent}: {list(size)}")


# -------------------- sizes that can be counted --------------------

MOST = (1 << 63) - 1  # bytes or elements
MOST_DIMS = 64  # of NumPy's arrays


def check_numel(shape: Ints) -> None:
    """The elements of a tensor are counted, from the first extent on, by an int64, for which negative ones are huge."""
    numel = 1
    for extent in shape:
        numel *= extent
        if not 0 <= numel <= MOST:
            raise errors.numel_overflow()


def check_room(shape: Ints, itemsize: int) -> None:
    """The bytes of a new row-major array are counted, from the first extent on, by an int64."""
    nbytes = itemsize
    for extent in shape:
        nbytes *= extent
        if nbytes > MOST:
            raise errors.storage_overflow(shape)


def check_strided_room(shape: Ints, strides: Ints, itemsize: int) -> None:
    """The same for an array with strides, which are in elements."""
    if 0 not in shape and extent_of(shape, strides) * itemsize > MOST:
        raise errors.storage_overflow(shape, strides)


def check_countable(shape: Ints, strides: Ints, itemsize: int) -> None:
    """NumPy counts the bytes of views, too, as if an extent of 0 were 1 and whatever the strides (in elements)."""
    check_numel(shape)
    if max(prod([extent for extent in shape if extent]), *strides) * itemsize > MOST:
        raise errors.storage_overflow(shape, strides)


# -------------------- strides --------------------


def contiguous_strides(shape: Ints, unit: int = 1) -> tuple[int, ...]:
    """The strides of a row-major array; an extent of 0 counts as 1."""
    return _contiguous_strides(tuple(shape), unit)


@lru_cache(maxsize=4096)
def _contiguous_strides(shape: tuple[int, ...], unit: int) -> tuple[int, ...]:
    strides = []
    for extent in reversed(shape):
        strides.append(unit)
        if extent > 1:
            unit *= extent
    return tuple(reversed(strides))


def channels_last_strides(shape: Ints, unit: int = 1) -> tuple[int, ...]:
    """Strides of an image batch (N, C, ...) whose channels lie next to each other."""
    return strides_in_order(shape, channels_last_order(len(shape)), unit)


def channels_last_order(ndim: int) -> tuple[int, ...]:
    """The dimensions, innermost first."""
    return (1, *range(ndim - 1, 1, -1), 0)


@lru_cache(maxsize=4096)
def is_like_channels_last(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the dimensions lie in memory in the order channels, width, height, (depth,) batch, gaps allowed."""
    if strides[1] == 0 or 0 in shape:
        return False
    least = 0
    for dim in channels_last_order(len(shape)):
        # N11W and the like, where batch and channels have one stride, count as row-major.
        if strides[dim] < least or (dim == 0 and least == strides[1]):
            return False
        least = strides[dim] * max(shape[dim], 1)
    return True


def strides_in_order(shape: Ints, order: Ints, unit: int = 1) -> tuple[int, ...]:
    """Strides without gaps when memory is walked with the dimensions of `order`, innermost first."""
    strides = [0] * len(shape)
    for dim in order:
        strides[dim] = unit
        unit *= shape[dim]
    return tuple(strides)


def transformed_strides(
    shape: Ints, strides: Ints, dims: Ints, last: int | None = None, unit: int = 1
) -> tuple[int, ...]:
    """The strides of a Fourier transform's result, from those of its input: the transformed dimensions are innermost.

    Each group lies as it lay in memory; `last` is the dimension that is halved, which comes last of all.
    """
    groups = ([dim for dim in range(len(shape)) if dim not in (*dims, last)], [dim for dim in dims if dim != last])
    order = [dim for group in groups for dim in sorted(group, key=lambda dim: -strides[dim])]
    return strides_in_order(shape, [*order, *([] if last is None else [last])][::-1], unit)


def check_transformed_dims(shape: Ints, dims: Ints) -> None:
    """torch takes for granted that the dimensions are counted from the front, each once, and reads elsewhere if not."""
    if len({*dims}) < len(dims):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    for dim in dims:
        if not 0 <= dim < len(shape):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [0, {len(shape) - 1}], but got {dim})"
            )


def is_dense_in_order(shape: Ints, strides: Ints, order: Iterable[int], unit: int = 1) -> bool:
    """Whether memory is walked without gaps by the dimensions of `order`, innermost first; extents of 1 don't count."""
    for dim in order:
        if shape[dim] != 1:
            if strides[dim] != unit:
                return False
            unit *= shape[dim]
    return True


def is_contiguous(shape: Ints, strides: Ints, unit: int = 1) -> bool:
    """Whether the elements lie in memory in row-major order without gaps."""
    return 0 in shape or is_dense_in_order(shape, strides, range(len(shape) - 1, -1, -1), unit)


def is_non_overlapping_and_dense(shape: Ints, strides: Ints, unit: int = 1) -> bool:
    """Whether some order of the dimensions makes the array row-major and without gaps."""
    if is_contiguous(shape, strides, unit):
        return True
    order = sorted((dim for dim, extent in enumerate(shape) if extent > 1), key=strides.__getitem__)
    return is_dense_in_order(shape, strides, order, unit)


def may_overlap(shape: Ints, strides: Ints) -> bool:
    """Whether some elements may lie at one place in memory; there are none if it says no."""
    reach = 1
    for stride, extent in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False


def extent_of(shape: Ints, strides: Ints) -> int:
    """How many elements of memory lie from the first element to the last; none of the extents is 0."""
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def preserved_strides(shape: Ints, strides: Ints, unit: int = 1) -> tuple[int, ...]:
    """The strides of a new array that is laid out like this one (memory_format=torch.preserve_format)."""
    if is_non_overlapping_and_dense(shape, strides, unit):
        return tuple(strides)
    return strides_in_order(shape, memory_order(shape, strides), unit)


def memory_order(shape: Ints, *all_strides: Ints) -> list[int]:
    """The dimensions, innermost first, as torch sorts them for arrays that are walked together.

    The first strides that can tell two dimensions apart decide: a stride of 0 cannot, and equal ones are told apart by
    size. The sort must be this insertion sort, because the comparison is no total order.
    """
    order = list(range(len(shape)))[::-1]
    for i in range(1, len(order)):
        right = i
        for left in range(i - 1, -1, -1):
            comparison = _compare(shape, all_strides, order[left], order[right])
            if comparison > 0:
                order[left], order[right] = order[right], order[left]
                right = left
            elif comparison < 0:
                break
    return order


def _compare(shape: Ints, all_strides: Sequence[Ints], inner: int, outer: int) -> int:
    """Positive when `inner` should lie outside `outer`, negative when not, 0 when the strides cannot tell."""
    for strides in all_strides:
        a, b = strides[inner], strides[outer]
        if a == 0 or b == 0:
            continue
        if a != b:
            return a - b
        if shape[inner] > shape[outer]:
            return 1
    return 0


# -------------------- arrays --------------------


def strides_of(array: Any) -> tuple[int, ...]:
    """An array's strides in elements."""
    strides = array.strides
    if array.size == 0 and not any(strides):  # NumPy gives every empty array strides of 0
        return contiguous_strides(array.shape)
    return _in_elements(strides, array.itemsize)


@lru_cache(maxsize=4096)
def _in_elements(strides: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple([stride // itemsize for stride in strides])


def has_format(array: Any, format: memory_format = contiguous_format) -> bool:
    """Whether the elements lie in memory in the order of `format`, without gaps."""
    if format is contiguous_format or format is preserve_format:
        return array.flags.c_contiguous
    ndim = array.ndim
    return ndim == _NDIM[format] and is_dense_in_order(array.shape, strides_of(array), channels_last_order(ndim))


_NDIM = {channels_last: 4, channels_last_3d: 5}


def suggested_format(array: Any) -> memory_format:
    """The format that the strides look like. Where several fit, as with one channel, they decide as torch lets them."""
    format = LAST_FORMATS.get(array.ndim)
    # A plain tuple: the shape of a batched array has the levels of `vmap`, which the table of answers would keep alive.
    return format if format and is_like_channels_last(tuple(array.shape), strides_of(array)) else contiguous_format


LAST_FORMATS = {ndim: format for format, ndim in _NDIM.items()}


def dim_order(array: Any) -> tuple[tuple[int, ...], bool]:
    """The dimensions as they lie in memory, outermost first, and whether there is no other such order."""
    shape, strides = array.shape, strides_of(array)
    is_row_major, is_last = has_format(array), has_format(array, channels_last)
    if array.ndim < 2 or (is_row_major and not is_last):
        return tuple(range(array.ndim)), True
    if is_last and not is_row_major:
        return channels_last_order(array.ndim)[::-1], True
    order = memory_order(shape, strides)
    is_certain = all(_compare(shape, (strides,), inner, outer) < 0 for inner, outer in pairwise(order))
    return tuple(order[::-1]), is_certain


def is_dense(array: Any) -> bool:
    """Whether some order of the dimensions makes the array contiguous."""
    flags = array.flags
    return flags.c_contiguous or flags.f_contiguous or is_non_overlapping_and_dense(array.shape, strides_of(array))
