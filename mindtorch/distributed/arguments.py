"""What is looked at before a collective: the ranks that are named, and the sizes of lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch.distributed.checks import check_same_dtype, check_tensor_list, memory_of
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.world import default_group, get_group_rank

_thread = state.thread


def named_rank(group: ProcessGroup, global_rank: int | None, group_rank: int | None) -> int:
    """The rank in the group that was named by a rank among all or in the group."""
    if global_rank is None:
        if group_rank is None:
            raise ValueError("Must specify global_rank or group_rank")
        return group_rank
    if group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    return global_rank if group is default_group() else get_group_rank(group, global_rank)


def checked_root(rank: Any, group: ProcessGroup, name: str) -> int:
    """The rank, which is one of the group's."""
    check_is_int(rank, "the rank of a process")
    if not 0 <= rank < group.size():
        raise RuntimeError(f"{group.title}::{name}: invalid root rank: {rank}")
    return rank


def check_is_int(value: Any, what: str) -> None:
    """Refuse what is no integer."""
    if not isinstance(value, int):
        raise TypeError(f"incompatible function arguments: {what} is an integer, not {value!r}")


def check_list(tensors: list[Tensor], tensor: Tensor, group: ProcessGroup) -> None:
    """Refuse a list into which the tensors of all processes can't be gathered."""
    if len(tensors) != group.size():
        raise RuntimeError(
            f"{group.title}::allgather: invalid output tensor list at index 0 (expected length {group.size()}, got "
            f"{len(tensors)})"
        )
    check_sizes(tensors, tensor, group, "allgather")


def check_coalesced_lists(lists: Any, tensors: list[Tensor], group: ProcessGroup) -> None:
    """Refuse lists, one for each rank, into which several tensors of all processes can't be gathered."""
    if not isinstance(lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for each in lists:
        check_tensor_list(each, "output_tensor_lists")
        check_same_dtype(*each)
    name = f"{group.title}::allgather_coalesced"
    if len(lists) != group.size():
        raise RuntimeError(f"{name}: output lists should be equal to world size")
    for each in lists:
        if len(each) != len(tensors):
            raise RuntimeError(f"{name}: invalid output size: (expected length {len(tensors)}, got {len(each)})")
        for place, (output, tensor) in enumerate(zip(each, tensors, strict=True)):
            memory_of(output)
            _check_alike(name, place, output, tensor)


def _check_alike(name: str, place: int, output: Tensor, tensor: Tensor) -> None:
    if output.shape != tensor.shape:
        raise RuntimeError(
            f"{name}: invalid size of output tensor at index {place} (expected length ({sizes(tensor)}), got "
            f"({sizes(output)}))"
        )
    if output.dtype is not tensor.dtype:
        raise RuntimeError(
            f"{name}: invalid tensor type at index {place} (expected {tensor.type()}, got {output.type()})"
        )


def check_has_tensors(tensors: list[Tensor], schema: str) -> None:
    """Refuse an empty list, which names neither a dtype nor a device."""
    if not tensors:
        raise NotImplementedError(
            "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no "
            f"fallback function is registered for schema c10d::{schema}."
        )


def record_copies(outputs: Iterable[Tensor]) -> None:
    """Record that tensors which require grad are about to be overwritten by what is not differentiated: a leaf is
    refused, and the history of what another was computed from ends here."""
    for each in outputs:
        if _thread.grad_enabled and each.requires_grad:
            each.copy_(each.detach())


def check_root_list(tensors: list[Tensor], tensor: Tensor, group: ProcessGroup, name: str, role: str) -> None:
    """Refuse a list of the root's that has no tensor for each process."""
    if len(tensors) != group.size():
        raise RuntimeError(
            f"{group.title}::{name}: Incorrect {role} list size {len(tensors)}. {role.capitalize()} list size should "
            f"be {group.size()}, same as size of the process group."
        )
    check_sizes(tensors, tensor, group, name)


def check_sizes(tensors: list[Tensor], tensor: Tensor, group: ProcessGroup, name: str) -> None:
    """Refuse tensors that are not like the first."""
    for place, each in enumerate(tensors):
        memory_of(each)
        if each.shape != tensor.shape:
            raise RuntimeError(
                f"{group.title}::{name}: invalid tensor size at index {place} (expected ({sizes(tensor)}), got "
                f"({sizes(each)}))"
            )


def check_list_at_root(tensors: Any, is_root: bool, name: str, role: str) -> None:
    """Refuse a list that is missing at the root, or given elsewhere."""
    if is_root and not tensors:
        raise ValueError(f"Argument ``{name}`` must be specified on {role} rank.")
    if not is_root and tensors:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{role} ranks.")


def check_parts(output: Tensor, tensor: Tensor, size: int) -> None:
    """Refuse an output that does not have room for the tensors of all processes."""
    check_same_dtype(output, tensor)
    if output.numel() != tensor.numel() * size:
        raise ValueError("output tensor size must be equal to world_size times input tensor size")


def sizes(tensor: Tensor) -> str:
    """The sizes of a tensor as errors have them."""
    return ", ".join(str(each) for each in tensor.shape)
