"""The part of a tensor that a process has, and how tensors get from one way of being spread to another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.distributed.collectives import all_gather_single, all_reduce, reduce_scatter_single
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.reduce_op import ReduceOp
from mindtorch.distributed.tensor.placement_types import (
    NormPartial,
    Partial,
    Placement,
    Replicate,
    Shard,
    _StridedShard,
)

Placements = tuple[Placement, ...]

_REDUCTIONS = {
    "sum": ReduceOp.SUM,
    "avg": ReduceOp.AVG,
    "product": ReduceOp.PRODUCT,
    "max": ReduceOp.MAX,
    "min": ReduceOp.MIN,
}


def chunk_of(size: int, parts: int, place: int) -> tuple[int, int]:
    """Where a part begins, and how long it is."""
    step = -(-size // parts)
    start = min(size, place * step)
    return start, min(size, start + step) - start


def cutting_order(placements: Sequence[Placement]) -> list[int]:
    """The dimensions of the mesh in the order in which they cut a tensor: each makes parts of the parts before."""
    return sorted(range(len(placements)), key=lambda dim: isinstance(placements[dim], _StridedShard))


def own_block(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]) -> tuple[list[int], list[int]]:
    """Where the part of this process begins, and its sizes."""
    offsets, sizes = [0] * len(shape), list(shape)
    coordinate = mesh.get_coordinate()
    for dim in cutting_order(placements) if coordinate else ():
        placement = placements[dim]
        if isinstance(placement, Shard):
            start, length = chunk_of(sizes[placement.dim], mesh.shape[dim], coordinate[dim])  # type: ignore[index]
            offsets[placement.dim] += start
            sizes[placement.dim] = length
    return offsets, sizes


def moved(local: Tensor, shape: Sequence[int], mesh: DeviceMesh, current: Placements, wanted: Placements) -> Tensor:
    """The part of this process when the tensor is spread in another way."""
    if current == wanted or mesh.get_coordinate() is None:
        return local
    state = list(current)
    for dim in reversed(cutting_order(current)):  # inner parts are parts of outer ones
        if isinstance(state[dim], Shard) and _has_to_be_whole(dim, state, current, wanted):
            local = _gathered(local, shape, mesh, state, dim)
            state[dim] = Replicate()
    for dim in cutting_order(wanted):
        if state[dim] != wanted[dim]:
            local = _changed(local, shape, mesh, dim, state, wanted[dim])
            state[dim] = wanted[dim]
    return local


def _has_to_be_whole(dim: int, state: list[Placement], current: Placements, wanted: Placements) -> bool:
    """Whether a dimension of the mesh has other parts afterwards, or an outer one along the same dimension has."""
    along = state[dim].dim  # type: ignore[attr-defined]
    orders = cutting_order(current), cutting_order(wanted)
    outer = {each for order in orders for each in order[: order.index(dim) + 1]}
    return any(
        current[each] != wanted[each] and (current[each].is_shard(along) or wanted[each].is_shard(along))
        for each in outer
    )


def _gathered(local: Tensor, shape: Sequence[int], mesh: DeviceMesh, state: list[Placement], dim: int) -> Tensor:
    along = state[dim].dim  # type: ignore[attr-defined]
    parts = mesh.shape[dim]
    order = cutting_order(state)
    outside = order[: order.index(dim)]
    _, outer = own_block(shape, mesh, [state[each] if each in outside else Replicate() for each in range(mesh.ndim)])
    size = outer[along]
    step = -(-size // parts)
    rows = _padded(local.movedim(along, 0), step).contiguous()
    output = ops.empty((parts * step, *rows.shape[1:]), dtype=rows.dtype)
    all_gather_single(output, rows, group=mesh.get_group(dim))
    return output.narrow(0, 0, size).movedim(0, along)


def _padded(rows: Tensor, count: int) -> Tensor:
    missing = count - rows.shape[0]
    return rows if not missing else ops.cat([rows, rows.new_zeros((missing, *rows.shape[1:]))])


def _changed(
    local: Tensor, shape: Sequence[int], mesh: DeviceMesh, dim: int, state: list[Placement], wanted: Placement
) -> Tensor:
    found = state[dim]
    if isinstance(found, Partial):
        if isinstance(wanted, Shard) and type(found) is Partial and found.reduce_op in ("sum", "avg"):
            return _reduced_part(local, mesh, dim, wanted.dim, found)
        local = _reduced(local, mesh, dim, found)
    if isinstance(wanted, Shard):
        start, length = chunk_of(local.shape[wanted.dim], mesh.shape[dim], mesh.get_local_rank(dim))
        return local.narrow(wanted.dim, start, length).contiguous()
    return _as_summand(local, mesh, dim, wanted) if isinstance(wanted, Partial) else local


def _reduced(local: Tensor, mesh: DeviceMesh, dim: int, placement: Partial) -> Tensor:
    group = mesh.get_group(dim)
    result = local.clone(memory_format=contiguous_format)
    if isinstance(placement, NormPartial):
        return _reduced_norm(result, placement.order, group)
    all_reduce(result, _REDUCTIONS[placement.reduce_op], group=group)
    return result


def _reduced_norm(norms: Tensor, order: float, group: Any) -> Tensor:
    if math.isinf(order):
        all_reduce(norms, ReduceOp.MAX if order > 0 else ReduceOp.MIN, group=group)
        return norms
    powers = norms if order in (0, 1) else norms.pow(order)
    all_reduce(powers, group=group)
    return powers if order in (0, 1) else powers.pow(1 / order)


def _reduced_part(local: Tensor, mesh: DeviceMesh, dim: int, along: int, placement: Partial) -> Tensor:
    parts = mesh.shape[dim]
    size = local.shape[along]
    step = -(-size // parts)
    rows = _padded(local.movedim(along, 0), parts * step).contiguous()
    output = ops.empty((step, *rows.shape[1:]), dtype=rows.dtype)
    reduce_scatter_single(output, rows, _REDUCTIONS[placement.reduce_op], group=mesh.get_group(dim))
    _, length = chunk_of(size, parts, mesh.get_local_rank(dim))
    return output.narrow(0, 0, length).movedim(0, along)


def _as_summand(local: Tensor, mesh: DeviceMesh, dim: int, placement: Partial) -> Tensor:
    """A tensor that all have as one of which each has a share."""
    if placement.reduce_op == "sum":
        return local if mesh.get_local_rank(dim) == 0 else ops.zeros_like(local)
    if placement.reduce_op in ("avg", "max", "min"):
        return local
    raise RuntimeError(f"a tensor can't become {placement!r}")
