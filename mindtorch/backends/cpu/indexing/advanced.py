"""Indexing with tensors: what `index` and `index_put` make of their list of indices.

After `resolve` an index list holds only integer arrays and Nones (whole dimensions), as NumPy's fancy indexing takes
them; NumPy and torch agree on the shape of the result. They don't agree on its strides, nor on the error texts.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core.geometry import contiguous_strides
from mindtorch._core.strided import allocate, strided, strides_of
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import broadcast_to, is_within, may_share_memory, smallest
from mindtorch._support.warnings import warn
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.compiled.choice import IS_ON, RowLoop
from mindtorch.backends.cpu.compiled.scatters import ADD_ROWS
from mindtorch.backends.view_geometry import view_strides

Array = np.ndarray
Indices = Sequence[Array | None]
Loop = Callable[..., Any]

_INT64 = np.dtype(np.int64)

_ALL = slice(None)


def resolve(shape: tuple[int, ...], indices: Indices) -> list[Array | None]:
    """The indices with masks replaced by the places where they are true, checked against the shape of the input."""
    if not indices:
        raise IndexError("at least one index must be provided")
    resolved: list[Array | None] = []
    for index in indices:
        if index is None or index.dtype.char in "li":
            resolved.append(index)
        elif index.dtype.char in "?B":
            resolved += _places(index, shape, len(resolved))
        else:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if len(resolved) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {len(resolved)})")
    if 0 in shape and _picks_from_nothing(shape, resolved):
        raise index_error(shape, resolved)
    return resolved


def _picks_from_nothing(shape: tuple[int, ...], resolved: Indices) -> bool:
    """Whether an index has elements while its dimension has none; NumPy lets that pass when the result is empty."""
    pairs = zip(resolved, shape, strict=False)
    return any(index is not None and index.size and not extent for index, extent in pairs)


def _places(mask: Array, shape: tuple[int, ...], dim: int) -> tuple[Array, ...]:
    if mask.dtype.char == "B":
        warn(
            "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.",
            UserWarning,
        )
    if shape[dim : dim + mask.ndim] != mask.shape:
        raise _mask_mismatch(mask, shape, dim)
    return mask.nonzero() if mask.ndim else ()


def _mask_mismatch(mask: Array, shape: tuple[int, ...], dim: int) -> IndexError:
    pairs = enumerate(zip(mask.shape, shape[dim:], strict=False))
    place = next((place for place, (extent, wanted) in pairs if extent != wanted), max(len(shape) - dim, 0))
    return IndexError(
        f"The shape of the mask {list(mask.shape)} at index {place} does not match the shape of the indexed tensor "
        f"{list(shape)} at index {dim + place}"
    )


def key_of(resolved: Indices) -> tuple[Any, ...]:
    """The subscript for NumPy."""
    return tuple([_ALL if index is None else index for index in resolved])


def pick(input: Array, resolved: Indices) -> Array:
    """A new array with the elements at the indices, laid out as torch does it."""
    try:
        result = np.asarray(input[key_of(resolved)])
    except IndexError:
        check_nothing_is_picked(input.shape, resolved)
        result = np.empty(result_shape(input.shape, resolved), input.dtype)
    sources = (input, result, *[index for index in resolved if index is not None])
    if result.base is None and all(array.flags.c_contiguous for array in sources):
        return result
    copy = allocate(result.shape, _result_strides(input, resolved, result), input.dtype)
    copy[...] = result
    return copy


def check_nothing_is_picked(shape: tuple[int, ...], resolved: Indices) -> None:
    """After NumPy refused: torch does not look at indices when other dimensions make the result empty."""
    try:
        _broadcast_shape(resolved)
    except ValueError:
        raise index_error(shape, resolved) from None
    if 0 not in [extent for dim, extent in enumerate(shape) if dim >= len(resolved) or resolved[dim] is None]:
        raise index_error(shape, resolved)


def index_error(shape: tuple[int, ...], resolved: Indices) -> Exception:
    """Why NumPy refused: indices that don't broadcast, or one that is too large. Other dimensions don't count."""
    used = [(index, extent) for index, extent in zip(resolved, shape, strict=False) if index is not None]
    try:
        np.broadcast_shapes(*[index.shape for index, _ in used])
    except ValueError:
        shapes = ", ".join(str(list(index.shape)) for index, _ in used)
        return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")
    for place, (index, extent) in enumerate(used):
        bad = index[(index < -extent) | (index >= extent)]
        if bad.size and extent:
            return IndexError(f"index {bad.flat[0]} is out of bounds for dimension {place} with size {extent}")
    return IndexError("index is out of bounds for dimension with size 0")


def check_bounds(shape: tuple[int, ...], resolved: Indices) -> None:
    """For writes that compute places themselves, where an index too large would hit another element."""
    for index, extent in zip(resolved, shape, strict=False):
        if index is not None and not is_within(index, -extent, extent):
            raise IndexError


def result_shape(shape: tuple[int, ...], resolved: Indices) -> tuple[int, ...]:
    """The shape of the indexed elements: index dimensions in place, or in front when the indices are not adjacent."""
    return _arranged(resolved, list(shape), list(_broadcast_shape(resolved)))


def _broadcast_shape(resolved: Indices) -> tuple[int, ...]:
    return np.broadcast_shapes(*[index.shape for index in resolved if index is not None])


def _arranged(resolved: Indices, per_dim: list[int], per_index: list[int]) -> tuple[int, ...]:
    """Values of the dimensions that stay, with those of the index dimensions where the index dimensions go."""
    used = [dim for dim, index in enumerate(resolved) if index is not None]
    adjacent = used[-1] - used[0] + 1 == len(used)
    start = used[0] if adjacent else 0
    kept = [value for dim, value in enumerate(per_dim) if dim not in used]
    return (*kept[:start], *per_index, *kept[start:])


def _result_strides(input: Array, resolved: Indices, result: Array) -> tuple[int, ...]:
    """The strides that torch's iterator gives a result: by those of the input, then by those of the indices."""
    shape = result.shape
    indices = np.broadcast_arrays(*[index for index in resolved if index is not None])
    depth = indices[0].ndim
    operands = [strided(input, shape, _arranged(resolved, list(strides_of(input)), [0] * depth))]
    extents = _arranged(resolved, [1] * input.ndim, list(indices[0].shape))
    for index in indices:
        strides = view_strides(index.shape, index.strides, extents, 8) or contiguous_strides(extents, 8)
        kept = [
            0 if extent == 1 != size else stride for stride, extent, size in zip(strides, extents, shape, strict=True)
        ]
        operands.append(strided(index, shape, tuple(kept)))
    strides = iterator.result_layout(operands)[1]
    if strides is None:
        return contiguous_strides(shape, input.itemsize)
    return tuple([stride * input.itemsize for stride in strides])


def add_at(target: Array, key: tuple[Any, ...], values: Array) -> None:
    """target[key] += values, where places that occur several times add up; every part of the key is an array.

    On a one-dimensional array NumPy does this ten times faster.
    """
    if not target.flags.c_contiguous:
        quiet(np.add.at, target, key, values)
        return
    if len(key) == 1 and key[0].shape == values.shape and not (key[0].size and smallest(key[0]) < 0):
        quiet(_add_at_flat, target, key[0].reshape(-1), values.reshape(-1))
        return
    place: Any = None
    step = 1
    for index, extent in zip(reversed(key), reversed(target.shape), strict=True):
        from_front = np.where(index < 0, index + extent, index) if index.size and smallest(index) < 0 else index
        place = from_front if place is None else place + from_front * step
        step *= extent
    values = broadcast_to(values, np.shape(place))
    quiet(_add_at_flat, target.reshape(-1), place.reshape(-1), values.reshape(-1))


_ADD_ROWS = RowLoop(ADD_ROWS)


def compiled_adding(target: Array, dim: int, index: Array, source: Array) -> Loop | None:
    """The compiled loop that adds rows along `dim`, if it can read and write these arrays where they are.

    It does not look whether an index is in range.
    """
    if (loop := _ADD_ROWS.of(target, source)) is None or index.dtype is not _INT64 or not source.size:
        return None
    if source.shape != (*target.shape[:dim], index.size, *target.shape[dim + 1 :]):
        return None
    if index.ndim != 1 or not is_within(index, 0, target.shape[dim]):
        return None
    if not (target.flags.aligned and source.flags.aligned and index.flags.aligned and target.flags.c_contiguous):
        return None
    return None if may_share_memory(target, source) or may_share_memory(target, index) else loop


def _add_at_flat(target: Array, places: Array, values: Array) -> None:
    loop = compiled_adding(target, 0, places, values) if IS_ON and target.ndim == 1 else None
    if loop is None:
        np.add.at(target, places, values)
    else:
        loop(places, values[:, None], target[:, None])


def add_at_exactly(target: Array, key: tuple[Any, ...], values: Array) -> None:
    """The same; numbers of two bytes are added up in float32, and rounded once."""
    wide = widen(target)
    add_at(wide, key, widen(values))
    if wide is not target:
        quiet(np.copyto, target, wide, casting="same_kind")


def open_key(shape: tuple[int, ...], resolved: Indices) -> tuple[Array, ...]:
    """The subscript with an array for every dimension, shaped so that together they broadcast to the result."""
    if len(shape) == len(resolved) == 1 and resolved[0] is not None:
        return (resolved[0],)
    result = result_shape(shape, resolved)
    places = np.broadcast_arrays(*[index for index in resolved if index is not None])
    used = [dim for dim, index in enumerate(resolved) if index is not None]
    labels = _arranged(resolved, list(range(len(shape))), [-1] * places[0].ndim)
    key: list[Array] = []
    for dim, extent in enumerate(shape):
        if dim in used:
            sizes = [size if label == -1 else 1 for label, size in zip(labels, result, strict=True)]
            key.append(places[used.index(dim)].reshape(sizes))
        else:
            key.append(np.arange(extent).reshape([extent if label == dim else 1 for label in labels]))
    return tuple(key)
