"""View kernels: the same memory with another shape, strides or dtype. They never copy.

NumPy's own views (indexing, transpose) are quickest and right whenever they cannot differ from torch in the strides of
dimensions with one element or of arrays with none; otherwise the geometry comes from `view_geometry`.
"""

import builtins
from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch._core import aligned, geometry
from mindtorch._core.batched_array import BatchedArray, level_numbered
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.strided import Array, laid_out, storage_of, strided, strides_of
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.common.casting import copy_into, deliver_same
from mindtorch.iterator import check_distinct, is_expanded

_ALL = builtins.slice(None)


def alias(input):
    return input.view() if input.size else _known(input).view()


# -------------------- view and reshape --------------------


def view(input, size):
    if input.flags.c_contiguous and 1 not in input.shape:
        try:
            shown = input.reshape(size)
        except ValueError:
            pass  # torch's message comes from the geometry
        else:
            if shown.shape == size or -1 in size:  # NumPy takes any negative number for -1
                return shown
    return _strided_by(view_geometry.view, input, tuple(size))


def unsafe_view(input, size):
    return view(input, size)


def view_dtype(input, dtype):
    wanted = dtype.numpy
    if wanted.itemsize == input.itemsize:
        return _known(input).view(wanted)
    names = f"{FROM_NUMPY[input.dtype].storage_name} as {dtype.storage_name}"
    unit, strides = input.itemsize, strides_of(input)
    if wanted.itemsize < unit:
        shown = view_geometry.view_narrower(input.shape, strides, unit, wanted.itemsize, names)
    else:
        shown = view_geometry.view_wider(input.shape, strides, unit, wanted.itemsize, _offset(input), names)
    return strided(input, *shown, wanted)


def view_as_real(input):
    if input.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    part = np.dtype(f"f{input.itemsize // 2}")
    return strided(input, *view_geometry.view_real(input.shape, strides_of(input), input.itemsize), part)


def view_as_complex(input):
    if input.dtype.char not in "fd":
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{FROM_NUMPY[input.dtype].storage_name}"
        )
    shown = view_geometry.view_complex(input.shape, strides_of(input), input.itemsize, _offset(input))
    return strided(input, *shown, np.dtype(f"c{input.itemsize * 2}"))


# -------------------- dimensions moved, added and removed --------------------


def transpose(input, dim0, dim1):
    try:
        return _known(input).swapaxes(dim0, dim1)
    except (ValueError, OverflowError):
        return _strided_by(view_geometry.transpose, input, dim0, dim1)


def t(input):
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return _known(input).transpose()


def permute(input, dims):
    known = input if input.size else _known(input)
    return known.transpose(view_geometry.permutation(tuple(dims), input.ndim))


def expand(input, size, implicit=False):
    if len(size) < input.ndim:
        raise view_geometry.too_few_sizes(input.shape, size, type_name(input))
    return _strided_by(view_geometry.expand, input, tuple(size))


def squeeze(input):
    return _without(input, range(input.ndim))


def squeeze_dim(input, dim):
    shape = input.shape
    if not (type(dim) is int and 0 <= dim < len(shape)):
        dim = geometry.wrap_dim(dim, len(shape))
    if shape[dim:] and shape[dim] == 1 and input.size:
        return input[(*(_ALL,) * dim, 0, ...)]
    return _without(input, (dim,))


def squeeze_dims(input, dim):
    return _without(input, geometry.wrap_dims(dim, input.ndim))


def unsqueeze(input, dim):
    shape = input.shape
    if 0 <= dim <= len(shape) and input.flags.c_contiguous and 1 not in shape and 0 not in shape:
        return input.reshape((*shape[:dim], 1, *shape[dim:]))
    return _strided_by(view_geometry.unsqueeze, input, dim)


def _without(input: Array, dims: Any) -> Array:
    """Drops those of `dims` that have one element, by indexing with 0, which keeps the other strides."""
    shape = input.shape
    known = input if input.size else _known(input)
    if 1 not in shape:
        return known.view()
    index = [0 if extent == 1 and dim in dims else _ALL for dim, extent in enumerate(shape)]
    return known[(*index, ...)]


# -------------------- parts --------------------


def select(input, dim, index):
    if dim == 0:
        try:
            return input[index, ...]
        except IndexError:
            pass  # torch's message comes from the geometry
    return _strided_by(view_geometry.select, input, dim, index) if input.size == 0 else _select(input, dim, index)


def _select(input: Array, dim: int, index: int) -> Array:
    view_geometry.select(input.shape, input.strides, 1, dim, index)  # raises for a bad index
    before = geometry.wrap_dim(dim, input.ndim)
    return input[(*(_ALL,) * before, index, ...)]


_LONG = 1 << 31  # from here on, a step may be one that NumPy does not count in bytes, and it would not tell


def slice(input, dim=0, start=None, end=None, step=1):
    if 0 < step < _LONG and 0 <= dim < input.ndim and input.size:
        part = input[start:end:step] if dim == 0 else input[(*(_ALL,) * dim, builtins.slice(start, end, step))]
        if part.shape[dim]:  # NumPy forgets the step and the start of an empty slice
            return part
    return _strided_by(view_geometry.slice, input, dim, start, end, step)


def split(input, split_size, dim=0):
    return _parts(input, view_geometry.equal_parts(input.shape, split_size, dim), dim)


def split_with_sizes(input, split_sizes, dim=0):
    view_geometry.check_parts(input.shape, split_sizes, dim)
    return _parts(input, split_sizes, dim)


def _parts(input: Array, sizes: Any, dim: int) -> tuple[Array, ...]:
    parts = []
    start = 0
    for size in sizes:
        parts.append(slice(input, dim, start, start + size))
        start += size
    return tuple(parts)


def unbind(input, dim=0):
    dim = view_geometry.unbind_dim(input.shape, geometry.wrap_dim(dim, input.ndim))
    aligned.check_tensors_fit(input.shape[dim])
    if input.size == 0:
        return tuple([_strided_by(view_geometry.select, input, dim, index) for index in range(input.shape[dim])])
    before = (_ALL,) * dim
    return tuple([input[(*before, index, ...)] for index in range(input.shape[dim])])


# -------------------- windows and diagonals --------------------


def diagonal(input, offset=0, dim1=0, dim2=1):
    return _strided_by(view_geometry.diagonal, input, offset, dim1, dim2)


def unfold(input, dimension, size, step):
    return _strided_by(view_geometry.unfold, input, dimension, size, step)


def as_strided(input, size, stride, storage_offset=None):
    storage, start = storage_of(input)
    unit = input.itemsize
    offset = start // unit if storage_offset is None else storage_offset
    view_geometry.as_strided(size, stride, offset, unit, storage.nbytes)
    return strided(storage, tuple(size), tuple([each * unit for each in stride]), offset * unit, input.dtype)


def as_strided_plain(input, size, stride):
    return as_strided(input, size, stride)


# -------------------- parts replaced --------------------


def select_scatter(input, src, dim, index):
    return _replaced(input, src, select, dim, index)


def slice_scatter(input, src, dim=0, start=None, end=None, step=1, out=None):
    result = _replaced(input, src, slice, dim, start, end, step)
    return result if out is None else deliver_same(laid_out(result, None), out)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    return _replaced(input, src, diagonal, offset, dim1, dim2)


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    return _replaced(input, src, as_strided, size, stride, storage_offset)


def _replaced(input: Array, src: Array, view_of: Any, *args: Any) -> Array:
    """A copy of the input in which the elements that a view shows are those of `src`."""
    result = _copy_in_place(input)
    part = view_of(result, *args)
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. "
            f"src size = {list(src.shape)}, slice size = {list(part.shape)}"
        )
    check_distinct(part)
    copy_into(part, src)
    return result


def _copy_in_place(input: Array) -> Array:
    """A copy that lies in a copied storage as the input lies in its own; a dense copy of an expanded input."""
    if is_expanded(input):
        return laid_out(input, geometry.preserved_strides(input.shape, geometry.strides_of(input)))
    storage, start = storage_of(input)
    return strided(storage.copy(), input.shape, strides_of(input), start, input.dtype)


# -------------------- the general case --------------------


def _known(input: Array) -> Array:
    """The array with strides that its views inherit. NumPy gives a new array without elements zeros for strides."""
    return input if input.size else strided(input, input.shape, strides_of(input))


def _strided_by(geometry_of: Any, input: Array, *args: Any) -> Array:
    if input.flags.c_contiguous and input.size and input.dtype.kind != "V":  # then it is the buffer of its views
        shape, strides, offset = _geometry(geometry_of, input.shape, input.strides, input.itemsize, *args)
        try:
            return np.ndarray(shape, input.dtype, input, offset, strides)
        except (TypeError, ValueError):
            pass
    return strided(input, *_geometry(geometry_of, input.shape, strides_of(input), input.itemsize, *args))


@lru_cache(maxsize=4096)
def _geometry(geometry_of: Any, *args: Any) -> view_geometry.Geometry:
    """Programs take the same views again and again."""
    return geometry_of(*args)


def _offset(input: Array) -> int:
    """Where the input starts in its storage, in bytes."""
    return storage_of(input)[1]


def type_name(input: Array) -> str:
    """The name torch gives the tensor's type in the messages of expand."""
    name = FROM_NUMPY[input.dtype].storage_name
    return f"CPU{name}Type" if name in _UNNAMED_TYPES else f"torch.{name}Tensor"


_UNNAMED_TYPES = ("Bool", "BFloat16", "ComplexFloat", "ComplexDouble", "UInt16", "UInt32", "UInt64")


# -------------------- vmap --------------------


def add_batch_dim(input, batch_dim, level):
    """Hides a dimension: what is left is one sample to look at."""
    return BatchedArray(input, batch_dim, level_numbered(level))


def spread_over_level(input, level):
    """The same sample as often as the level has samples."""
    found = level_numbered(level)
    return BatchedArray(expand(input, (found.size, *input.shape)), 0, found)


def remove_batch_dim(input, level, batch_size, out_dim):
    """Of an array that is not batched at the level, a gradient of zeros say: each sample gets its own."""
    return np.expand_dims(input, out_dim).repeat(batch_size, out_dim)
