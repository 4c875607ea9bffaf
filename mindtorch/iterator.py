"""How the operands of an elementwise op or a reduction fit together: the parts of torch's TensorIterator that decide.

Shapes, strides and checks only, over anything that has NumPy's `shape`, `strides`, `itemsize`, `dtype` and `flags`; the
values are computed elsewhere. Strides of results are in elements; `None` stands for row-major.
"""

import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch import geometry
from mindtorch.dtype import FROM_NUMPY
from mindtorch.promotion import can_convert

Shape = tuple[int, ...]


# -------------------- shapes --------------------


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all of `shapes` expand to."""
    result = shapes[0]
    for shape in shapes[1:]:
        if shape != result:
            result = _broadcast_pair(result, shape)
    return result


def _broadcast_pair(a: Shape, b: Shape) -> Shape:
    ndim = max(len(a), len(b))
    wide_a, wide_b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    for dim in range(ndim - 1, -1, -1):
        if wide_a[dim] != wide_b[dim] and 1 not in (wide_a[dim], wide_b[dim]):
            raise RuntimeError(
                f"The size of tensor a ({wide_a[dim]}) must match the size of tensor b ({wide_b[dim]}) "
                f"at non-singleton dimension {dim}"
            )
    return tuple([y if x == 1 else x for x, y in zip(wide_a, wide_b, strict=True)])


def check_inplace_shape(out: Any, shape: Shape) -> None:
    """An in-place op cannot change its tensor's shape."""
    if out.shape != shape:
        raise RuntimeError(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(shape)}")


# -------------------- strides of a result --------------------

# Note [Strides of results]
# torch gives a result the memory order of its inputs. Inputs of one shape that are all row-major, all channels-last or
# all dense with the same strides hand this layout on. Otherwise dimensions are sorted by the strides of the first input
# that can tell them apart: a broadcast dimension (stride 0) cannot, and equal strides are told apart by size. The sort
# must be this insertion sort, because the comparison is no total order.


def result_layout(arrays: Sequence[Any], dtype: np.dtype | None = None) -> tuple[Shape, Shape | None]:
    """The shape and the strides of a new result for `arrays`; see Note [Strides of results].

    An array of another dtype than `dtype` is converted first, so its copy decides, which has no gaps.
    """
    return _layout(tuple([_geometry_of(array, dtype) for array in arrays]))


def _geometry_of(array: Any, dtype: np.dtype | None) -> tuple[Shape, Shape]:
    strides = geometry.strides_of(array)
    if dtype is not None and array.dtype != dtype:
        strides = preserved_strides(array.shape, strides)
    return array.shape, strides


def preserved_strides(shape: Shape, strides: Shape) -> Shape:
    """The strides of a copy that is laid out like the original, without its gaps."""
    if is_contiguous(shape, strides):
        return geometry.contiguous_strides(shape)
    if is_non_overlapping_and_dense(shape, strides):
        return strides
    order = _memory_order(shape, [strides])
    return _strides_in_order(shape, order) or geometry.contiguous_strides(shape)


@lru_cache(maxsize=4096)
def _layout(operands: tuple[tuple[Shape, Shape], ...]) -> tuple[Shape, Shape | None]:
    shape = broadcast_shapes(*[shape for shape, _ in operands])
    if all(operand[0] == shape for operand in operands):
        if all(is_contiguous(*operand) for operand in operands):
            return shape, None
        if len(shape) == 4 and all(_is_dense(operand, (1, 3, 2, 0)) for operand in operands):
            return shape, geometry.channels_last_strides(shape)
        strides = operands[-1][1]
        if all(operand[1] == strides for operand in operands) and is_non_overlapping_and_dense(shape, strides):
            return shape, strides
    order = _memory_order(shape, [_expanded_strides(shape, *operand) for operand in operands])
    return shape, _strides_in_order(shape, order)


def is_contiguous(shape: Shape, strides: Shape) -> bool:
    return 0 in shape or _is_dense((shape, strides), range(len(shape) - 1, -1, -1))


def is_non_overlapping_and_dense(shape: Shape, strides: Shape) -> bool:
    """Whether some order of the dimensions makes the array contiguous."""
    if is_contiguous(shape, strides):
        return True
    dims = sorted((dim for dim, size in enumerate(shape) if size > 1), key=strides.__getitem__)
    return _is_dense((shape, strides), dims)


def _is_dense(operand: tuple[Shape, Shape], order: Iterable[int]) -> bool:
    """Whether memory is walked without gaps by the dimensions of `order`, innermost first."""
    shape, strides = operand
    step = 1
    for dim in order:
        if shape[dim] != 1:
            if strides[dim] != step:
                return False
            step *= shape[dim]
    return True


def _expanded_strides(shape: Shape, own: Shape, strides: Shape) -> Shape:
    new = len(shape) - len(own)
    kept = [
        0 if size == 1 and shape[dim] != 1 else stride
        for dim, (size, stride) in enumerate(zip(own, strides, strict=True), new)
    ]
    return (0,) * new + tuple(kept)


def _memory_order(shape: Shape, all_strides: Sequence[Shape]) -> list[int]:
    """The dimensions, innermost first."""
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


def _compare(shape: Shape, all_strides: Sequence[Shape], inner: int, outer: int) -> int:
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


def _strides_in_order(shape: Shape, order: Sequence[int]) -> Shape | None:
    if all(dim == len(shape) - place - 1 for place, dim in enumerate(order)):
        return None
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    return tuple(strides)


# -------------------- reductions --------------------


def reduced_dims(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions that a reduction runs over, counted from the front; None and no dimension mean all."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    if isinstance(dim, int):
        dim = (dim,)
    wrapped = [geometry.wrap_dim(each, ndim) for each in dim]
    for each in wrapped:
        if wrapped.count(each) > 1:
            raise RuntimeError(f"dim {each} appears multiple times in the list of dims")
    return tuple(wrapped) if ndim else ()


def reduced_shape(shape: Shape, dims: Sequence[int], keepdim: bool) -> Shape:
    if keepdim:
        return tuple([1 if dim in dims else size for dim, size in enumerate(shape)])
    return tuple([size for dim, size in enumerate(shape) if dim not in dims])


# -------------------- outputs --------------------


def check_result_dtype(result: np.dtype, target: np.dtype) -> None:
    """A result can only be written to a tensor of its kind of dtype or a higher one."""
    if not can_convert(result, target):
        names = [FROM_NUMPY[each].storage_name for each in (result, target)]
        raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")


def needs_resize(out: Any, shape: Shape) -> bool:
    """Whether an `out=` tensor has another shape; warns as torch does unless it is empty."""
    if out.shape == shape:
        return False
    if out.size:
        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out.shape)}, which does not match the required output shape {list(shape)}. This behavior is "
            "deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "
            "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=4,
        )
    return True


def check_overlap(out: Any, inputs: Sequence[Any]) -> None:
    """Refuses to write to memory that stands for several elements, or for other elements of an input."""
    if out.size and any(stride == 0 and size > 1 for size, stride in zip(out.shape, out.strides, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    for operand in inputs:
        if operand is not out and _overlaps_partially(out, operand):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation."
            )


def _overlaps_partially(out: Any, operand: Any) -> bool:
    """Whether two dense arrays share memory without being the same. Arrays with gaps are not looked at, as in torch."""
    if not (isinstance(out, np.ndarray) and isinstance(operand, np.ndarray) and np.may_share_memory(out, operand)):
        return False
    if not all(is_non_overlapping_and_dense(each.shape, geometry.strides_of(each)) for each in (out, operand)):
        return False
    return _extent(out) != _extent(operand)


def _extent(array: np.ndarray) -> tuple:
    return array.__array_interface__["data"][0], array.nbytes, array.strides


def check_devices(arrays: Sequence[Any]) -> None:
    """All arrays come from one backend; a 0-dim array on the CPU goes with any."""
    first = next((array for array in arrays if array.ndim), arrays[0])
    for array in arrays:
        if type(array) is type(first) or _device_name(array) == _device_name(first):
            continue
        if array.ndim or not isinstance(array, np.ndarray):
            raise RuntimeError(
                f"Tensor on device {_device_name(array)} is not on the expected device {_device_name(first)}!"
            )


def _device_name(array: Any) -> str:
    return "cpu" if isinstance(array, np.ndarray) else str(array.device)
