"""The collectives: what users call. Each checks its tensors and hands the group what is to be run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch.distributed.checks import check_same_dtype, check_tensor, check_tensor_list, memory_of, number_of
from mindtorch.distributed.engines.communicator import Communicator
from mindtorch.distributed.memory import (
    Memory,
    apart,
    copied,
    deliver,
    divide,
    empty,
    in_rows,
    joined,
    multiply,
    split,
    write,
)
from mindtorch.distributed.op_types import OpType
from mindtorch.distributed.process_group import Call, ProcessGroup
from mindtorch.distributed.reduce_op import RedOpType, ReduceOp, checked_op
from mindtorch.distributed.work import Work
from mindtorch.distributed.world import default_group, get_group_rank, group_or_default, is_member
from mindtorch.tensor import Tensor
from mindtorch.warning import warn

_SUM = ReduceOp.SUM


def all_reduce(tensor: Tensor, op: Any = _SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all processes; each gets the result in its own tensor.

    The tensor is dense and contiguous, or has its channels last, and has the same shape and dtype everywhere. Raises
    `DistBackendError` when a process has died or is late.
    """
    check_tensor(tensor, "tensor")
    if not is_member(group, "all_reduce"):
        return None
    kind = checked_op(op, tensor.dtype, "all_reduce")
    return group_or_default(group).collective(_all_reduce_call(tensor, kind, op), async_op)


def _all_reduce_call(tensor: Tensor, kind: RedOpType, op: Any) -> Call:
    memory = memory_of(tensor)

    def body(communicator: Communicator) -> None:
        _before(memory, kind, op)
        communicator.all_reduce(memory, _summed(kind))
        _after(memory, kind, communicator.size)

    return Call(OpType.ALLREDUCE, (tensor,), (tensor,), memory, _words(OpType.ALLREDUCE, tensor, memory, 0, kind), body)


def all_reduce_coalesced(tensors: Any, op: Any = _SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce several tensors as one collective."""
    warn(
        "`torch.distributed.all_reduce_coalesced` will be deprecated. If you must use it, please revisit our "
        "documentation later at https://pytorch.org/docs/main/distributed.html#collective-functions",
        FutureWarning,
    )
    tensors = [tensors] if isinstance(tensors, Tensor) else tensors
    check_tensor_list(tensors, "tensor")
    check_same_dtype(*tensors)
    if not is_member(group, "all_reduce_coalesced"):
        return None
    calls = [_all_reduce_call(each, checked_op(op, each.dtype, "all_reduce"), op) for each in tensors]
    return group_or_default(group).coalesced_collectives(calls, async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = _SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce the tensors of all processes; the process of rank `dst` gets the result in its tensor."""
    check_tensor(tensor, "tensor")
    if not is_member(group, "reduce"):
        return None
    chosen = group_or_default(group)
    root = _root(chosen, dst, group_dst, "reduce")
    kind = checked_op(op, tensor.dtype, "reduce")
    return chosen.collective(_reduce_call(tensor, tensor, kind, op, root, chosen.rank() == root), async_op)


def _reduce_call(output: Tensor, tensor: Tensor, kind: RedOpType, op: Any, root: int, is_root: bool) -> Call:
    source, memory = memory_of(tensor), memory_of(output)

    def body(communicator: Communicator) -> None:
        numbers = memory if is_root else copied(source)
        if is_root and memory is not source:
            write(memory, source)
        _before(numbers, kind, op)
        communicator.reduce(numbers, _summed(kind), root)
        if is_root:
            _after(memory, kind, communicator.size)

    number = OpType.REDUCE if output is tensor else OpType.REDUCE_OOP
    return Call(
        number, (tensor,), (output,) if is_root else (), source, _words(number, tensor, source, root, kind), body
    )


def _reduce_oop(
    output: Tensor, input: Tensor, dst: int | None = None, op: Any = _SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the inputs of all processes; the process of rank `dst` gets the result in another tensor."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    if output.numel() != input.numel():
        raise ValueError("Tensor input and output of _reduce_oop must have the same number of elements ")
    check_same_dtype(output, input)
    if not is_member(group, "_reduce_oop"):
        return None
    chosen = group_or_default(group)
    root = _root(chosen, dst, None, "reduce")
    kind = checked_op(op, input.dtype, "reduce")
    return chosen.collective(_reduce_call(output, input, kind, op, root, chosen.rank() == root), async_op)


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Send the tensor of the process of rank `src` to all others, into theirs."""
    check_tensor(tensor, "tensor")
    if not is_member(group, "broadcast"):
        return None
    chosen = group_or_default(group)
    root = _root(chosen, src, group_src, "broadcast")
    memory = memory_of(tensor)
    outputs = () if chosen.rank() == root else (tensor,)
    words = _words(OpType.BROADCAST, tensor, memory, root)
    call = Call(OpType.BROADCAST, (tensor,), outputs, memory, words, lambda each: each.broadcast(memory, root))
    return chosen.collective(call, async_op)


def all_gather(tensor_list: Any, tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Copy the tensor of each process to all, into a list with a tensor for each rank."""
    check_tensor_list(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    check_same_dtype(*tensor_list, tensor)
    if not is_member(group, "all_gather"):
        return None
    chosen = group_or_default(group)
    _check_list(tensor_list, tensor, chosen, "allgather")
    source = _in_rows(tensor)

    def body(communicator: Communicator) -> None:
        parts = empty(communicator.size * source.size, source)
        communicator.all_gather(parts, source)
        _fill(tensor_list, parts)

    words = _words(OpType.ALLGATHER, tensor, source, 0)
    return chosen.collective(Call(OpType.ALLGATHER, (tensor,), tuple(tensor_list), source, words, body), async_op)


def all_gather_single(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensor of each process to all, one after the other into one tensor."""
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    if not is_member(group, "all_gather_into_tensor"):
        return None
    chosen = group_or_default(group)
    _check_size("allgather", output_tensor, input_tensor, chosen.size())
    source, memory = memory_of(input_tensor), memory_of(output_tensor)
    words = _words(OpType._ALLGATHER_BASE, input_tensor, source, 0)
    body = lambda each: each.all_gather(memory, apart(source, memory))  # noqa: E731
    call = Call(OpType._ALLGATHER_BASE, (input_tensor,), (output_tensor,), source, words, body)
    return chosen.collective(call, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """As `all_gather_single`."""
    _deprecated("all_gather_into_tensor", "all_gather_single")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def gather(
    tensor: Tensor,
    gather_list: Any = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Copy the tensors of all processes to that of rank `dst`, into a list with a tensor for each rank."""
    check_tensor(tensor, "tensor")
    if gather_list:
        check_tensor_list(gather_list, "gather_list")
        check_same_dtype(tensor, *gather_list)
    if not is_member(group, "gather"):
        return None
    chosen = group_or_default(group)
    root = _root(chosen, 0 if dst is None and group_dst is None else dst, group_dst, "gather")
    is_root = chosen.rank() == root
    _check_list_at_root(gather_list, is_root, "gather_list", "destination")
    if is_root:
        _check_list(gather_list, tensor, chosen, "gather")
    source = _in_rows(tensor)

    def body(communicator: Communicator) -> None:
        parts = empty(communicator.size * source.size, source) if is_root else None
        communicator.gather(parts, source, root)
        if parts is not None:
            _fill(gather_list, parts)

    outputs = tuple(gather_list) if is_root else ()
    return chosen.collective(
        Call(OpType.GATHER, (tensor,), outputs, source, _words(OpType.GATHER, tensor, source, root), body), async_op
    )


def scatter(
    tensor: Tensor,
    scatter_list: Any = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each process one of the tensors in the list of the process of rank `src`."""
    check_tensor(tensor, "tensor")
    if scatter_list:
        check_tensor_list(scatter_list, "scatter_list")
        check_same_dtype(tensor, *scatter_list)
    if not is_member(group, "scatter"):
        return None
    chosen = group_or_default(group)
    root = _root(chosen, 0 if src is None and group_src is None else src, group_src, "scatter")
    is_root = chosen.rank() == root
    _check_list_at_root(scatter_list, is_root, "scatter_list", "source")
    if is_root:
        _check_scatter_list(scatter_list, tensor, chosen.size())
    memory_of(tensor)

    def body(communicator: Communicator) -> None:
        parts = joined([_in_rows(each) for each in scatter_list]) if is_root else None
        own = empty(tensor.numel(), tensor._mt_array)
        communicator.scatter(own, parts, root)
        _fill([tensor], own)

    inputs = tuple(scatter_list) if is_root else (tensor,)
    words = _words(OpType.SCATTER, tensor, tensor._mt_array, root)
    return chosen.collective(Call(OpType.SCATTER, inputs, (tensor,), None, words, body), async_op)


def reduce_scatter(
    output: Tensor, input_list: Any, op: Any = _SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the lists of all processes; each gets the result at its rank."""
    check_tensor(output, "output")
    check_tensor_list(input_list, "input_list")
    check_same_dtype(output, *input_list)
    if not is_member(group, "reduce_scatter"):
        return None
    chosen = group_or_default(group)
    if len(input_list) != chosen.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    for place, each in enumerate(input_list):
        if each.shape != output.shape:
            raise RuntimeError(
                f"invalid tensor size at index {place} (expected ({_sizes(output)}), got ({_sizes(each)}))"
            )
    kind = checked_op(op, output.dtype, "reduce_scatter")
    parts = joined([_in_rows(each) for each in input_list])
    own = empty(output.numel(), parts)
    memory_of(output)

    def body(communicator: Communicator) -> None:
        _before(parts, kind, op)
        communicator.reduce_scatter(own, parts, _summed(kind))
        _after(own, kind, communicator.size)
        _fill([output], own)

    words = _words(OpType.REDUCE_SCATTER, output, own, 0, kind)
    return chosen.collective(Call(OpType.REDUCE_SCATTER, tuple(input_list), (output,), parts, words, body), async_op)


def reduce_scatter_single(
    output: Tensor, input: Tensor, op: Any = _SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the inputs of all processes, and give each the part of the result at its rank."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    if not is_member(group, "reduce_scatter_tensor"):
        return None
    chosen = group_or_default(group)
    check_same_dtype(output, input)
    if output.numel() * chosen.size() != input.numel():
        raise ValueError("input tensor must be the same size as output size times world size")
    kind = checked_op(op, output.dtype, "reduce_scatter")
    source, memory = memory_of(input), memory_of(output)

    def body(communicator: Communicator) -> None:
        parts = source
        if kind is RedOpType.PREMUL_SUM:
            parts = copied(source)
            _before(parts, kind, op)
        communicator.reduce_scatter(memory, parts, _summed(kind))
        _after(memory, kind, communicator.size)

    words = _words(OpType._REDUCE_SCATTER_BASE, input, source, 0, kind)
    return chosen.collective(Call(OpType._REDUCE_SCATTER_BASE, (input,), (output,), source, words, body), async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = _SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """As `reduce_scatter_single`."""
    _deprecated("reduce_scatter_tensor", "reduce_scatter_single")
    return reduce_scatter_single(output, input, op, group, async_op)


def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """Give each process the tensor at its rank in the lists of all; they may have different sizes."""
    check_tensor_list(output_tensor_list, "output_tensor_list")
    check_tensor_list(input_tensor_list, "input_tensor_list")
    check_same_dtype(*output_tensor_list, *input_tensor_list)
    if not is_member(group, "all_to_all"):
        return None
    chosen = group_or_default(group)
    for each in (output_tensor_list, input_tensor_list):
        if len(each) != chosen.size():
            raise RuntimeError("Number of tensor splits not equal to group size")
    for each in output_tensor_list:
        memory_of(each)
    parts = joined([_in_rows(each) for each in input_tensor_list])
    counts = [each.numel() for each in input_tensor_list]
    received = [each.numel() for each in output_tensor_list]

    def body(communicator: Communicator) -> None:
        output = empty(sum(received), parts)
        communicator.all_to_all(output, parts, received, counts)
        _fill(output_tensor_list, output)

    return _exchange(
        chosen,
        OpType.ALLTOALL,
        tuple(input_tensor_list),
        tuple(output_tensor_list),
        parts,
        counts,
        received,
        body,
        async_op,
    )


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Split the input along its first dimension, give each process a part, and join what comes from all."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_same_dtype(output, input)
    if not is_member(group, "all_to_all_single"):
        return None
    chosen = group_or_default(group)
    source, memory = memory_of(input), memory_of(output)
    counts = _counts(input, input_split_sizes, chosen.size())
    received = _counts(output, output_split_sizes, chosen.size())
    body = lambda each: each.all_to_all(memory, apart(source, memory), received, counts)  # noqa: E731
    return _exchange(chosen, OpType.ALLTOALL_BASE, (input,), (output,), source, counts, received, body, async_op)


def _exchange(
    group: ProcessGroup,
    kind: OpType,
    inputs: tuple[Tensor, ...],
    outputs: tuple[Tensor, ...],
    source: Memory,
    counts: Sequence[int],
    received: Sequence[int],
    exchange: Any,
    async_op: bool,
) -> Work | None:
    def body(communicator: Communicator) -> None:
        # How much each expects of the others is not the same everywhere, so one word can't say whether it fits.
        said = communicator.gather_objects((list(counts), list(received)))
        for sender, receiver in itertools.product(range(communicator.size), repeat=2):
            sent, expected = said[sender][0][receiver], said[receiver][1][sender]
            if sent != expected:
                raise RuntimeError(
                    f"Detected mismatch between collectives on ranks: rank {sender} sends {sent} elements to rank "
                    f"{receiver}, which expects {expected}."
                )
        exchange(communicator)

    words = (*_words(kind, inputs[0], source, 0)[:1], 0, 0)
    return group.collective(Call(kind, inputs, outputs, source, words, body), async_op)


def _counts(tensor: Tensor, split_sizes: Sequence[int] | None, size: int) -> list[int]:
    rows = tensor.shape[0] if tensor.ndim else 1
    if not split_sizes:
        if rows % size:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [tensor.numel() // size] * size
    if len(split_sizes) != size:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(split_sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [each * (tensor.numel() // rows if rows else 0) for each in split_sizes]


def barrier(
    group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: timedelta | None = None
) -> Work | None:
    """Wait until all processes of the group have come here."""
    if not is_member(group, "barrier"):
        return None
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError(f"Invalid function argument: device_ids type should be List[int], but got {type(device_ids)}")
    call = Call(OpType.BARRIER, (), (), None, (int(OpType.BARRIER), 0, 0), lambda each: each.barrier())
    return group_or_default(group).collective(call, async_op)


# -------------------- checks and parts --------------------


def _root(group: ProcessGroup, global_rank: int | None, group_rank: int | None, name: str) -> int:
    """The rank in the group that was named by a rank among all or in the group."""
    if global_rank is None and group_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    if global_rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if group_rank is None:
        group_rank = global_rank if group is default_group() else get_group_rank(group, global_rank)
    if not 0 <= group_rank < group.size():
        raise RuntimeError(f"ProcessGroup{group.communicator.name.upper()}::{name}: invalid root rank: {group_rank}")
    return group_rank


def _words(
    kind: OpType, tensor: Tensor, memory: Memory, root: int, op: RedOpType = RedOpType.SUM
) -> tuple[int, int, int]:
    """What all processes have to agree on: kind, reduction, dtype and order in memory; elements; root."""
    return kind + 64 * op.value + 4096 * number_of(memory, tensor), memory.size, root


def _check_list(tensors: list[Tensor], tensor: Tensor, group: ProcessGroup, name: str) -> None:
    where = f"ProcessGroup{group.communicator.name.upper()}::{name}"
    if len(tensors) != group.size():
        raise RuntimeError(
            f"{where}: invalid output tensor list at index 0 (expected length {group.size()}, got {len(tensors)})"
        )
    for place, each in enumerate(tensors):
        memory_of(each)
        if each.shape != tensor.shape:
            raise RuntimeError(
                f"{where}: invalid tensor size at index {place} (expected ({_sizes(tensor)}), got ({_sizes(each)}))"
            )


def _check_size(name: str, output: Tensor, tensor: Tensor, size: int) -> None:
    check_same_dtype(output, tensor)
    if output.numel() != tensor.numel() * size:
        raise ValueError("output tensor size must be equal to world_size times input tensor size")


def _check_list_at_root(tensors: Any, is_root: bool, name: str, role: str) -> None:
    if is_root and not tensors:
        raise ValueError(f"Argument ``{name}`` must be specified on {role} rank.")
    if not is_root and tensors:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{role} ranks.")


def _check_scatter_list(tensors: list[Tensor], tensor: Tensor, size: int) -> None:
    if len(tensors) != size:
        raise RuntimeError(
            f"ProcessGroupMPI::scatter: Incorrect input list size {len(tensors)}. Input list size should be {size}, "
            "same as size of the process group."
        )
    for place, each in enumerate(tensors):
        if each.shape != tensor.shape:
            raise RuntimeError(
                f"ProcessGroupMPI::scatter: invalid tensor size at index {place} (expected ({_sizes(tensor)}), got "
                f"({_sizes(each)}))"
            )


def _sizes(tensor: Tensor) -> str:
    return ", ".join(str(each) for each in tensor.shape)


def _in_rows(tensor: Tensor) -> Memory:
    """The elements row by row, whatever their order in memory is."""
    memory_of(tensor)
    return in_rows(tensor._mt_array)


def _fill(tensors: Sequence[Tensor], parts: Memory) -> None:
    """Write parts, one after the other, to tensors."""
    for each, rows in zip(tensors, split(parts, [each.numel() for each in tensors]), strict=True):
        deliver(each._mt_array, rows)


def _before(memory: Memory, kind: RedOpType, op: Any) -> None:
    if kind is RedOpType.PREMUL_SUM:
        factor = op.factor
        multiply(memory, factor.item() if isinstance(factor, Tensor) else factor)


def _summed(kind: RedOpType) -> RedOpType:
    return RedOpType.SUM if kind is RedOpType.AVG or kind is RedOpType.PREMUL_SUM else kind


def _after(memory: Memory, kind: RedOpType, size: int) -> None:
    if kind is RedOpType.AVG:
        divide(memory, size)


def _deprecated(name: str, better: str) -> None:
    warn(f"`torch.distributed.{name}` is deprecated. Please use `torch.distributed.{better}` instead.", FutureWarning)
