"""The last collectives of this process, for finding out which process is behind at which call."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindtorch.distributed.process_group import Call, ProcessGroup

_SIZES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
_VERSION = "2.10"


class Entry:
    """One collective."""

    __slots__ = ("call", "completed", "created", "group", "number", "operation", "sequence", "thread")

    def __init__(self, group: ProcessGroup, call: Call, sequence: int, operation: int) -> None:
        self.group = (group.group_name, group.group_desc, group.backend, int(1000 * group.timeout.total_seconds()))
        self.call = _described(call)
        self.sequence = sequence
        self.operation = operation
        self.created = time.time_ns()
        self.completed = 0
        self.thread = threading.get_ident()


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
            entry.completed = time.time_ns()

    def contents(self) -> dict[str, Any]:
        """The entries as PyTorch's flight recorder has them."""
        entries = [_row(number, entry) for number, entry in enumerate(list(self._entries))]
        return {"version": _VERSION, "comm_lib_version": "mpi", "pg_config": {}, "pg_status": {}, "entries": entries}

    def clear(self) -> None:
        self._entries.clear()


def _described(call: Call) -> tuple[str, Any, Any]:
    return call.kind.name.strip("_").lower(), _shapes(call.inputs), _shapes(call.outputs)


def _shapes(tensors: Any) -> list[tuple[list[int], str]]:
    return [(list(each.shape), each.dtype.storage_name) for each in tensors]


def _row(number: int, entry: Entry) -> dict[str, Any]:
    name, description, backend, timeout = entry.group
    kind, inputs, outputs = entry.call
    return {
        "record_id": number,
        "process_group": (name, description),
        "collective_seq_id": entry.sequence,
        "p2p_seq_id": 0,
        "op_id": entry.operation,
        "profiling_name": f"{backend}:{kind}",
        "time_created_ns": entry.created,
        "input_sizes": [sizes for sizes, _ in inputs],
        "input_dtypes": [dtype for _, dtype in inputs],
        "output_sizes": [sizes for sizes, _ in outputs],
        "output_dtypes": [dtype for _, dtype in outputs],
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
