"""HCCL: collectives between NPUs, beside a communicator of the same processes' hosts.

The hosts compare what they are about to do, and notice processes that die; the devices move the numbers. A call returns
when its work is on the communicator's stream, which follows the caller's stream and leads it afterwards: results are
there for whatever the caller launches next, and the host has not waited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_uint64
from typing import Any

from mindtorch.backends.npu import hccl
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.runtime.api import check_usable
from mindtorch.backends.npu.runtime.stream import Event
from mindtorch.distributed.engines.communicator import Communicator, EngineError, PeerLost
from mindtorch.distributed.reduce_op import RedOpType

# The reductions that HCCL has, of numbers and of truth values: as bytes, of which the sum would not be one.
_REDUCTIONS = {
    RedOpType.SUM: (hccl.SUM, hccl.MAX),
    RedOpType.PRODUCT: (hccl.PRODUCT, hccl.MIN),
    RedOpType.MIN: (hccl.MIN, hccl.MIN),
    RedOpType.MAX: (hccl.MAX, hccl.MAX),
}
_REDUCIBLE = ("int8", "int16", "int32", "int64", "float16", "float32", "bfloat16")
_NO_PRODUCT = ("int16", "bfloat16")


class HcclCommunicator:
    """The devices of the processes of another communicator, one of each; all of them make it together."""

    name = "hccl"

    def __init__(self, host: Communicator, index: int, name: str) -> None:
        self.host = host
        self.rank, self.size = host.rank, host.size
        self.index = index
        check_usable(index)
        own = _run(lambda: hccl.root_info(index)) if host.rank == 0 else None
        info = host.gather_objects(own)[0]
        self._devices = _run(lambda: hccl.Communicator(info, host.size, host.rank, index, name))

    # -------------------- what the hosts do --------------------

    def differences(self, words: Sequence[int]) -> bool:
        return self.host.differences(words)

    def gather_objects(self, value: Any) -> list[Any]:
        return self.host.gather_objects(value)

    def lost_ranks(self) -> list[int]:
        return self.host.lost_ranks()

    def meet(self, seconds: float) -> bool:
        return self.host.meet(seconds)

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
        """Of the devices, and then of the host with them."""
        self._do("HcclBarrier")
        self._devices.stream.synchronize()

    def _do(self, name: str, *arguments: Any) -> None:
        devices = self._devices
        devices.follow()
        _run(lambda: devices.run(name, *arguments))
        devices.lead()

    def _exchange(self, items: Sequence[tuple[int, NpuArray, int]]) -> None:
        self._devices.follow()
        _run(lambda: self._devices.messages(items))
        self._devices.lead()

    # -------------------- messages --------------------

    def start_send(self, memory: NpuArray, peer: int, tag: int) -> DeviceRequest:
        return self._message(hccl.SEND, memory, peer)

    def start_receive(self, memory: NpuArray, peer: int | None, tag: int) -> DeviceRequest:
        if peer is None:
            raise EngineError("HCCL receives from a process that is named only")
        return self._message(hccl.RECEIVE, memory, peer)

    def _message(self, kind: int, memory: NpuArray, peer: int) -> DeviceRequest:
        self._exchange([(kind, memory, peer)])
        return DeviceRequest(self._devices, memory, peer)

    # -------------------- failures and the end --------------------

    def check(self) -> None:
        """Raise what has gone wrong on the devices since."""
        code = _run(self._devices.error)
        if code == hccl.REMOTE:
            raise PeerLost(hccl.error_text(code))
        if code:
            raise EngineError(f"{hccl.error_text(code)} ({code})")

    def revoke(self) -> None:
        self.host.revoke()
        self._devices.abort()

    def free(self) -> None:
        _run(self._devices.destroy)


class DeviceRequest:
    """A message on its way between devices. It is taken when the communicator's stream has come to it."""

    def __init__(self, devices: hccl.Communicator, memory: NpuArray, peer: int) -> None:
        self._event = Event()
        self._event.record(devices.stream)
        self.source = peer
        self.nbytes = memory.size * memory.itemsize

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
