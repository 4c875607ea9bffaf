"""`monitored_barrier`: a barrier that names the processes which don't come to it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from mindtorch.distributed.engines.communicator import Communicator, EngineError
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.world import group_for

_ARRIVAL, _ANSWER = 32000, 32001  # tags of messages that users can't send


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """A barrier that says which ranks have not come in time. The process of rank 0 finds out."""
    chosen = group_for(group, "monitored_barrier")
    if chosen is None:
        return
    limit = chosen.timeout if timeout is None else timeout
    if limit.total_seconds() <= 0:
        raise ValueError("timeout must be positive")
    if chosen.failure is not None:
        raise chosen.failure_error()
    if chosen.rank() == 0:
        _wait_for_all(chosen, limit, wait_all_ranks)
    else:
        _report(chosen, limit)


def _report(group: ProcessGroup, limit: timedelta) -> None:
    """Say that this process has come, and wait for rank 0."""
    word = np.zeros(1, np.int64)
    try:
        group.communicator.start_send(word, 0, _ARRIVAL)
        answer = np.zeros(1, np.int64)
        if group.communicator.start_receive(answer, 0, _ANSWER).arrives_within(limit.total_seconds()):
            if not answer[0]:
                return
            reason = "not all processes have come"
        else:
            group.communicator.start_send(word, 0, _ARRIVAL)  # the second word takes the first one back
            reason = f"Timed out waiting {_milliseconds(limit)}ms for recv operation to complete"
    except EngineError as error:
        reason = str(error)
    raise RuntimeError(
        f"Rank {group.rank()} successfully reached monitoredBarrier, but received errors while waiting for send/recv "
        f"from rank 0. Please check rank 0 logs for faulty rank.\n Original exception: \n{reason}"
    )


def _wait_for_all(group: ProcessGroup, limit: timedelta, wait_all_ranks: bool) -> None:
    deadline = time.monotonic() + limit.total_seconds()
    late, reasons = [], []
    for rank in range(1, group.size()):
        reason = _reason_for_absence(group.communicator, rank, deadline)
        if reason is not None:
            late.append(rank)
            reasons.append(reason)
            if not wait_all_ranks:
                break
    for rank in range(1, group.size()):
        _answer(group.communicator, rank, bool(late))
    if late:
        raise RuntimeError(_text(late, limit, reasons))


def _reason_for_absence(communicator: Communicator, rank: int, deadline: float) -> str | None:
    """Why a process has not come, or is gone again: it is late, has died or has given up. None for one that waits."""
    word = np.zeros(1, np.int64)
    try:
        if not communicator.start_receive(word, rank, _ARRIVAL).arrives_within(deadline - time.monotonic()):
            return "Timed out"
        if not communicator.is_waiting(rank, _ARRIVAL):
            return None
        communicator.start_receive(word, rank, _ARRIVAL).arrives_within(0)
        return "It has come, and given up waiting for rank 0"
    except EngineError as error:
        return str(error)


def _answer(communicator: Communicator, rank: int, has_failed: bool) -> None:
    try:
        communicator.start_send(np.full(1, has_failed, np.int64), rank, _ANSWER)
    except EngineError:
        pass  # it has died: who needs it is told by the next collective


def _text(late: Sequence[int], limit: timedelta, reasons: Sequence[str]) -> str:
    names = ", ".join(str(rank) for rank in late)
    return (
        f"[Rank 0]: {'Ranks' if len(late) > 1 else 'Rank'} {names} failed to pass monitoredBarrier in "
        f"{_milliseconds(limit)} ms\n Original exception: \n{reasons[0]}"
    )


def _milliseconds(limit: timedelta) -> int:
    return int(1000 * limit.total_seconds())
