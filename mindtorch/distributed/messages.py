"""Messages from one process to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import mark_written
from mindtorch.distributed.arguments import check_is_int, named_rank
from mindtorch.distributed.checks import check_tensor, memory_of
from mindtorch.distributed.engines.communicator import Request
from mindtorch.distributed.memory import Memory, deliver, index_of, is_part_of
from mindtorch.distributed.op_types import OpType
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.work import Work
from mindtorch.distributed.world import GroupMember, get_global_rank, group_for, group_or_default, member_group


def isend(
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work:
    """Begin to send a tensor, which must not change until the work is done."""
    check_tensor(tensor, "tensor")
    chosen = _registered(group)
    peer = _peer(chosen, dst, group_dst)
    check_is_int(tag, "a tag")
    if peer == chosen.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the current process."
        )
    memory = memory_of(tensor, p2p=True)
    start = lambda: chosen.engine_of(memory).start_send(memory, peer, tag)  # noqa: E731
    return chosen.message(start, tensor, lambda request: None, OpType.SEND, peer)


def irecv(
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Begin to receive a tensor, from any process if none is named."""
    check_tensor(tensor, "tensor")
    chosen = group_for(group, "irecv")
    if chosen is None:
        return None
    check_is_int(tag, "a tag")
    peer = None if src is None and group_src is None else _peer(chosen, src, group_src)
    if peer == chosen.rank():
        raise ValueError("Invalid source rank: source rank should not be the same as the rank of the current process.")
    memory = memory_of(tensor, p2p=True)
    start = lambda: chosen.engine_of(memory).start_receive(memory, peer, tag)  # noqa: E731
    return chosen.message(start, tensor, _taker(tensor, memory), OpType.RECV, peer)


def _taker(tensor: Tensor, memory: Memory) -> Callable[[Request], None]:
    """What is to be done when a message has arrived in memory that is the tensor's, or a copy of it."""
    is_whole = is_part_of(memory, tensor._mt_array)

    def finish(request: Request) -> None:
        if request.nbytes != memory.nbytes:
            raise RuntimeError(
                f"the message from rank {request.source} has {request.nbytes} bytes, but the tensor that receives it "
                f"has {memory.nbytes}"
            )
        if not is_whole:
            deliver(tensor._mt_array, memory)
        mark_written(tensor)

    return finish


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to the process of rank `dst`."""
    check_tensor(tensor, "tensor")
    isend(tensor, dst, member_group(group), tag, group_dst).wait()


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor, from any process if none is named; the rank that it came from."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return get_global_rank(group_or_default(group), work.source_rank())


def _registered(group: Any) -> ProcessGroup:
    if group is GroupMember.NON_GROUP_MEMBER:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return group_or_default(group)


def _peer(group: ProcessGroup, rank: int | None, group_rank: int | None) -> int:
    peer = named_rank(group, rank, group_rank)
    check_is_int(peer, "the rank of a process")
    if not 0 <= peer < group.size():
        raise ValueError(f"Group rank {peer} is not part of group {group}")
    return peer


class P2POp:
    """A message to be sent or received with others by `batch_isend_irecv`."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op = op
        self.tensor = tensor
        self.group = group_or_default(group)
        self.group_peer = _peer(self.group, peer, group_peer)
        self.peer = get_global_rank(self.group, self.group_peer)
        self.tag = tag

    def __repr__(self) -> str:
        own, other = self.group.rank(), self.group_peer
        source, target = (own, other) if self.op is isend else (other, own)
        return (
            f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={source}, group_dst={target},  "
            f"{self.tensor.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin to send and receive several tensors, in any order."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if not p2p_op_list:
        raise IndexError("list index out of range")
    if any(each.group is not p2p_op_list[0].group for each in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    if index_of(p2p_op_list[0].tensor._mt_array) is not None:
        return _begin_on_device(p2p_op_list)
    return [_begin(each) for each in p2p_op_list]


def _begin_on_device(ops: list[P2POp]) -> list[Work]:
    """All at once: on one stream, a message that waits for its receiver would keep back those behind it."""
    group = ops[0].group
    memories = [memory_of(each.tensor, p2p=True) for each in ops]
    items = [(each.op is isend, memory, each.group_peer) for each, memory in zip(ops, memories, strict=True)]
    request: list[Any] = []

    def start() -> Any:
        if not request:
            request.append(group.engine_of(memories[0]).start_messages(items))
        return request[0]

    finishes = [
        (lambda request: None) if each.op is isend else _taker(each.tensor, memory)
        for each, memory in zip(ops, memories, strict=True)
    ]
    return [
        group.message(start, each.tensor, finish, _kind(each), each.group_peer)
        for each, finish in zip(ops, finishes, strict=True)
    ]


def _begin(each: P2POp) -> Any:
    if each.op is isend:
        return isend(each.tensor, group=each.group, tag=each.tag, group_dst=each.group_peer)
    return irecv(each.tensor, group=each.group, tag=each.tag, group_src=each.group_peer)


def _kind(each: P2POp) -> OpType:
    return OpType.SEND if each.op is isend else OpType.RECV
