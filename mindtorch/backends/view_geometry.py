"""Shapes, strides and offsets of views: pure functions over tuples of ints, the same for every kind of array.

Strides and offsets count in any unit the caller likes, bytes or elements; `unit` is the size of one element in it.
The functions named after a view op return the `(shape, strides, offset)` of the view, where `offset` is the distance
from the first element of the input to the first of the view, and raise torch's errors for bad arguments.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

from mindtorch._core import aligned
from mindtorch._core.geometry import contiguous_strides, wrap_dim, wrap_dims
from mindtorch._support import errors

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]
Ints = Sequence[int]


# -------------------- view and reshape --------------------


def infer_size(size: Ints, numel: int) -> tuple[int, ...]:
    """`size` with its -1 replaced by what makes it hold `numel` elements."""
    free = None
    known = 1
    for position, extent in enumerate(size):
        if extent == -1:
            if free is not None:
                raise RuntimeError("only one dimension can be inferred")
            free = position
        elif extent < 0:
            raise RuntimeError(f"invalid shape dimension {extent} at index {position} of shape {list(size)}")
        else:
            known *= extent
    if free is None and known == numel:
        return tuple(size)
    if free is None or (known and numel % known) or (not known and numel):
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")
    if not known:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous"
        )
    return (*size[:free], numel // known, *size[free + 1 :])


def view_strides(shape: Ints, strides: Ints, size: Ints, unit: int = 1) -> tuple[int, ...] | None:
    """The strides that show an array of `shape` and `strides` as `size` without a copy; None when there are none.

    Memory falls into chunks, runs of dimensions that could be one; each new dimension must lie inside a chunk.
    """
    return _view_strides(tuple(shape), tuple(strides), tuple(size), unit)


@lru_cache(maxsize=4096)
def _view_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], size: tuple[int, ...], unit: int
) -> tuple[int, ...] | None:
    if 0 in shape:
        return tuple(strides) if tuple(shape) == tuple(size) else contiguous_strides(size, unit)
    if not shape:
        return (unit,) * len(size)
    result = [0] * len(size)
    position = len(size) - 1
    chunk_stride, chunk_numel, viewed = strides[-1], 1, 1
    for dim in range(len(shape) - 1, -1, -1):
        chunk_numel *= shape[dim]
        if dim and (shape[dim - 1] == 1 or strides[dim - 1] == chunk_numel * chunk_stride):
            continue
        while position >= 0 and (viewed < chunk_numel or size[position] == 1):
            result[position] = viewed * chunk_stride
            viewed *= size[position]
            position -= 1
        if viewed != chunk_numel:
            return None
        if dim:
            chunk_stride, chunk_numel, viewed = strides[dim - 1], 1, 1
    return tuple(result) if position == -1 else None


def view(shape: Ints, strides: Ints, unit: int, size: Ints) -> Geometry:
    size = infer_size(size, prod(shape))
    new_strides = view_strides(shape, strides, size, unit)
    if new_strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return size, new_strides, 0


# -------------------- dimensions moved, added and removed --------------------


def transpose(shape: Ints, strides: Ints, unit: int, dim0: int, dim1: int) -> Geometry:
    order = list(range(len(shape)))
    first, second = wrap_dim(dim0, len(shape)), wrap_dim(dim1, len(shape))
    if order:
        order[first], order[second] = second, first
    return _permuted(shape, strides, order)


def permute(shape: Ints, strides: Ints, unit: int, dims: Ints) -> Geometry:
    return _permuted(shape, strides, permutation(tuple(dims), len(shape)))


def permutation(dims: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """`dims` as a checked permutation of `range(ndim)`."""
    return _permutation(dims, ndim, tuple(map(type, dims)))


@lru_cache(maxsize=1024)
def _permutation(dims: tuple[int, ...], ndim: int, types: tuple[type, ...]) -> tuple[int, ...]:
    """`types`: as what is remembered is found by equality, and True, which is refused later, equals 1."""
    if len(dims) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    wrapped = [wrap_dim(dim, ndim) for dim in dims]
    if len(set(wrapped)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return tuple(wrapped)


def _permuted(shape: Ints, strides: Ints, order: Ints) -> Geometry:
    return tuple([shape[dim] for dim in order]), tuple([strides[dim] for dim in order]), 0


def too_few_sizes(shape: Ints, size: Ints, type_name: str) -> RuntimeError:
    """expand takes a size for each dimension or more; `type_name` is the legacy name of the tensor's type."""
    return RuntimeError(
        f"expand({type_name}{{{list(shape)}}}, size={list(size)}): the number of sizes provided ({len(size)}) must be "
        f"greater or equal to the number of dimensions in the tensor ({len(shape)})"
    )


def expand(shape: Ints, strides: Ints, unit: int, size: Ints) -> Geometry:
    if not shape and -1 not in size:
        return tuple(size), (0,) * len(size), 0
    new = len(size) - len(shape)
    new_shape, new_strides = [0] * len(size), [0] * len(size)
    for dim in range(len(size) - 1, -1, -1):
        if dim >= new:
            extent, stride = shape[dim - new], strides[dim - new]
        else:
            extent, stride = 1, new_shape[dim + 1] * new_strides[dim + 1] if shape else 0
        wanted = _expanded_extent(shape, size, dim, extent, is_new=dim < new)
        new_shape[dim] = wanted
        new_strides[dim] = stride if wanted == extent else 0
    return tuple(new_shape), tuple(new_strides), 0


def _expanded_extent(shape: Ints, size: Ints, dim: int, extent: int, is_new: bool) -> int:
    wanted = size[dim]
    if wanted == -1:
        if is_new:
            raise RuntimeError(
                "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension " f"{dim}"
            )
        return extent
    if wanted != extent and (extent != 1 or wanted < 0):
        raise RuntimeError(
            f"The expanded size of the tensor ({wanted}) must match the existing size ({extent}) at non-singleton "
            f"dimension {dim}.  Target sizes: {list(size)}.  Tensor sizes: {list(shape)}"
        )
    return wanted


def squeeze(shape: Ints, strides: Ints, unit: int) -> Geometry:
    return _without(shape, strides, range(len(shape)))


def squeeze_dim(shape: Ints, strides: Ints, unit: int, dim: int) -> Geometry:
    return _without(shape, strides, (wrap_dim(dim, len(shape)),))


def squeeze_dims(shape: Ints, strides: Ints, unit: int, dims: Ints) -> Geometry:
    return _without(shape, strides, wrap_dims(dims, len(shape)))


def _without(shape: Ints, strides: Ints, dims: Ints) -> Geometry:
    """Drops those of `dims` that have one element."""
    kept = [dim for dim, extent in enumerate(shape) if extent != 1 or dim not in dims]
    return _permuted(shape, strides, kept)


def unsqueeze(shape: Ints, strides: Ints, unit: int, dim: int) -> Geometry:
    dim = wrap_dim(dim, len(shape) + 1)
    stride = shape[dim] * strides[dim] if dim < len(shape) else unit
    return (*shape[:dim], 1, *shape[dim:]), (*strides[:dim], stride, *strides[dim:]), 0


# -------------------- parts --------------------


def select(shape: Ints, strides: Ints, unit: int, dim: int, index: int) -> Geometry:
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(shape))
    extent = shape[dim]
    if not -extent <= index < extent:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}")
    offset = (index + extent if index < 0 else index) * strides[dim]
    return (*shape[:dim], *shape[dim + 1 :]), (*strides[:dim], *strides[dim + 1 :]), offset


def slice_bounds(extent: int, start: int | None, end: int | None) -> tuple[int, int]:
    """`start` and `end` of a slice, counted from the front and clamped to the dimension."""
    start = 0 if start is None else start + extent if start < 0 else start
    end = extent if end is None else end + extent if end < 0 else end
    start = min(max(start, 0), extent)
    return start, min(max(end, start), extent)


def slice(
    shape: Ints, strides: Ints, unit: int, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Geometry:
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(shape))
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    start, end = slice_bounds(shape[dim], start, end)
    extent = (end - start + step - 1) // step
    return (
        (*shape[:dim], extent, *shape[dim + 1 :]),
        (*strides[:dim], strides[dim] * step, *strides[dim + 1 :]),
        start * strides[dim],
    )


def equal_parts(shape: Ints, split_size: int, dim: int) -> list[int]:
    """The sizes of the parts that split(split_size, dim) makes."""
    _check_splittable(shape, "split")
    if not -(2**63) <= split_size < 2**63:
        raise errors.unpacking_overflow()
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    extent = shape[wrap_dim(dim, len(shape))]
    if not extent:
        return [0]
    if not split_size:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {extent}")
    full, rest = divmod(extent, split_size)
    aligned.check_tensors_fit(full)
    return [split_size] * full + ([rest] if rest else [])


def check_parts(shape: Ints, split_sizes: Ints, dim: int) -> None:
    """The sizes given to split_with_sizes add up to the dimension."""
    _check_splittable(shape, "split")
    extent = shape[wrap_dim(dim, len(shape))]
    if any(part < 0 for part in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != extent:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {extent} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(split_sizes)}"
        )


def _check_splittable(shape: Ints, op: str) -> None:
    if not shape:
        raise RuntimeError(f"{op} expects at least a 1-dimensional tensor")


def unbind_dim(shape: Ints, dim: int) -> int:
    """The dimension that unbind takes apart."""
    wrap_dim(dim, len(shape))
    return sized_dim(shape, dim)


def sized_dim(shape: Ints, dim: int) -> int:
    """The dimension whose size is asked for."""
    if not shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, len(shape))


# -------------------- windows and diagonals --------------------


def diagonal(shape: Ints, strides: Ints, unit: int, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Geometry:
    first, second = wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape))
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if not -(2**63) <= offset < 2**63:
        raise errors.unpacking_overflow()
    rows, columns = shape[first] - max(-offset, 0), shape[second] - max(offset, 0)
    length = max(min(rows, columns), 0)
    start = offset * strides[second] if offset >= 0 else -offset * strides[first]
    kept = [dim for dim in range(len(shape)) if dim not in (first, second)]
    new_shape, new_strides, _ = _permuted(shape, strides, kept)
    return (*new_shape, length), (*new_strides, strides[first] + strides[second]), start if length else 0


def diag_embed_shape(shape: Ints, offset: int, dim1: int, dim2: int) -> tuple[int, ...]:
    """The shape of an array of matrices whose diagonals are the last dimension."""
    ndim = len(shape) + 1
    first, second = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    *result, length = shape
    for dim in sorted((first, second)):
        result.insert(dim, length + abs(offset))
    return tuple(result)


def unfold(shape: Ints, strides: Ints, unit: int, dimension: int, size: int, step: int) -> Geometry:
    dim = wrap_dim(dimension, len(shape))
    extent, stride = (shape[dim], strides[dim]) if shape else (1, unit)
    if size > extent:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {extent} but size is {size}")
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not shape:
        return (size,), (unit,), 0
    windows = (extent - size) // step + 1
    return (
        (*shape[:dim], windows, *shape[dim + 1 :], size),
        (*strides[:dim], step * stride, *strides[dim + 1 :], stride),
        0,
    )


def as_strided(size: Ints, stride: Ints, offset: int, unit: int, storage_bytes: int) -> None:
    """Checks that a view of `size` and `stride` (in elements) from element `offset` lies inside its storage."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if min(stride, default=0) < 0:
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if min(size, default=0) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if 0 in size:
        return
    last = sum((extent - 1) * step for extent, step in zip(size, stride, strict=True))
    needed = (last + 1) * unit
    if needed >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if needed + offset * unit > storage_bytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {unit} "
            f"requiring a storage size of {needed + offset * unit} are out of bounds for storage of size "
            f"{storage_bytes}"
        )


# -------------------- views of the same bytes as another dtype --------------------


def view_real(shape: Ints, strides: Ints, unit: int) -> Geometry:
    """A complex array as real numbers; `strides` and `unit` are in bytes, as for all reinterpreting views."""
    return (*shape, 2), (*strides, unit // 2), 0


def view_complex(shape: Ints, strides: Ints, unit: int, offset: int) -> Geometry:
    """Pairs of real numbers in the last dimension as complex ones; `offset` is that of the input in its storage."""
    if not shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if strides[-1] != unit:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % (2 * unit) for stride, extent in zip(strides[:-1], shape[:-1], strict=True) if extent != 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if offset % (2 * unit):
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return tuple(shape[:-1]), tuple([stride // (2 * unit) * (2 * unit) for stride in strides[:-1]]), 0


def view_wider(shape: Ints, strides: Ints, unit: int, wide: int, offset: int, names: str) -> Geometry:
    """Elements of `unit` bytes as elements of `wide` bytes; `names` is "Float as Double", for the messages."""
    ratio = wide // unit
    _check_has_dims(shape, names)
    _check_divisible("size(-1)", shape[-1], ratio, names)
    _check_divisible("storage_offset()", offset // unit, ratio, names)
    _check_last_stride(strides, unit, names)
    for dim, stride in enumerate(strides[:-1]):
        _check_divisible(f"stride({dim})", stride // unit, ratio, names)
    return (*shape[:-1], shape[-1] // ratio), (*strides[:-1], wide), 0


def view_narrower(shape: Ints, strides: Ints, unit: int, narrow: int, names: str) -> Geometry:
    """Elements of `unit` bytes as elements of `narrow` bytes."""
    _check_has_dims(shape, names)
    _check_last_stride(strides, unit, names)
    return (*shape[:-1], shape[-1] * (unit // narrow)), (*strides[:-1], narrow), 0


def _check_has_dims(shape: Ints, names: str) -> None:
    if not shape:
        raise RuntimeError(f"self.dim() cannot be 0 to view {names} (different element sizes)")


def _check_last_stride(strides: Ints, unit: int, names: str) -> None:
    if strides[-1] != unit:
        raise RuntimeError(
            f"self.stride(-1) must be 1 to view {names} (different element sizes), but got {strides[-1] // unit}"
        )


def _check_divisible(what: str, value: int, ratio: int, names: str) -> None:
    if value % ratio:
        raise RuntimeError(
            f"self.{what} must be divisible by {ratio} to view {names} (different element sizes), but got {value}"
        )


def check_joinable(arrays: Sequence[Any]) -> None:
    """What is joined has dimensions, along one of which it is."""
    for place, array in enumerate(arrays):
        if not array.shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")


def joined_shape(arrays: Sequence[Any], dim: int) -> tuple[tuple[int, ...], int]:
    """What arrays with dimensions are together, and which dimension they are joined along.

    Empty ones of one dimension are passed over, whatever the shape of the others.
    """
    first = next((array.shape for array in arrays if array.shape != (0,)), None)
    if first is None:
        return (0,), 0
    dim = wrap_dim(dim, len(first))
    total = 0
    for place, array in enumerate(arrays):
        if array.shape != (0,):
            _check_joined(array.shape, first, dim, place)
            total += array.shape[dim]
    return (*first[:dim], total, *first[dim + 1 :]), dim


def _check_joined(shape: Ints, first: Ints, dim: int, place: int) -> None:
    if len(shape) != len(first):
        raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
    for each, (extent, wanted) in enumerate(zip(shape, first, strict=True)):
        if each != dim and extent != wanted:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {wanted} but got size "
                f"{extent} for tensor number {place} in the list."
            )
