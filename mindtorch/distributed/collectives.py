"""The collectives: what users call. Each checks its tensors and hands the group what is to be run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.history import check_recorded_write
from mindtorch.distributed.arguments import (
    check_coalesced_lists,
    check_has_tensors,
    check_list,
    check_list_at_root,
    check_parts,
    check_root_list,
    checked_root,
    named_rank,
    record_copies,
    sizes,
)
from mindtorch.distributed.checks import check_same_dtype, check_tensor, check_tensor_list, memory_of, number_of
from mindtorch.distributed.engines.communicator import Communicator
from mindtorch.distributed.memory import (
    Memory,
    apart,
    copied,
    deliver_all,
    divide,
    in_rows,
    multiply,
    places_for,
    write,
)
from mindtorch.distributed.op_types import OpType
from mindtorch.distributed.process_group import Call, ProcessGroup
from mindtorch.distributed.reduce_op import RedOpType, ReduceOp, checked_op
from mindtorch.distributed.work import Work
from mindtorch.distributed.world import group_for, member_group

_SUM = ReduceOp.SUM
_SCALED = (RedOpType.AVG, RedOpType.PREMUL_SUM)
_ALL_REDUCE = int(OpType.ALLREDUCE)


def all_reduce(tensor: Tensor, op: Any = _SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all processes; each gets the result in its own tensor.

    The tensor is dense and contiguous, or has its channels last, and has the same shape and dtype everywhere. Raises
    `DistBackendError` when a process has died or is late.
    """
    check_tensor(tensor, "tensor")
    chosen = group_for(group, "all_reduce")
    if chosen is None:
        return None
    kind = op if op is _SUM else checked_op(op, tensor, "all_reduce")
    return chosen.collective(_all_reduce_call(tensor, kind, op), async_op)


def _all_reduce_call(tensor: Tensor, kind: RedOpType, op: Any) -> Call:
    memory = memory_of(tensor)
    tensors = (tensor,)
    words = (_ALL_REDUCE + 64 * kind.number + 4096 * number_of(memory, tensor), memory.size, 0)
    if kind in _SCALED:
        return Call(OpType.ALLREDUCE, tensors, tensors, memory, words, _scaled_all_reduce(memory, kind, op))
    return Call(OpType.ALLREDUCE, tensors, tensors, memory, words, lambda each: each.all_reduce(memory, kind))


def _scaled_all_reduce(memory: Memory, kind: RedOpType, op: Any) -> Callable[[Communicator], None]:
    def body(communicator: Communicator) -> None:
        _before(memory, kind, op)
        communicator.all_reduce(memory, RedOpType.SUM)
        _after(memory, kind, communicator.size)

    return body


def all_reduce_coalesced(tensors: Any, op: Any = _SUM, group: Any = None, async_op: bool = False) -> Any:
    """Reduce several tensors as one collective. Returns a future with `async_op=True`."""
    _going_to_be_deprecated("all_reduce_coalesced")
    tensors = [tensors] if isinstance(tensors, Tensor) else tensors
    check_tensor_list(tensors, "tensor")
    check_has_tensors(tensors, "allreduce_coalesced_")
    check_same_dtype(*tensors)
    chosen = group_for(group, "all_reduce_coalesced")
    if chosen is None:
        return None
    for each in tensors:
        check_recorded_write(each)
    calls = [_all_reduce_call(each, checked_op(op, each, "all_reduce"), op) for each in tensors]
    return _future(chosen.coalesced_collectives(calls, async_op), tensors)


def _future(work: Work | None, outputs: list) -> Any:
    """What gives the outputs, nested as they were handed in, when a collective has ended."""
    if work is None:
        return None

    def nested(done: Any) -> list:
        done.value()  # raises the error of a collective that failed
        return outputs

    return work.get_future().then(nested)


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
    chosen = member_group(group)
    root = checked_root(named_rank(chosen, dst, group_dst), chosen, "reduce")
    kind = checked_op(op, tensor, "reduce")
    return chosen.collective(_reduce_call(tensor, tensor, kind, op, root, chosen.rank() == root), async_op)


def _reduce_call(output: Tensor, tensor: Tensor, kind: RedOpType, op: Any, root: int, is_root: bool) -> Call:
    is_in_place = output is tensor
    source = memory_of(tensor) if is_in_place else _in_rows(tensor)
    arrays = _checked_arrays(output)

    def body(communicator: Communicator) -> None:
        places = [source] if is_in_place else places_for(arrays, [])
        numbers = places[0] if is_root else copied(source)
        if is_root and not is_in_place:
            write(numbers, source)
        _before(numbers, kind, op)
        communicator.reduce(numbers, _summed(kind), root)
        if is_root:
            _after(numbers, kind, communicator.size)
            deliver_all(arrays, places)

    number = OpType.REDUCE if is_in_place else OpType.REDUCE_OOP
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
    chosen = group_for(group, "_reduce_oop")
    if chosen is None:
        return None
    root = checked_root(named_rank(chosen, dst, None), chosen, "reduce")
    kind = checked_op(op, input, "reduce")
    return chosen.collective(_reduce_call(output, input, kind, op, root, chosen.rank() == root), async_op)


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Send the tensor of the process of rank `src` to all others, into theirs."""
    check_tensor(tensor, "tensor")
    chosen = member_group(group)
    root = checked_root(named_rank(chosen, src, group_src), chosen, "broadcast")
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
    chosen = group_for(group, "all_gather")
    if chosen is None:
        return None
    check_list(tensor_list, tensor, chosen)
    record_copies(tensor_list)
    return chosen.collective(_all_gather_call(OpType.ALLGATHER, tensor_list, tensor), async_op)


def _all_gather_call(kind: OpType, outputs: Sequence[Tensor], tensor: Tensor) -> Call:
    source = _in_rows(tensor)
    arrays = _arrays(outputs)

    def body(communicator: Communicator) -> None:
        places = places_for(arrays, [source])
        communicator.all_gather_parts(places, source)
        deliver_all(arrays, places)

    return Call(kind, (tensor,), tuple(outputs), source, _words(kind, tensor, source, 0), body)


def all_gather_coalesced(
    output_tensor_lists: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Any:
    """Copy several tensors of each process to all, as one collective, into a list of as many tensors for each rank.

    Returns a future with `async_op=True`.
    """
    _going_to_be_deprecated("all_gather_coalesced")
    chosen = group_for(group, "all_gather_coalesced")
    if chosen is None:
        return None
    check_tensor_list(input_tensor_list, "input_tensor_list")
    check_has_tensors(input_tensor_list, "allgather_coalesced_")
    check_same_dtype(*input_tensor_list)
    check_coalesced_lists(output_tensor_lists, input_tensor_list, chosen)
    for each in output_tensor_lists:
        record_copies(each)
    calls = [
        _all_gather_call(OpType.ALLGATHER_COALESCED, [each[place] for each in output_tensor_lists], tensor)
        for place, tensor in enumerate(input_tensor_list)
    ]
    return _future(chosen.coalesced_collectives(calls, async_op), output_tensor_lists)


def all_gather_single(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Copy the tensor of each process to all, one after the other into one tensor."""
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    chosen = group_for(group, "all_gather_into_tensor")
    if chosen is None:
        return None
    check_parts(output_tensor, input_tensor, chosen.size())
    record_copies([output_tensor])
    source, arrays = _in_rows(input_tensor), _checked_arrays(output_tensor)

    def body(communicator: Communicator) -> None:
        places = places_for(arrays, [])
        communicator.all_gather(places[0], apart(source, places[0]))
        deliver_all(arrays, places)

    words = _words(OpType._ALLGATHER_BASE, input_tensor, source, 0)
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
    chosen = group_for(group, "gather")
    if chosen is None:
        return None
    root = named_rank(chosen, 0 if dst is None and group_dst is None else dst, group_dst)
    is_root = chosen.rank() == root
    check_list_at_root(gather_list, is_root, "gather_list", "destination")
    if checked_root(root, chosen, "gather") == chosen.rank():
        check_root_list(gather_list, tensor, chosen, "gather", "output")
        record_copies(gather_list)
    source = _in_rows(tensor)
    arrays = _arrays(gather_list) if is_root else []

    def body(communicator: Communicator) -> None:
        places = places_for(arrays, [source]) if is_root else None
        communicator.gather_parts(places, source, root)
        deliver_all(arrays, places or [])

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
    chosen = member_group(group)
    root = named_rank(chosen, 0 if src is None and group_src is None else src, group_src)
    is_root = chosen.rank() == root
    check_list_at_root(scatter_list, is_root, "scatter_list", "source")
    if checked_root(root, chosen, "scatter") == chosen.rank():
        check_root_list(scatter_list, tensor, chosen, "scatter", "input")
    arrays = _checked_arrays(tensor)

    def body(communicator: Communicator) -> None:
        parts = [_in_rows(each) for each in scatter_list] if is_root else None
        places = places_for(arrays, parts or [])
        communicator.scatter_parts(places[0], parts, root)
        deliver_all(arrays, places)

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
    chosen = group_for(group, "reduce_scatter")
    if chosen is None:
        return None
    if len(input_list) != chosen.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    for place, each in enumerate(input_list):
        if each.shape != output.shape:
            raise RuntimeError(
                f"invalid tensor size at index {place} (expected ({sizes(output)}), got ({sizes(each)}))"
            )
    kind = checked_op(op, output, "reduce_scatter")
    record_copies([output])
    sources = [_in_rows(each) for each in input_list]
    arrays = _checked_arrays(output)

    def body(communicator: Communicator) -> None:
        parts = [_multiplied(each, kind, op) for each in sources]
        places = places_for(arrays, parts)
        communicator.reduce_scatter_parts(places[0], parts, _summed(kind))
        _after(places[0], kind, communicator.size)
        deliver_all(arrays, places)

    words = _words(OpType.REDUCE_SCATTER, output, output._mt_array, 0, kind)
    return chosen.collective(Call(OpType.REDUCE_SCATTER, tuple(input_list), (output,), sources, words, body), async_op)


def reduce_scatter_single(
    output: Tensor, input: Tensor, op: Any = _SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce the inputs of all processes, and give each the part of the result at its rank."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    chosen = group_for(group, "reduce_scatter_tensor")
    if chosen is None:
        return None
    check_same_dtype(output, input)
    if output.numel() * chosen.size() != input.numel():
        raise ValueError("input tensor must be the same size as output size times world size")
    kind = checked_op(op, output, "reduce_scatter")
    record_copies([output])
    source, arrays = _in_rows(input), _checked_arrays(output)

    def body(communicator: Communicator) -> None:
        places = places_for(arrays, [])
        communicator.reduce_scatter(places[0], apart(_multiplied(source, kind, op), places[0]), _summed(kind))
        _after(places[0], kind, communicator.size)
        deliver_all(arrays, places)

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
    chosen = group_for(group, "all_to_all")
    if chosen is None:
        return None
    for name, each in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(each) != chosen.size():
            raise RuntimeError(
                f"{chosen.title}::alltoall: {name} tensor list size {len(each)} does not match world size "
                f"{chosen.size()}"
            )
    for each in output_tensor_list:
        memory_of(each)
    record_copies(output_tensor_list)
    parts = [_in_rows(each) for each in input_tensor_list]
    arrays = _arrays(output_tensor_list)
    counts = [each.numel() for each in input_tensor_list]
    received = [each.numel() for each in output_tensor_list]

    def body(communicator: Communicator) -> None:
        places = places_for(arrays, parts)
        communicator.all_to_all_parts(places, parts)
        deliver_all(arrays, places)

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
    chosen = group_for(group, "all_to_all_single")
    if chosen is None:
        return None
    source, arrays = _in_rows(input), _checked_arrays(output)
    counts = _counts(input, input_split_sizes, chosen.size())
    received = _counts(output, output_split_sizes, chosen.size())

    def body(communicator: Communicator) -> None:
        places = places_for(arrays, [])
        communicator.all_to_all(places[0], apart(source, places[0]), received, counts)
        deliver_all(arrays, places)

    return _exchange(chosen, OpType.ALLTOALL_BASE, (input,), (output,), source, counts, received, body, async_op)


def _exchange(
    group: ProcessGroup,
    kind: OpType,
    inputs: tuple[Tensor, ...],
    outputs: tuple[Tensor, ...],
    source: Memory | list[Memory],
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

    words = (*_words(kind, inputs[0], inputs[0]._mt_array, 0)[:1], 0, 0)
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
    chosen = group_for(group, "barrier")
    if chosen is None:
        return None
    call = Call(OpType.BARRIER, (), (), None, (int(OpType.BARRIER), 0, 0), lambda each: each.barrier())
    return chosen.collective(call, async_op)


# -------------------- parts --------------------


def _words(
    kind: OpType, tensor: Tensor, memory: Memory, root: int, op: RedOpType = RedOpType.SUM
) -> tuple[int, int, int]:
    """What all processes have to agree on: kind, reduction, dtype and order in memory; elements; root."""
    return kind + 64 * op.number + 4096 * number_of(memory, tensor), memory.size, root


def _in_rows(tensor: Tensor) -> Memory:
    """The elements row by row, whatever their order in memory is."""
    memory_of(tensor)
    return in_rows(tensor._mt_array)


def _checked_arrays(output: Tensor) -> list[Memory]:
    """The array of an output, into which elements come row by row, whatever their order in it is."""
    memory_of(output)
    return [output._mt_array]


def _arrays(tensors: Sequence[Tensor]) -> list[Memory]:
    return [each._mt_array for each in tensors]


def _multiplied(memory: Memory, kind: RedOpType, op: Any) -> Memory:
    """The memory, or what is to be summed in its place."""
    if kind is not RedOpType.PREMUL_SUM:
        return memory
    numbers = copied(memory)
    _before(numbers, kind, op)
    return numbers


def _before(memory: Memory, kind: RedOpType, op: Any) -> None:
    if kind is RedOpType.PREMUL_SUM:
        factor = op.factor
        multiply(memory, factor.item() if isinstance(factor, Tensor) else factor)


def _summed(kind: RedOpType) -> RedOpType:
    return RedOpType.SUM if kind is RedOpType.AVG or kind is RedOpType.PREMUL_SUM else kind


def _after(memory: Memory, kind: RedOpType, size: int) -> None:
    if kind is RedOpType.AVG:
        divide(memory, size)


def _going_to_be_deprecated(name: str) -> None:
    warn(
        f"`torch.distributed.{name}` will be deprecated. If you must use it, please revisit our documentation later at "
        "https://pytorch.org/docs/main/distributed.html#collective-functions",
        FutureWarning,
    )


def _deprecated(name: str, better: str) -> None:
    warn(f"`torch.distributed.{name}` is deprecated. Please use `torch.distributed.{better}` instead.", FutureWarning)


def _all_gather_base(output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False) -> Any:
    """An older name of `all_gather_into_tensor`."""
    warn(_RENAMED.format("_all_gather_base", "all_gather_into_tensor"), FutureWarning)
    return all_gather_into_tensor(output_tensor, input_tensor, group, async_op)


def _reduce_scatter_base(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """An older name of `reduce_scatter_tensor`."""
    warn(_RENAMED.format("_reduce_scatter_base", "reduce_scatter_tensor"), FutureWarning)
    return reduce_scatter_tensor(output, input, op, group, async_op)


_RENAMED = (
    "`torch.distributed.{}` is a private function and will be deprecated. Please use `torch.distributed.{}` instead."
)
