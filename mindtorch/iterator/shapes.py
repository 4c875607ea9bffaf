"""Shapes of operands and results: broadcasting, and what a reduction leaves."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.strided import strided

Shape = tuple[int, ...]


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


def reduced_dims(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions that a reduction runs over, counted from the front; None and no dimension mean all."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    if isinstance(dim, int):
        return (geometry.wrap_dim(dim, ndim),) if ndim else _no_dims(dim)
    wrapped = geometry.wrap_dims(dim, ndim)
    return tuple(wrapped) if ndim else ()


def _no_dims(dim: int) -> tuple[int, ...]:
    """Those of a number, of which the only one is not there."""
    geometry.wrap_dim(dim, 0)
    return ()


def reduced_shape(shape: Shape, dims: Sequence[int], keepdim: bool) -> Shape:
    """The shape that is left when a reduction has run over `dims`."""
    if keepdim:
        return tuple([1 if dim in dims else size for dim, size in enumerate(shape)])
    return tuple([size for dim, size in enumerate(shape) if dim not in dims])


def reduced_view(out: np.ndarray, dims: Sequence[int], keepdim: bool) -> np.ndarray:
    """A reduction's output with all dimensions of its input: size 1 and a stride of 0 for those it runs over."""
    if not keepdim:
        out = np.expand_dims(out, tuple(dims))
    strides = tuple([0 if dim in dims else stride for dim, stride in enumerate(out.strides)])
    return strided(out, out.shape, strides)
