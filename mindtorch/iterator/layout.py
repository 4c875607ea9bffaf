"""How operands lie in memory when they are walked together, and which strides that gives a new result.

Pure functions over tuples of ints. Dimensions in iteration order are counted from the innermost one.
"""

from collections.abc import Container, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from mindtorch._core import geometry
from mindtorch.iterator.shapes import Shape, broadcast_shapes

Geometry = tuple[Shape, Shape]

# -------------------- strides of a result --------------------

# Note [Strides of results]
# torch gives a result the memory order of its inputs. Inputs of one shape that are all row-major, all channels-last or
# all dense with the same strides hand this layout on. Otherwise dimensions are sorted by the strides of the first input
# that can tell them apart.


def result_layout(arrays: Sequence[Any], dtype: np.dtype | None = None) -> tuple[Shape, Shape | None]:
    """The shape and the strides of a new result for `arrays`, in elements; see Note [Strides of results].

    `None` stands for row-major. An array of another dtype than `dtype` is converted first, so its copy decides, which
    has no gaps.
    """
    operands = tuple([geometry_of(array, dtype) for array in arrays])
    shape = broadcast_shapes(*[shape for shape, _ in operands])
    return shape, new_strides(shape, operands)


def geometry_of(array: Any, dtype: np.dtype | None) -> Geometry:
    """Shape and strides of an array, or of its copy of another dtype."""
    strides = geometry.strides_of(array)
    if dtype is not None and array.dtype != dtype:
        strides = geometry.preserved_strides(array.shape, strides)
    return array.shape, strides


@lru_cache(maxsize=4096)
def new_strides(shape: Shape, operands: tuple[Geometry, ...]) -> Shape | None:
    """The strides of a new result of operands that expand to `shape`; None stands for row-major."""
    strides = None
    if all(own == shape for own, _ in operands):
        strides = common_strides(shape, [strides for _, strides in operands])
    if strides is None:
        order = iteration_order(shape, [expanded_strides(shape, *operand) for operand in operands])
        strides = strides_of_order(shape, order)
    return None if strides == geometry.contiguous_strides(shape) else strides


def common_strides(shape: Shape, all_strides: Sequence[Shape]) -> Shape | None:
    """The strides that operands of one shape hand on without a look at single dimensions, if there are any."""
    if all(geometry.is_contiguous(shape, strides) for strides in all_strides):
        return geometry.contiguous_strides(shape)
    if len(shape) == 4 and all(geometry.is_dense_in_order(shape, strides, (1, 3, 2, 0)) for strides in all_strides):
        return geometry.channels_last_strides(shape)
    last = all_strides[-1]
    alike = all(strides == last for strides in all_strides)
    return last if alike and geometry.is_non_overlapping_and_dense(shape, last) else None


def expanded_strides(shape: Shape, own: Shape, strides: Shape) -> Shape:
    """The strides of an operand of shape `own` when it is expanded to `shape`."""
    new = len(shape) - len(own)
    kept = [
        0 if size == 1 and shape[dim] != 1 else stride
        for dim, (size, stride) in enumerate(zip(own, strides, strict=True), new)
    ]
    return (0,) * new + tuple(kept)


def strides_of_order(shape: Shape, order: Sequence[int]) -> Shape:
    """The strides of a new array for operands that are walked in `order`, innermost dimension first."""
    if all(dim == place for place, dim in enumerate(reversed(order))):
        return geometry.contiguous_strides(shape)  # which counts an extent of 0 as 1
    return geometry.strides_in_order(shape, order)


# -------------------- walking --------------------


class Walk(NamedTuple):
    """How operands are walked: the dimensions in iteration order, the shape, and the strides of each in bytes.

    `perm` is None where the operands lie in memory alike, so that the dimensions need not be sorted.
    """

    perm: list[int] | None
    shape: Shape
    strides: list[Shape]


def walk(shape: Shape, operands: Sequence[Geometry], itemsizes: Sequence[int], fast: bool, reducing: bool) -> Walk:
    """The walk over operands that expand to `shape`, where `fast` allows it in one go.

    The first operand of a reduction is its output, with strides of 0 in the dimensions that it runs over.
    """
    if fast and not reducing and all(own == shape for own, _ in operands):
        if common_strides(shape, [strides for _, strides in operands]) is not None:
            return Walk(None, (prod(shape),) if shape else (), [(size,) if shape else () for size in itemsizes])
    expanded = [expanded_strides(shape, *operand) for operand in operands]
    reduced = {dim for dim, stride in enumerate(expanded[0]) if stride == 0} if reducing else ()
    perm = iteration_order(shape, expanded, reduced)
    ordered = [tuple([strides[dim] * size for dim in perm]) for strides, size in zip(expanded, itemsizes, strict=True)]
    return Walk(perm, *coalesce(tuple([shape[dim] for dim in perm]), ordered))


def iteration_order(shape: Shape, all_strides: Sequence[Shape], reduced: Container[int] = ()) -> list[int]:
    """The dimensions, innermost first; those that a reduction runs over come before all others."""
    dims = range(len(shape))
    inner = [dim for dim in dims if dim in reduced]
    outer = [dim for dim in dims if dim not in reduced]
    return [*_order_among(inner, shape, all_strides), *_order_among(outer, shape, all_strides)]


def _order_among(dims: list[int], shape: Shape, all_strides: Sequence[Shape]) -> list[int]:
    sizes = [shape[dim] for dim in dims]
    order = geometry.memory_order(sizes, *[[strides[dim] for dim in dims] for strides in all_strides])
    return [dims[place] for place in order]


def coalesce(shape: Shape, all_strides: Sequence[Shape]) -> tuple[Shape, list[Shape]]:
    """Shape and strides with neighbouring dimensions made one where all operands allow it, the innermost first."""
    if len(shape) < 2:
        return shape, list(all_strides)
    sizes = [shape[0]]
    merged = [[strides[0]] for strides in all_strides]
    for dim in range(1, len(shape)):
        outer = [strides[dim] for strides in all_strides]
        if not can_coalesce(sizes[-1], shape[dim], [own[-1] for own in merged], outer):
            sizes.append(shape[dim])
            _append(merged, outer)
            continue
        if sizes[-1] == 1:
            _replace_last(merged, outer)
        sizes[-1] *= shape[dim]
    return tuple(sizes), [tuple(own) for own in merged]


def can_coalesce(inner_size: int, outer_size: int, inner: Sequence[int], outer: Sequence[int]) -> bool:
    """Whether two neighbouring dimensions, with these strides in each operand, are as good as one."""
    if inner_size == 1 or outer_size == 1:
        return True
    return all(inner_size * step == outer_step for step, outer_step in zip(inner, outer, strict=True))


def _append(merged: list[list[int]], strides: list[int]) -> None:
    for own, stride in zip(merged, strides, strict=True):
        own.append(stride)


def _replace_last(merged: list[list[int]], strides: list[int]) -> None:
    for own, stride in zip(merged, strides, strict=True):
        own[-1] = stride
