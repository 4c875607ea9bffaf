"""The last collectives of this process, for finding out which process is behind at which call."""

from __future__ import annotations

import os
import pickle
from collections import deque
from threading import get_ident
from time import time_ns
from typing import TYPE_CHECKING, Any

from mindtorch.dtype import FROM_NUMPY

if TYPE_CHECKING:
    from mindtorch.distributed.process_group import Call, ProcessGroup

_SIZES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
_VERSION = "2.10"


class Entry:
    """One collective: facts only, which are put into words when the recorder is read."""

    __slots__ = ("completed", "created", "group", "inputs", "kind", "operation", "outputs", "sequence", "thread")

    def __init__(self, group: ProcessGroup, call: Call, sequence: int, operation: int) -> None:
        self.group = group.description
        self.kind = call.kind
        self.inputs = inputs = [(each._mt_array.shape, each._mt_array.dtype) for each in call.inputs]
        same = call.outputs is call.inputs
        self.outputs = inputs if same else [(each._mt_array.shape, each._mt_array.dtype) for each in call.outputs]
        self.sequence = sequence
        self.operation = operation
        self.thread = get_ident()
        self.completed = 0
        self.created = time_ns()


class FlightRecorder:
    """A ring of entries."""

    def __init__(self) -> None:
        size = next((int(os.environ[name]) for name in _SIZES if name in os.environ), 2000)
        self._entries: deque[Entry] = deque(maxlen=size)
        self.enabled = size > 0

    def scheduled(self, group: ProcessGroup, call: Call, sequence: int, operation: int) -> Entry | None:
        """Note a collective that begins."""
        if not self.enabled:
            return None
        entry = Entry(group, call, sequence, operation)
        self._entries.append(entry)
        return entry

    def completed(self, entry: Entry | None) -> None:
        """Note that it has ended."""
        if entry is not None:
            entry.completed = time_ns()

    def contents(self) -> dict[str, Any]:
        """The entries as PyTorch's flight recorder has them."""
        entries = [_row(number, entry) for number, entry in enumerate(list(self._entries))]
        return {"version": _VERSION, "comm_lib_version": "mpi", "pg_config": {}, "pg_status": {}, "entries": entries}

    def clear(self) -> None:
        self._entries.clear()


def _row(number: int, entry: Entry) -> dict[str, Any]:
    name, description, backend, timeout = entry.group
    return {
        "record_id": number,
        "process_group": (name, description),
        "collective_seq_id": entry.sequence,
        "p2p_seq_id": 0,
        "op_id": entry.operation,
        "profiling_name": f"{backend}:{entry.kind.name.strip('_').lower()}",
        "time_created_ns": entry.created,
        "input_sizes": [list(shape) for shape, _ in entry.inputs],
        "input_dtypes": [FROM_NUMPY[dtype].storage_name for _, dtype in entry.inputs],
        "output_sizes": [list(shape) for shape, _ in entry.outputs],
        "output_dtypes": [FROM_NUMPY[dtype].storage_name for _, dtype in entry.outputs],
        "state": "completed" if entry.completed else "scheduled",
        "time_discovered_completed_ns": entry.completed or None,
        "retired": bool(entry.completed),
        "timeout_ms": timeout,
        "is_p2p": False,
        "thread_id": entry.thread,
    }


RECORDER = FlightRecorder()


def dump_trace() -> bytes:
    """The flight recorder of this process, pickled, as `torch.distributed`'s tools read it."""
    return pickle.dumps(RECORDER.contents())
