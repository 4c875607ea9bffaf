"""How the operands of an elementwise op or a reduction fit together: the parts of torch's TensorIterator that decide.

Shapes, strides and checks only, over anything that has NumPy's `shape`, `strides`, `itemsize`, `dtype` and `flags`; the
values are computed elsewhere. Strides of results are in elements; `None` stands for row-major.
"""

import warnings
from collections.abc import Sequence
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
# that can tell them apart.


def result_layout(arrays: Sequence[Any], dtype: np.dtype | None = None) -> tuple[Shape, Shape | None]:
    """The shape and the strides of a new result for `arrays`; see Note [Strides of results].

    An array of another dtype than `dtype` is converted first, so its copy decides, which has no gaps.
    """
    return _layout(tuple([_geometry_of(array, dtype) for array in arrays]))


def _geometry_of(array: Any, dtype: np.dtype | None) -> tuple[Shape, Shape]:
    strides = geometry.strides_of(array)
    if dtype is not None and array.dtype != dtype:
        strides = geometry.preserved_strides(array.shape, strides)
    return array.shape, strides


@lru_cache(maxsize=4096)
def _layout(operands: tuple[tuple[Shape, Shape], ...]) -> tuple[Shape, Shape | None]:
    shape = broadcast_shapes(*[shape for shape, _ in operands])
    if all(operand[0] == shape for operand in operands):
        if all(geometry.is_contiguous(*operand) for operand in operands):
            return shape, None
        if len(shape) == 4 and all(geometry.is_dense_in_order(*operand, (1, 3, 2, 0)) for operand in operands):
            return shape, geometry.channels_last_strides(shape)
        strides = operands[-1][1]
        if all(operand[1] == strides for operand in operands) and geometry.is_non_overlapping_and_dense(shape, strides):
            return shape, strides
    order = geometry.memory_order(shape, *[_expanded_strides(shape, *operand) for operand in operands])
    is_row_major = order == list(range(len(shape)))[::-1]
    return shape, None if is_row_major else geometry.strides_in_order(shape, order)


def _expanded_strides(shape: Shape, own: Shape, strides: Shape) -> Shape:
    new = len(shape) - len(own)
    kept = [
        0 if size == 1 and shape[dim] != 1 else stride
        for dim, (size, stride) in enumerate(zip(own, strides, strict=True), new)
    ]
    return (0,) * new + tuple(kept)


# -------------------- reductions --------------------


def reduced_dims(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions that a reduction runs over, counted from the front; None and no dimension mean all."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    if isinstance(dim, int):
        dim = (dim,)
    wrapped = geometry.wrap_dims(dim, ndim)
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
    check_distinct(out)
    check_shared(out, inputs)


def check_shared(out: Any, inputs: Sequence[Any]) -> None:
    """Refuses to write to memory that stands for other elements of an input."""
    for operand in inputs:
        if operand is not out and _overlap(out, operand) and _extent(out) != _extent(operand):
            raise _memory_shared()


def check_distinct(out: Any) -> None:
    """Refuses to write to memory that stands for several elements."""
    if is_expanded(out):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def warn_if_expanded(out: Any, op: str, assignment: str) -> None:
    """Some ops only warn of writing to memory that stands for several elements."""
    if is_expanded(out):
        warnings.warn(
            f"Use of {op} on expanded tensors is deprecated. Please clone() the tensor before performing this "
            f"operation. This also applies to advanced indexing e.g. {assignment}",
            UserWarning,
            stacklevel=4,
        )


def is_expanded(array: Any) -> bool:
    """Whether several elements lie at one place in memory, as far as a stride of 0 tells."""
    strides = array.strides
    if 0 not in strides or not array.size:
        return False
    return any(stride == 0 and size > 1 for size, stride in zip(array.shape, strides, strict=True))


def is_same_view(a: Any, b: Any) -> bool:
    """Whether two arrays show the same memory in the same way."""
    return a.shape == b.shape and a.dtype == b.dtype and _extent(a) == _extent(b)


def check_apart(out: Any, inputs: Sequence[Any]) -> None:
    """Refuses to write to memory that an input reads, even if it is the same array."""
    if any(operand is out or _overlap(out, operand) for operand in inputs):
        raise _memory_shared()


def _memory_shared() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
        "memory location. Please clone() the tensor before performing the operation."
    )


def _overlap(out: Any, operand: Any) -> bool:
    """Whether two dense arrays share memory. Arrays with gaps are not looked at, as in torch."""
    if not (isinstance(out, np.ndarray) and isinstance(operand, np.ndarray) and np.may_share_memory(out, operand)):
        return False
    return geometry.is_dense(out) and geometry.is_dense(operand)


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
