"""Looking for elements: `nonzero`, and the distinct elements of a tensor with how often they occur."""

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import Any, Literal, overload

import numpy as np

from mindtorch._core import state
from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import int64
from mindtorch._core.fast_path import has_bare_array
from mindtorch._core.promotion import DOUBLE, FLOAT
from mindtorch._core.tensor import Tensor, extend_tensor, wrap
from mindtorch._support.errors import derivative_not_implemented
from mindtorch._support.vmap_errors import dynamic_shape
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.node import Node
from mindtorch.autograd._engine.node_base import next_sequence_nr
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.by_hand import check_arguments
from mindtorch.dispatch.arguments.conversions import checked_tensor
from mindtorch.dispatch.modes.batching import is_batched


@overload
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero: a row per element, or a tensor per dimension."""
    if as_tuple is not True:
        check_arguments("nonzero(Tensor self, *, bool as_tuple) -> Tensor", input, as_tuple)
        return ops.nonzero(input, out=out)
    if out is not None:
        ops.nonzero(input, out=out)  # what is no tensor is refused first
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    tensor: Any = checked_tensor(input, "nonzero")
    return ops.nonzero(tensor.reshape(1) if tensor.ndim == 0 else tensor).unbind(1)


# -------------------- distinct elements --------------------


class _DistinctBackward(Node):
    """Distinct elements require grad as the tensor does which they are from, but there is no formula."""

    __slots__ = ()

    op: str

    def apply(node: Any, edges: tuple, grad: Any) -> tuple:
        raise derivative_not_implemented(node.op)


class Unique2Backward0(_DistinctBackward):
    __slots__ = ()
    op = "_unique2"


class UniqueDimBackward0(_DistinctBackward):
    __slots__ = ()
    op = "unique_dim"


class UniqueConsecutiveBackward0(_DistinctBackward):
    __slots__ = ()
    op = "unique_consecutive"


def _with_node(values: Any, node_class: type, input: Any) -> Tensor:
    edge = edge_of(input) if state.thread.grad_enabled else None
    if edge is None:
        return values
    node = node_class()
    node.sequence_nr = next_sequence_nr()
    node.next_edges = (edge or None,)
    return wrap(values._mt_array, node)


# torch's function hands on the options by name.
_UNIQUE = "_unique2(Tensor self, *, bool sorted, bool return_inverse, bool return_counts) -> Tensor"
_UNIQUE_DIM = "unique_dim(Tensor self, int dim, *, bool sorted, bool return_inverse, bool return_counts) -> Tensor"
_UNIQUE_CONSECUTIVE = "unique_consecutive(Tensor self, *, bool return_inverse, bool return_counts, int? dim) -> Tensor"


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The distinct elements in order, or the distinct slices along a dimension; sorted whatever `sorted` says.

    Also, if wanted: for each element, where it is among them; and how often each occurs.
    """
    if dim is None:
        check_arguments(_UNIQUE, input, sorted, return_inverse, return_counts)
    else:
        check_arguments(_UNIQUE_DIM, input, dim, sorted, return_inverse, return_counts)
    if is_batched(input):
        raise dynamic_shape("_unique2" if dim is None else "unique_dim")
    _check_comparable(input, dim, "unique" if dim is None else "unique_dim")
    if dim is not None:
        return _unique_slices(input, return_inverse, return_counts, dim)
    if has_bare_array(input) and (input._mt_array.dtype.kind in "biu" or input._mt_array.dtype in (FLOAT, DOUBLE)):
        found: Any = _unique_of_array(input._mt_array, return_inverse, return_counts)
        counted: list[Any]
        distinct, *counted = [None if each is None else wrap(each) for each in found]
        results = [_with_node(distinct, Unique2Backward0, input), *[each for each in counted if each is not None]]
        return tuple(results) if counted != [None, None] else results[0]
    values, order = ops.sort(input.detach().reshape(-1))
    found, group = _run_starts(values)
    inverse = ops.empty_like(order).scatter_(0, order, group).view(input.shape).detach()
    distinct = _with_node(values[found], Unique2Backward0, input)
    return _wanted(distinct, inverse, group, return_inverse, return_counts)


def _unique_of_array(
    array: np.ndarray, return_inverse: bool, return_counts: bool
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """The distinct elements in order, for each element where it is among them, and how often each occurs."""
    flat = array.reshape(-1)
    order = flat.argsort(kind="stable")
    values = flat.take(order)
    found = np.empty(values.size, bool)
    found[:1] = True
    np.not_equal(values[1:], values[:-1], found[1:])
    inverse = counts = None
    if return_inverse or return_counts:
        group = found.cumsum() - 1
        counts = np.bincount(group) if return_counts else None
    if return_inverse:
        inverse = np.empty_like(order)
        inverse[order] = group
        inverse = inverse.reshape(array.shape)
    return values[found], inverse, counts


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first element, or slice along a dimension, of each run of equal ones, with where and how many if wanted."""
    check_arguments(_UNIQUE_CONSECUTIVE, input, return_inverse, return_counts, dim)
    if is_batched(input):
        raise dynamic_shape("unique_consecutive")
    _check_comparable(input, dim, "unique" if dim is None or (dim == 0 and input.ndim == 1) else "unique_dim")
    slices = input.detach().reshape(-1) if dim is None else input.detach().movedim(dim, 0)
    found, group = _run_starts(slices)
    values = slices[found] if dim is None else slices[found].movedim(0, dim).detach()
    values = _with_node(values, UniqueConsecutiveBackward0, input)
    inverse = group.view(input.shape).detach() if dim is None else group
    return _wanted(values, inverse, group, return_inverse, return_counts)


def _check_comparable(input: Any, dim: int | None, name: str) -> None:
    """Complex numbers have no order, and slices without elements nothing to compare."""
    if dim is not None and 0 in input.shape:
        if input.shape[dim]:
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
        if list(input.shape).count(0) > 1:
            raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    elif input.is_complex():
        raise NotImplementedError(f"\"{name}\" not implemented for '{input.dtype.storage_name}'")


def _unique_slices(input: Any, return_inverse: bool, return_counts: bool, dim: int) -> Any:
    slices = input.detach().movedim(dim, 0)
    rows = slices.flatten(1) if slices.ndim > 1 else slices.unsqueeze(1)
    order = ops.arange(rows.shape[0], device=input.device)
    for column in reversed(range(rows.shape[1])):
        order = order[ops.sort(rows[order, column], stable=True)[1]]
    found, group = _run_starts(rows[order])
    inverse = ops.empty_like(order).scatter_(0, order, group)
    values = _with_node(slices[order[found]].movedim(0, dim).detach(), UniqueDimBackward0, input)
    return _wanted(values, inverse, group, return_inverse, return_counts)


def _run_starts(slices: Any) -> tuple[Tensor, Tensor]:
    """Which slices differ from the one before them, and for each slice the number of its run."""
    found = ops.ones(slices.shape[:1], dtype=boolean, device=slices.device)
    changed = slices[1:] != slices[:-1]
    found[1:] = changed.flatten(1).any(1) if changed.ndim > 1 else changed
    return found, found.cumsum(0) - 1


def _wanted(values: Any, inverse: Tensor, group: Tensor, return_inverse: bool, return_counts: bool) -> Any:
    results = [values]
    if return_inverse:
        results.append(inverse)
    if return_counts:
        results.append(ops.bincount(group))
    return tuple(results) if len(results) > 1 else values


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The places in a tensor of a shape of elements given by their number: a tensor of coordinates per dimension."""
    if indices.is_floating_point() or indices.is_complex() or indices.dtype is boolean:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    steps = [*accumulate(reversed(sizes[1:]), mul, initial=1)][::-1] if sizes else []
    counted = ops.div(indices.unsqueeze(-1), _integers(indices, steps), rounding_mode="floor")
    return (counted % _integers(indices, sizes)).unbind(-1)


def _integers(like: Tensor, numbers: Sequence[int]) -> Tensor:
    made = ops.empty((len(numbers),), dtype=int64, device=like.device)
    for place, number in enumerate(numbers):
        made[place] = number
    return made


@extend_tensor
class SearchingMethods:
    """The same as methods."""

    nonzero = nonzero
    unique = unique
    unique_consecutive = unique_consecutive
