"""The last collectives and messages of this process, for finding out which process is behind at which call.

`python -m mindtorch.distributed.flight_recorder DUMPS` compares the dumps of all processes: see `report`.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections import deque
from pathlib import Path
from threading import get_ident
from time import time_ns
from typing import TYPE_CHECKING, Any

from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.tensor import Tensor
from mindtorch.distributed.op_types import OpType

if TYPE_CHECKING:
    from mindtorch.distributed.process_group import Call, ProcessGroup

_SIZES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
_FILES = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_ON_TIMEOUT = ("TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT")
_PIPES = ("TORCH_FR_DEBUG_INFO_PIPE_FILE", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE")
_VERSION = "2.10"


def _setting(names: tuple[str, ...]) -> str | None:
    return next((os.environ[name] for name in names if name in os.environ), None)


class Entry:
    """One collective or message: facts only, which are put into words when the recorder is read."""

    __slots__ = (
        "completed", "created", "group", "inputs", "kind", "number", "operation", "outputs", "peer", "sequence",
        "thread",
    )  # fmt: skip

    def __init__(
        self, group: ProcessGroup, kind: OpType, inputs: Any, outputs: Any, sequence: int, operation: int
    ) -> None:
        self.group = group.description
        self.kind = kind
        self.inputs = [(each._mt_array.shape, each._mt_array.dtype) for each in inputs]
        same = outputs is inputs
        self.outputs = self.inputs if same else [(each._mt_array.shape, each._mt_array.dtype) for each in outputs]
        self.sequence = sequence
        self.operation = operation
        self.peer: str | None = None  # of a message: from where to where
        self.thread = get_ident()
        self.completed = 0
        self.number = 0
        self.created = time_ns()


class FlightRecorder:
    """A ring of entries."""

    def __init__(self) -> None:
        size = int(_setting(_SIZES) or 2000)
        self._entries: deque[Entry] = deque(maxlen=size)
        self._groups: dict[str, dict[str, str]] = {}
        self._count = 0
        self._pipe: int | None = None
        self.rank = 0
        self.enabled = size > 0

    def add_group(self, group: ProcessGroup) -> None:
        """Note who is in a group."""
        if not self._groups:
            self.rank = group.ranks[group.rank()]
        name = group.group_name
        self._groups[name] = {"name": name, "desc": group.group_desc, "ranks": json.dumps(group.ranks)}

    def scheduled(self, group: ProcessGroup, call: Call, sequence: int, operation: int) -> Entry | None:
        """Note a collective that begins."""
        if not self.enabled:
            return None
        return self._added(Entry(group, call.kind, call.inputs, call.outputs, sequence, operation))

    def message(
        self, group: ProcessGroup, kind: OpType, tensor: Tensor, sequence: int, operation: int, peer: int | None
    ) -> Entry | None:
        """Note a message that begins."""
        if not self.enabled:
            return None
        entry = Entry(group, kind, (tensor,), (tensor,), sequence, operation)
        entry.peer = f"{group.rank()}{'->' if kind is OpType.SEND else '<-'}{'any' if peer is None else peer}"
        return self._added(entry)

    def _added(self, entry: Entry) -> Entry:
        entry.number = self._count
        self._count += 1
        self._entries.append(entry)
        return entry

    def completed(self, entry: Entry | None) -> None:
        """Note that it has ended."""
        if entry is not None:
            entry.completed = time_ns()

    def contents(self, with_entries: bool = True, only_active: bool = False) -> dict[str, Any]:
        """The entries as PyTorch's flight recorder has them."""
        entries = list(self._entries)
        shown = [each for each in entries if with_entries and not (only_active and each.completed)]
        return {
            "version": _VERSION,
            "comm_lib_version": "mpi",
            "nccl_comm_state": {},
            "pg_config": dict(self._groups),
            "pg_status": _status(entries),
            "entries": [_row(each) for each in shown],
        }

    def clear(self) -> None:
        self._entries.clear()

    # -------------------- dumps --------------------

    def dump_after_failure(self) -> None:
        """Write a dump if the environment has asked for one when a group fails."""
        wanted = _setting(_ON_TIMEOUT)
        default = "1" if _setting(_FILES) else "0"
        if self.enabled and (wanted or default).lower() in ("1", "y", "yes", "t", "true"):
            path = self.write()
            sys.stderr.write(f"[Rank {self.rank}] the flight recorder was written to {path}\n")

    def write(self) -> Path:
        """Write a dump to the file that the environment names, or to PyTorch's; the name ends in the rank."""
        prefix = _setting(_FILES)
        if prefix is None:
            folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "torch"
            prefix = str(folder / "comm_lib_trace_rank_")
        path = Path(f"{prefix}{self.rank}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(self.contents()))
        return path

    def dump_if_asked(self) -> None:
        """Write a dump when something is written to the pipe that the environment names; the watchdog calls this."""
        prefix = _setting(_PIPES)
        if prefix is None:
            return
        if self._pipe is None:
            path = f"{prefix}{self.rank}.pipe"
            if not os.path.exists(path):
                os.mkfifo(path)
            self._pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            asked = os.read(self._pipe, 64)
        except BlockingIOError:
            return
        if asked:
            self.write()


def _status(entries: list[Entry]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for each in entries:
        if each.peer is None:
            status = found.setdefault(
                each.group[0],
                {"last_enqueued_collective": "-1", "last_started_collective": "-1", "last_completed_collective": "-1"},
            )
            status["last_enqueued_collective"] = status["last_started_collective"] = str(each.sequence)
            if each.completed:
                status["last_completed_collective"] = str(each.sequence)
    return found


def _row(entry: Entry) -> dict[str, Any]:
    name, description, backend, timeout = entry.group
    kind = entry.kind.name.strip("_").lower()
    number = {"collective_seq_id": entry.sequence, "p2p_seq_id": 0}
    if entry.peer is not None:
        number = {"collective_seq_id": 0, "p2p_seq_id": entry.sequence}
        kind = f"{kind} {entry.peer}"
    return {
        "record_id": entry.number,
        "pg_id": int(name),
        "process_group": (name, description),
        **number,
        "op_id": entry.operation,
        "profiling_name": f"{backend}:{_NAMES.get(kind, kind)}",
        "time_created_ns": entry.created,
        "duration_ms": (entry.completed - entry.created) / 1e6 if entry.completed else None,
        "input_sizes": [list(shape) for shape, _ in entry.inputs],
        "input_dtypes": [FROM_NUMPY[dtype].storage_name for _, dtype in entry.inputs],
        "output_sizes": [list(shape) for shape, _ in entry.outputs],
        "output_dtypes": [FROM_NUMPY[dtype].storage_name for _, dtype in entry.outputs],
        "state": "completed" if entry.completed else "started",
        "time_discovered_started_ns": entry.created,
        "time_discovered_completed_ns": entry.completed or None,
        "retired": bool(entry.completed),
        "timeout_ms": timeout,
        "is_p2p": entry.peer is not None,
        "frames": [],
        "thread_id": str(entry.thread),
        "thread_name": "",
    }


# How PyTorch's recorder spells the kinds whose names have several words.
_NAMES = {
    "allreduce": "all_reduce",
    "allreduce_coalesced": "all_reduce_coalesced",
    "allgather": "all_gather",
    "allgather_base": "_all_gather_base",
    "reduce_scatter_base": "_reduce_scatter_base",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all",
    "reduce_oop": "_reduce_oop",
}

RECORDER = FlightRecorder()


def dump_trace(
    includeCollectives: bool = True,  # noqa: N803 - PyTorch's names
    includeStackTraces: bool = True,  # noqa: N803
    onlyActive: bool = False,  # noqa: N803
) -> bytes:
    """The flight recorder of this process, pickled, as `torch.distributed`'s tools read it."""
    return pickle.dumps(RECORDER.contents(includeCollectives, onlyActive))


def dump_trace_json(includeCollectives: bool = True, onlyActive: bool = False) -> str:  # noqa: N803
    """The flight recorder of this process as JSON."""
    return json.dumps(RECORDER.contents(includeCollectives, onlyActive))
