"""Concatenation and repetition, and rearrangements of elements along dimensions: flip, roll, triangles of matrices."""

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

import numpy as np

from mindtorch import iterator
from mindtorch._core import aligned, geometry
from mindtorch._core.dtype import ALL_DTYPES, FROM_NUMPY
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.promotion import FLOAT, can_convert, promote
from mindtorch._core.strided import allocate, empty_like
from mindtorch._support import errors
from mindtorch._support.numpy_functions import concatenate, copyto
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.common.casting import cast, deliver, deliver_same
from mindtorch.backends.cpu.view.view import slice as slice_of
from mindtorch.backends.cpu.view.view import unsqueeze, view

Array = np.ndarray

# -------------------- concatenation --------------------


def cat(tensors, dim=0, out=None):
    if out is not None and tensors and iterator.is_at_hand(out, out.shape, FLOAT, tensors):
        if all([each.dtype is FLOAT for each in tensors]):
            try:
                return concatenate(tensors, dim, out)
            except (ValueError, TypeError):
                pass  # also if that is not the shape of the result
    if out is None and tensors and tensors[0].dtype is FLOAT and (tensors[0].ndim < 4 or _is_no_image(tensors[0])):
        try:
            result = concatenate(tensors, dim)
        except (ValueError, TypeError):
            pass  # sizes that don't fit, or that torch forgives; dtypes that NumPy has no common one for
        else:
            shape = result.shape
            if result.dtype is FLOAT and result.flags.c_contiguous and 0 not in shape:
                return result if 1 not in shape else result.reshape(-1).reshape(shape)  # whose strides are in order
    return _cat(tensors, dim, out)


def _is_no_image(array: Array) -> bool:
    """Whether the array does not look like images with their channels last: else the result might have to."""
    return geometry.suggested_format(array) is contiguous_format


def _cat(tensors: Sequence[Array], dim: int, out: Array | None) -> Array:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    view_geometry.check_joinable(tensors)
    parts = [tensor for tensor in tensors if tensor.shape != (0,)]
    if parts:
        dim = geometry.wrap_dim(dim, parts[0].ndim)  # which is looked at before dtypes, and these before sizes
    dtype = _joined_dtype(tensors, out)
    if not parts:
        return deliver(np.empty(0, dtype), out)
    shape, dim = view_geometry.joined_shape(tensors, dim)
    if out is not None:
        iterator.check_apart(out, tensors)
    if out is None or iterator.needs_resize(out, shape):
        out = allocate(shape, _joined_strides(tensors, shape, dtype.itemsize), dtype)
    else:
        iterator.check_distinct(out)
    np.concatenate([cast(part, dtype) for part in parts], dim, out=out)
    return out


def _joined_dtype(tensors: Sequence[Array], out: Array | None) -> np.dtype:
    dtype = reduce(promote, [tensor.dtype for tensor in tensors])
    if out is None:
        return dtype
    if not can_convert(dtype, out.dtype):
        raise TypeError(
            f"torch.cat(): input types can't be cast to the desired output type {FROM_NUMPY[out.dtype].storage_name}"
        )
    return out.dtype


def _joined_strides(tensors: Sequence[Array], shape: tuple[int, ...], unit: int) -> tuple[int, ...]:
    """Row-major, unless the strides of all tensors look like the same other memory format."""
    if len(shape) in (4, 5) and all(geometry.suggested_format(each) is not contiguous_format for each in tensors):
        return geometry.channels_last_strides(shape, unit)
    return geometry.contiguous_strides(shape, unit)


def stack(tensors, dim=0, out=None):
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tensors[0].shape
    dim = dim if 0 <= dim <= len(shape) else geometry.wrap_dim(dim, len(shape) + 1)
    for place, tensor in enumerate(tensors):
        if tensor.shape != shape:
            raise errors.unequal_entries(shape, tensor.shape, place)
    if out is None and dim < len(shape):  # so torch does it, with what follows for the strides
        joined, size = cat(tensors, dim), (*shape[:dim], len(tensors), *shape[dim:])
        is_plain = joined.flags.c_contiguous and 1 not in size and joined.size
        return joined.reshape(size) if is_plain else view(joined, size)
    if out is not None and dim < len(shape):  # which then lies in the order of rows
        tensors = [np.ascontiguousarray(tensor) for tensor in tensors]
    return cat([unsqueeze(tensor, dim) for tensor in tensors], dim, out)


def repeat(input, repeats):
    if len(repeats) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    extents = (1,) * (len(repeats) - input.ndim) + input.shape
    size = [copies * extent for copies, extent in zip(repeats, extents, strict=True)]
    geometry.check_sizes(size)
    result = aligned.empty(size, input.dtype)
    if not result.size:  # with -1 copies of nothing there is nothing to copy to, either
        return result
    by_copy = result.reshape([each for pair in zip(repeats, extents, strict=True) for each in pair])
    by_copy[...] = input.reshape([each for extent in extents for each in (1, extent)])
    return result


# -------------------- rearrangements --------------------


def flip(input, dims):
    turned = geometry.wrap_dims(dims, input.ndim)
    key = tuple([slice(None, None, -1) if dim in turned else slice(None) for dim in range(input.ndim)])
    result = empty_like(input)
    result[...] = input[key]
    return result


def roll(input, shifts, dims=()):
    if not shifts:
        raise RuntimeError("`shifts` required")
    errors.check_ints(shifts)
    if not dims and len(shifts) == 1:
        return _rolled(input.reshape(-1), shifts[0], 0).reshape(input.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not input.size:
        return empty_like(input)
    result = input
    for shift, dim in zip(shifts, dims, strict=True):
        result = _rolled(result, shift, view_geometry.sized_dim(result.shape, dim))
    return result


def _rolled(input: Array, shift: int, dim: int) -> Array:
    """A new array in which the last `shift` elements of a dimension come first."""
    extent = input.shape[dim]
    if not extent:
        return np.empty(input.shape, input.dtype)
    first = -shift % extent
    return cat([slice_of(input, dim, first, extent), slice_of(input, dim, 0, first)], dim)


def triangle(name: str, keeps_lower: bool) -> Callable[..., Array]:
    """A kernel that keeps one triangle of the matrices in the last two dimensions and zeroes the other."""

    def kernel(input, diagonal=0, out=None):
        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        rows, columns = input.shape[-2:]
        last = max(diagonal if keeps_lower else diagonal - 1, -rows - 1)  # beyond the corner, NumPy doesn't count
        dropped = (_few_dropped if rows * columns <= _FEW else _dropped)(rows, columns, min(last, columns), keeps_lower)
        if out is input and input.ndim > 3:
            iterator.check_distinct(out)  # torch works on a copy then, and writes it back
        result = input.copy()
        copyto(result, _ZEROS[input.dtype], where=dropped)
        return result if out is None else deliver_same(result, out)

    return kernel


def _dropped(rows: int, columns: int, last: int, keeps_lower: bool) -> Array:
    """Where a matrix has its other triangle; `last` is the last diagonal of the lower one."""
    lower = np.tri(rows, columns, last, dtype=bool)
    return ~lower if keeps_lower else lower


_FEW = 1 << 12  # elements of matrices whose triangles are remembered
_few_dropped = lru_cache(maxsize=256)(_dropped)
_ZEROS = {dtype.numpy: np.zeros((), dtype.numpy) for dtype in ALL_DTYPES}
