"""`ProcessGroup`: processes that work together, and what they do before, during and after a collective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from time import monotonic, time_ns
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch.autograd._engine.history import mark_written
from mindtorch.distributed import checks
from mindtorch.distributed.engines.communicator import Communicator, EngineError, PeerLost, Revoked
from mindtorch.distributed.errors import DistBackendError
from mindtorch.distributed.flight_recorder import RECORDER
from mindtorch.distributed.memory import Memory, index_of
from mindtorch.distributed.op_types import OpType
from mindtorch.distributed.watchdog import WATCHDOG
from mindtorch.distributed.work import Message, Queue, Work

hccl: Any = lazy("mindtorch.distributed.engines.hccl")

# How long a process that leaves a group waits for the others to leave it as well, in seconds. It has nothing to do then
# but to let them take what it has sent for the last collective: microseconds, or several turns of the scheduler where
# there are more processes than cores. Too short a time would make a collective fail that all have entered; what is
# longer keeps those waiting that are in one which this process will not enter.
PATIENCE = 0.5


class Call:
    """One collective: its kind, its tensors, what the processes have to agree on, and what runs it.

    `device`: the number of the device that its tensors are on, None for those of the CPU.
    """

    __slots__ = ("body", "device", "inputs", "kind", "memory", "outputs", "words")

    def __init__(
        self,
        kind: OpType,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        memory: Memory | list[Memory] | None,
        words: tuple[int, int, int],
        body: Callable[[Any], None],
    ) -> None:
        self.kind = kind
        self.inputs = inputs
        self.outputs = outputs
        self.memory = memory
        self.words = words
        self.body = body
        self.device = index_of(inputs[0]._mt_array) if inputs else None


class ProcessGroup:
    """Some of the processes that were started together; all of them call the same collectives in the same order."""

    def __init__(
        self,
        communicator: Communicator,
        ranks: Sequence[int],
        backend: str,
        name: str,
        description: str,
        timeout: timedelta,
    ) -> None:
        self.communicator = communicator
        self._devices: dict[int, Any] = {}  # the communicators of devices, made by the first collective on each
        self.ranks = list(ranks)
        self.backend = backend
        self.group_name = name
        self.group_desc = description
        self.timeout = timeout
        self.description = self._described()
        self.failure: str | None = None
        self.is_left = False
        self.started: tuple[OpType, float, Call] | None = None  # what runs now, for the watchdog
        self.coalesced: list[Call] | None = None
        self._nan_check = checks.nan_check_is_wanted()
        self._sequence = self._messages = self._operations = 0
        self._queue: Queue | None = None
        RECORDER.add_group(self)
        WATCHDOG.add(self)

    def rank(self) -> int:
        """The rank of this process in the group."""
        return self.communicator.rank

    def size(self) -> int:
        """The number of processes."""
        return self.communicator.size

    def _get_backend(self, device: Any) -> ProcessGroup:
        """What has the calls of a device's library: the group itself."""
        return self

    def get_hccl_comm_name(self, rank: int, init_comm: bool = True) -> str:
        """What ops of torch_npu that communicate know the group by."""
        return self.group_name

    def name(self) -> str:
        """The name of the backend."""
        return self.backend

    def set_timeout(self, timeout: timedelta) -> None:
        """Change how long a collective may take."""
        self.timeout = timeout
        self.description = self._described()

    def _described(self) -> tuple[str, str, str, int]:
        """What the flight recorder keeps of the group."""
        return self.group_name, self.group_desc, self.backend, int(1000 * self.timeout.total_seconds())

    @property
    def title(self) -> str:
        """The name of PyTorch's class for the backend, for errors of arguments."""
        return "ProcessGroupGloo" if "gloo" in self.backend else "ProcessGroupMPI"

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.group_name} of {self.size()} processes, rank {self.rank()}>"

    # -------------------- collectives --------------------

    def collective(self, call: Call, async_op: bool = False) -> Work | None:
        """Run a collective, now or in the order of the asynchronous ones before it."""
        if self._nan_check and call.memory is not None:
            checks.check_for_nan(call.memory, call.kind.name)
        if self.coalesced is not None:
            self.coalesced.append(call)
            return None
        self._sequence += 1
        if async_op or self._queue is not None or call.device is not None:
            return self._start([call], async_op)
        self._run_one(call, self._sequence)
        return None

    def coalesced_collectives(self, calls: list[Call], async_op: bool) -> Work | None:
        """Run several as one: they share a sequence number and one comparison of what the processes do."""
        self._sequence += 1
        return self._start(calls, async_op)

    def _start(self, calls: list[Call], async_op: bool) -> Work | None:
        sequence = self._sequence
        index = calls[0].device
        moment = None if index is None else hccl.moment(index)
        if async_op:
            if self._queue is None:
                self._queue = Queue(self.group_name)
            work = Work([each for call in calls for each in call.outputs])
            if index is not None:
                work.at_end = lambda: self.on_device(index).lead()
            return self._queue.add(work, lambda: self._run(calls, sequence, moment))
        if self._queue is not None:
            self._queue.drain()
        self._run(calls, sequence, moment)
        if index is not None:
            self.on_device(index).lead()
        return None

    def _run_one(self, call: Call, sequence: int) -> None:
        """Run a collective in this thread: what `_run` does for several, without a step that one can do without."""
        if self.failure is not None:
            raise self.failure_error()
        self._operations += 1
        entry = RECORDER.scheduled(self, call, sequence, self._operations)
        communicator = self.communicator
        self.started = (call.kind, monotonic(), call)
        try:
            if communicator.differences((sequence, *call.words)):
                self._raise_mismatch([call], sequence)
            call.body(communicator)
        except EngineError as error:
            raise self.failed(error) from None
        finally:
            self.started = None
        if entry is not None:
            entry.completed = time_ns()
        for each in call.outputs:
            mark_written(each)

    def _run(self, calls: list[Call], sequence: int, moment: Any) -> None:
        """`moment`: what a device has to have done before, None on the CPU."""
        if len(calls) == 1 and moment is None:
            self._run_one(calls[0], sequence)
            return
        if self.failure is not None:
            raise self.failure_error()
        communicator = self.communicator
        first = calls[0]
        entries = [RECORDER.scheduled(self, call, sequence, self._next_operation()) for call in calls]
        self.started = (first.kind, monotonic(), first)
        try:
            if communicator.differences((sequence, *_words_of(calls))):
                self._raise_mismatch(calls, sequence)
            for call, entry in zip(calls, entries, strict=True):
                if moment is None or call.device is None:
                    call.body(communicator)
                else:
                    self.on_device(call.device).perform(call, moment)
                RECORDER.completed(entry)
                for each in call.outputs:
                    mark_written(each)
        except EngineError as error:
            raise self.failed(error) from None
        finally:
            self.started = None

    def _next_operation(self) -> int:
        self._operations += 1
        return self._operations

    def _raise_mismatch(self, calls: Sequence[Call], sequence: int) -> None:
        mine = "; ".join(checks.fingerprint_text(sequence, call.kind.name, call.inputs) for call in calls)
        said = self.communicator.gather_objects(f"{mine}{'' if len(calls) > 1 else _details(calls[0])}")
        raise RuntimeError(checks.mismatch_text(self.rank(), said))

    # -------------------- devices --------------------

    def on_device(self, index: int) -> Any:
        """The communicator of a device of this process, and one of each other; the first call makes it, in all."""
        found = self._devices.get(index)
        if found is None:
            if "hccl" not in self.backend:
                raise RuntimeError("No backend type associated with device type npu")
            found = self._devices[index] = hccl.HcclCommunicator(self.communicator, index, f"group {self.group_name}")
        return found

    def engine_of(self, memory: Memory) -> Any:
        """The communicator for memory of the CPU, or of a device."""
        index = index_of(memory)
        return self.communicator if index is None else self.on_device(index)

    def look_at_devices(self) -> None:
        """Find out what has gone wrong since on devices: work there is not waited for."""
        for each in list(self._devices.values()):
            try:
                late = each.late(self.timeout.total_seconds())
            except EngineError as error:
                self.failed(error)
            else:
                if late is None:
                    continue
                call, seconds = late
                self.abort(self.timeout_text(call.kind, call, int(1000 * seconds)))
            each.fail(str(self.failure_error()))

    def watched(self, make: Callable[[], Any]) -> Any:
        """Have the engine do something that all processes take part in; the watchdog ends it after the timeout."""
        call = Call(OpType.BARRIER, (), (), None, (int(OpType.BARRIER), 0, 0), lambda communicator: None)
        self.started = (call.kind, monotonic(), call)
        try:
            return make()
        except EngineError as error:
            raise self.failed(error) from None
        finally:
            self.started = None

    # -------------------- messages --------------------

    def message(
        self, start: Callable[[], Any], tensor: Tensor, finish: Callable[[Any], None], kind: OpType, peer: int | None
    ) -> Message:
        """A message that was started, as work to wait for."""
        if self.failure is not None:
            raise self.failure_error()
        self._messages += 1
        entry = RECORDER.message(self, kind, tensor, self._messages, self._next_operation(), peer)
        try:
            return Message(self, start(), tensor, finish, entry)
        except EngineError as error:
            raise self.failed(error) from None

    # -------------------- failures --------------------

    def failed(self, error: EngineError) -> DistBackendError:
        """The error that the caller gets for one of the engine; the group is of no use from now on.

        The group's own reason comes first: the engine only knows that it was aborted.
        """
        if self.failure is None and isinstance(error, PeerLost | Revoked):
            lost = [self.ranks[each] for each in self.communicator.lost_ranks()]
            if lost:
                self.abort(f"the process of rank {', '.join(str(each) for each in lost)} has died")
            elif isinstance(error, PeerLost):
                self.abort(str(error))
            else:
                RECORDER.dump_after_failure()
                self.failure = "another process of the group has aborted it, because a process has left or was late"
        if self.failure is not None:
            return self.failure_error()
        return DistBackendError(f"{self._engine} error: {error}")

    def abort(self, reason: str = "it was aborted") -> None:
        """End the collectives of the group in all processes; they get an error with the reason."""
        if self.failure is None:
            self.failure = reason
            RECORDER.dump_after_failure()
            self.communicator.revoke()

    def shutdown(self, deadline: float | None = None) -> None:
        """Leave the group, after its asynchronous collectives; the others have time until then to leave it as well."""
        WATCHDOG.remove(self)
        if self._queue is not None:
            if self.failure is None:
                self._queue.drain()
            self._queue.close()
            self._queue = None
        devices, self._devices = self._devices, {}
        for each in devices.values():
            each.free()
        if self.failure is None:
            self._leave(monotonic() + PATIENCE if deadline is None else deadline)

    def _leave(self, deadline: float) -> None:
        """Free what the engine has, once all have left. Those that don't come are told that this process has gone."""
        try:
            if self.communicator.meet(max(0.0, deadline - monotonic())):
                self.communicator.free()
                self.is_left = True
            else:
                self.abort(f"the process of rank {self.ranks[self.rank()]} has left the group")
        except EngineError as error:
            self.failed(error)

    @property
    def _engine(self) -> str:
        """What errors are said to come from."""
        return "HCCL" if self._devices else self.communicator.name.upper()

    def failure_error(self) -> DistBackendError:
        """The error for a call of a group that has failed."""
        return DistBackendError(
            f"{self._engine} communicator encountered error set by ProcessGroup{self._engine}: {self.failure}"
        )

    def timeout_text(self, kind: OpType, call: Call, milliseconds: int) -> str:
        """What the watchdog says of a collective that takes too long."""
        sent, received = (sum(each.numel() for each in tensors) for tensors in (call.inputs, call.outputs))
        limit = int(1000 * self.timeout.total_seconds())
        return (
            f"[PG ID {self.group_name} PG GUID {self.group_name}({self.group_desc}) Rank {self.rank()}] Watchdog "
            f"caught collective operation timeout: Work{self._engine}(SeqNum={self._sequence}, OpType={kind.name}, "
            f"NumelIn={sent}, NumelOut={received}, Timeout(ms)={limit}) ran for {milliseconds} milliseconds before "
            "timing out."
        )

    def _get_sequence_number_for_group(self) -> int:
        return self._sequence

    def _get_backend_name(self) -> str:
        return self.backend


def _words_of(calls: Sequence[Call]) -> tuple[int, ...]:
    """What the processes have to agree on for several collectives, in their order."""
    return tuple(word for call in calls for word in call.words)


def _details(call: Call) -> str:
    return f" with (kind and dtype, elements, root) = {call.words}"
