"""Collectives of Python objects, which are pickled. Only receive from processes that you trust."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from mindtorch._core.tensor import Tensor, wrap
from mindtorch.distributed.arguments import check_list_at_root, checked_root, named_rank
from mindtorch.distributed.collectives import all_gather, all_to_all_single, broadcast, gather, scatter
from mindtorch.distributed.messages import recv, send
from mindtorch.distributed.world import group_for


def _pickled(value: Any) -> Tensor:
    return wrap(np.frombuffer(bytearray(pickle.dumps(value)), np.uint8))


def _unpickled(tensor: Tensor, size: int) -> Any:
    return pickle.loads(tensor._mt_array[:size].tobytes())


def _sizes(*sizes: int) -> Tensor:
    return wrap(np.array(sizes, np.int64))


def _bytes(size: int) -> Tensor:
    return wrap(np.zeros(size, np.uint8))


def _padded(tensor: Tensor, size: int) -> Tensor:
    padded = _bytes(size)
    padded._mt_array[: tensor.numel()] = tensor._mt_array
    return padded


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Copy an object of each process to all, into a list with a place for each rank."""
    chosen = group_for(group, "all_gather_object")
    if chosen is None:
        return
    own = _pickled(obj)
    sizes = [_sizes(0) for _ in range(chosen.size())]
    all_gather(sizes, _sizes(own.numel()), chosen)
    counts = [int(each._mt_array[0]) for each in sizes]
    parts = [_bytes(max(counts)) for _ in counts]
    all_gather(parts, _padded(own, max(counts)), chosen)
    for rank, (part, count) in enumerate(zip(parts, counts, strict=True)):
        object_list[rank] = _unpickled(part, count)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Copy the objects of all processes to that of rank `dst`, into a list with a place for each rank."""
    chosen = group_for(group, "gather_object")
    if chosen is None:
        return
    root = named_rank(chosen, 0 if dst is None and group_dst is None else dst, group_dst)
    is_root = chosen.rank() == root
    check_list_at_root(object_gather_list, is_root, "gather_list", "destination")
    own = _pickled(obj)
    sizes = [_sizes(0) for _ in range(chosen.size())]
    all_gather(sizes, _sizes(own.numel()), chosen)
    counts = [int(each._mt_array[0]) for each in sizes]
    parts = [_bytes(max(counts)) for _ in counts] if is_root else None
    gather(_padded(own, max(counts)), parts, group=chosen, group_dst=root)
    for rank, part in enumerate(parts or ()):
        object_gather_list[rank] = _unpickled(part, counts[rank])  # type: ignore[index]


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Send the objects in the list of the process of rank `src` to all others, into theirs."""
    chosen = group_for(group, "broadcast_object_list")
    if chosen is None:
        return
    root = named_rank(chosen, 0 if src is None and group_src is None else src, group_src)
    parts = [_pickled(each) for each in object_list] if chosen.rank() == root else []
    sizes = _sizes(*([each.numel() for each in parts] if parts else [0] * len(object_list)))
    broadcast(sizes, group=chosen, group_src=root)
    counts = sizes._mt_array.tolist()
    content = _bytes(sum(counts))
    if parts:
        content._mt_array[...] = np.concatenate([each._mt_array for each in parts])
    broadcast(content, group=chosen, group_src=root)
    if chosen.rank() != root:
        object_list[:] = _split(content, counts)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Give each process an object of the list that the process of rank `src` has, in the first place of its own."""
    chosen = group_for(group, "scatter_object_list")
    if chosen is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    named = named_rank(chosen, 0 if src is None and group_src is None else src, group_src)
    root = checked_root(named, chosen, "scatter")
    is_root = chosen.rank() == root
    given = scatter_object_input_list if is_root else None
    if is_root and (given is None or len(given) != chosen.size()):
        raise ValueError("Expected argument scatter_object_input_list to have an object for each process.")
    parts = [_pickled(each) for each in given or ()]
    count, size = _sizes(0), chosen.size()
    scatter(count, [_sizes(each.numel()) for each in parts], group=chosen, group_src=root)
    # Each process is sent its own object only, so what is sent differs in size.
    sent = [each.numel() for each in parts] or [0] * size
    received = [int(count._mt_array[0]) if rank == root else 0 for rank in range(size)]
    content, everything = _bytes(sum(received)), wrap(np.concatenate([each._mt_array for each in parts or [_bytes(0)]]))
    all_to_all_single(content, everything, received, sent, chosen)
    scatter_object_output_list[0] = _unpickled(content, content.numel())


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to the process of rank `dst`."""
    parts = [_pickled(each) for each in object_list]
    send(_sizes(*[each.numel() for each in parts]), dst, group, group_dst=group_dst)
    send(wrap(np.concatenate([each._mt_array for each in parts])), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive as many objects as the list has places; the rank that they came from."""
    sizes = _sizes(*[0] * len(object_list))
    source = recv(sizes, src, group, group_src=group_src)
    content = _bytes(int(sizes._mt_array.sum()))
    recv(content, source, group)
    object_list[:] = _split(content, sizes._mt_array.tolist())
    return source


def _split(content: Tensor, counts: list[int]) -> list[Any]:
    bounds = np.cumsum([0, *counts])
    memory = content._mt_array.tobytes()
    return [pickle.loads(memory[start:end]) for start, end in zip(bounds[:-1], bounds[1:], strict=True)]
