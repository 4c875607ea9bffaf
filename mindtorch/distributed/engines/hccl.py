"""HCCL: collectives between NPUs, beside a communicator of the same processes' hosts.

The hosts compare what they are about to do, and notice processes that die; the devices move the numbers. A collective
is launched on the communicator's own stream, which follows the caller's stream and leads it afterwards: results are
there for whatever the caller launches next, and the host has not waited.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_uint64
from typing import TYPE_CHECKING, Any

from mindtorch.backends.npu import hccl
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.runtime.api import check_usable, failed
from mindtorch.backends.npu.runtime.stream import Event, Stream, current, set_current
from mindtorch.distributed.engines.communicator import Communicator, EngineError, PeerLost, Purpose
from mindtorch.distributed.engines.parts import JoiningParts
from mindtorch.distributed.reduce_op import RedOpType

if TYPE_CHECKING:
    from mindtorch.distributed.process_group import Call

# The reductions that HCCL has, of numbers and of truth values: as bytes, of which the sum would not be one.
_REDUCTIONS = {
    RedOpType.SUM: (hccl.SUM, hccl.MAX),
    RedOpType.PRODUCT: (hccl.PRODUCT, hccl.MIN),
    RedOpType.MIN: (hccl.MIN, hccl.MIN),
    RedOpType.MAX: (hccl.MAX, hccl.MAX),
}
_REDUCIBLE = ("int8", "int16", "int32", "int64", "float16", "float32", "bfloat16")
_NO_PRODUCT = ("int16", "bfloat16")


class HcclCommunicator(JoiningParts):
    """The devices of the processes of another communicator, one of each; all of them make it together."""

    name = "hccl"

    def __init__(self, host: Communicator, index: int, name: str) -> None:
        self.host = host
        self.rank, self.size = host.rank, host.size
        self.index = index
        self._last: tuple[Call, float, Event] | None = None
        check_usable(index)
        info = _info_for_all(host, index)
        self._devices = _run(lambda: hccl.Communicator(info, host.size, host.rank, index, name))

    # -------------------- what the hosts do --------------------

    def differences(self, words: tuple[int, ...]) -> bool:
        return self.host.differences(words)

    def gather_objects(self, value: Any) -> list[Any]:
        return self.host.gather_objects(value)

    def lost_ranks(self) -> list[int]:
        return self.host.lost_ranks()

    def meet(self, seconds: float, ranks: Sequence[int] | None = None, purpose: Purpose = Purpose.LEAVE) -> bool:
        return self.host.meet(seconds, ranks, purpose)

    # -------------------- collectives --------------------

    def all_reduce(self, memory: NpuArray, op: RedOpType) -> None:
        self._do("HcclAllReduce", memory, memory, memory.size, *_reduction(memory, op))

    def reduce(self, memory: NpuArray, op: RedOpType, root: int) -> None:
        self._do("HcclReduce", memory, memory, memory.size, *_reduction(memory, op), root)

    def broadcast(self, memory: NpuArray, root: int) -> None:
        self._do("HcclBroadcast", memory, memory.size, hccl.dtype_code(memory.dtype), root)

    def all_gather(self, output: NpuArray, memory: NpuArray) -> None:
        self._do("HcclAllGather", memory, output, memory.size, hccl.dtype_code(memory.dtype))

    def gather(self, output: NpuArray | None, memory: NpuArray, root: int) -> None:
        if output is None:
            self._exchange([(hccl.SEND, memory, root)])
            return
        parts = [_part(output, rank * memory.size, memory.size) for rank in range(self.size)]
        parts[root].copy_from(memory)
        self._exchange([(hccl.RECEIVE, part, rank) for rank, part in enumerate(parts) if rank != root])

    def scatter(self, memory: NpuArray, parts: NpuArray | None, root: int) -> None:
        source = memory if parts is None else parts
        self._do("HcclScatter", source, memory, memory.size, hccl.dtype_code(memory.dtype), root)

    def reduce_scatter(self, memory: NpuArray, parts: NpuArray, op: RedOpType) -> None:
        self._do("HcclReduceScatter", parts, memory, memory.size, *_reduction(memory, op))

    def all_to_all(
        self, output: NpuArray, parts: NpuArray, output_counts: Sequence[int], counts: Sequence[int]
    ) -> None:
        dtype = hccl.dtype_code(parts.dtype)
        self._do("HcclAlltoAllV", parts, *_table(counts), dtype, output, *_table(output_counts), dtype)

    def barrier(self) -> None:
        """Of the devices, and of the host with them."""
        self._do("HcclBarrier")
        self._devices.stream.synchronize()

    def _do(self, name: str, *arguments: Any) -> None:
        _run(lambda: self._devices.run(name, *arguments))

    def _exchange(self, items: Sequence[tuple[int, NpuArray, int]]) -> None:
        _run(lambda: self._devices.messages(items))

    # -------------------- the order of work --------------------

    def perform(self, call: Call, moment: Event) -> None:
        """Run a collective on the communicator's stream, after a moment on the caller's."""
        stream = self._devices.stream
        stream.wait_for(moment)
        for each in (*call.inputs, *call.outputs):
            each._mt_array.root.used_on(stream)
        with on(stream):
            call.body(self)
        self._note(call)

    def lead(self) -> None:
        """Have the caller's stream go on after what was given to the communicator."""
        current(self.index).wait_for(moment_of(self._devices.stream))

    def _note(self, call: Call) -> None:
        """Remember the last call for the watchdog, and since when it may be running."""
        self._last = call, time.monotonic(), moment_of(self._devices.stream)

    def late(self, seconds: float) -> tuple[Call, float] | None:
        """The last call and how long it has taken, if that is too long. Raises what has gone wrong on the devices."""
        if self._last is None:
            return None
        call, since, event = self._last
        if event.is_done():
            self._last = None
            return None
        self._check()
        taken = time.monotonic() - since
        return (call, taken) if taken > seconds else None

    # -------------------- messages --------------------

    def start_send(self, memory: NpuArray, peer: int, tag: int) -> DeviceRequest:
        return self.start_messages([(True, memory, peer)])

    def start_receive(self, memory: NpuArray, peer: int | None, tag: int) -> DeviceRequest:
        if peer is None:
            raise EngineError("HCCL receives from a process that is named only")
        return self.start_messages([(False, memory, peer)])

    def start_messages(self, items: Sequence[tuple[bool, NpuArray, int]]) -> DeviceRequest:
        """Several that need not come in this order: whether it is sent, memory, and peer of each."""
        self._devices.stream.wait_for(moment(self.index))
        self._exchange([(hccl.SEND if sent else hccl.RECEIVE, memory, peer) for sent, memory, peer in items])
        return DeviceRequest(self._devices, *items[0][1:])

    # -------------------- failures and the end --------------------

    def _check(self) -> None:
        code = _run(self._devices.error)
        if code == hccl.REMOTE:
            raise PeerLost(f"a process has died: {hccl.error_text(code)}")
        if code:
            raise EngineError(f"{hccl.error_text(code)} ({code})")

    def revoke(self) -> None:
        self.host.revoke()

    def fail(self, reason: str) -> None:
        """Give the device up, as the others will not come."""
        self._devices.give_up(reason)

    def free(self) -> None:
        if self.index not in failed:
            _run(self._devices.destroy)


def _info_for_all(host: Communicator, index: int) -> bytes:
    """What the devices find each other by. The first process asks for it; if it gets none, all get the error."""
    info, error = b"", ""
    if host.rank == 0:
        try:
            info = hccl.root_info(index)
        except hccl.HcclError as reason:
            error = str(reason)
    info, error = host.gather_objects((info, error))[0]
    if error:
        raise EngineError(error)
    return info


def moment(index: int) -> Event:
    """What the caller's stream of a device has been given so far."""
    return moment_of(current(index))


def moment_of(stream: Stream) -> Event:
    event = Event()
    event.record(stream)
    return event


@contextmanager
def on(stream: Stream) -> Iterator[None]:
    """Launch on a stream."""
    before = current(stream.device)
    set_current(stream)
    try:
        yield
    finally:
        set_current(before)


class DeviceRequest:
    """A message on its way between devices. It is taken when the communicator's stream has come to it."""

    def __init__(self, devices: hccl.Communicator, memory: NpuArray, peer: int) -> None:
        self._event = moment_of(devices.stream)
        self.source = peer
        self.nbytes = memory.nbytes

    def test(self) -> bool:
        return self._event.is_done()

    def cancel(self) -> None:
        """What is on a stream stays there."""


def _run(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except hccl.HcclError as error:
        raise EngineError(str(error)) from None


def _reduction(memory: NpuArray, op: RedOpType) -> tuple[int, int]:
    """Dtype and reduction in HCCL's numbers."""
    name = memory.dtype.name
    if op not in _REDUCTIONS:
        raise ValueError(f"Cannot use ReduceOp.{op.name} with HCCL")
    if name == "bool":
        return hccl.DTYPES["int8"], _REDUCTIONS[op][1]
    if name not in _REDUCIBLE or (op is RedOpType.PRODUCT and name in _NO_PRODUCT):
        raise RuntimeError(f"HCCL does not reduce {name} by ReduceOp.{op.name}")
    return hccl.dtype_code(memory.dtype), _REDUCTIONS[op][0]


def _part(array: NpuArray, start: int, count: int) -> NpuArray:
    """Some elements of a flat array."""
    itemsize = array.dtype.itemsize
    return NpuArray((count,), array.dtype, (itemsize,), array.root, array.byte_offset + start * itemsize)


def _table(counts: Sequence[int]) -> tuple[Any, Any]:
    """Counts and where the parts begin, as HCCL takes them."""
    starts = [sum(counts[:place]) for place in range(len(counts))]
    return (c_uint64 * len(counts))(*counts), (c_uint64 * len(counts))(*starts)
