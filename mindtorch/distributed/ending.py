"""How groups end, and what the other processes see when this one does."""

from __future__ import annotations

import atexit
import sys
import time
from types import TracebackType
from typing import Any

from mindtorch.distributed.engines import mpi
from mindtorch.distributed.engines.joining import is_joined
from mindtorch.distributed.process_group import PATIENCE, ProcessGroup
from mindtorch.distributed.world import GroupMember, default_group, group_or_default, world_state


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group, after its asynchronous collectives; without an argument all groups."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return
    if group is None and world_state.default is None:
        raise AssertionError("Process group cannot be None")
    chosen = default_group() if group is None else group
    if chosen not in world_state.groups:
        raise ValueError("Invalid process group specified")
    if chosen is not world_state.default:
        world_state.groups.remove(chosen)
        chosen.shutdown()
        note_end(chosen)
        return
    _shut_all_down()
    _forget()


def _forget() -> None:
    world_state.groups.clear()
    world_state.default = world_state.store = GroupMember.WORLD = None
    world_state.count = 0


def abort_process_group(group: ProcessGroup | None = None) -> None:
    """End the collectives of a group in all processes with an error, then the group."""
    chosen = group_or_default(group)
    chosen.abort()
    destroy_process_group(group)


def prepare_the_end(communicator: Any) -> None:
    """See to it that the others don't wait for this process for ever, however it ends."""
    if world_state.is_prepared:
        return
    world_state.is_prepared = True
    before = sys.excepthook

    def end_all(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        before(kind, error, traceback)
        sys.stdout.flush()
        sys.stderr.flush()
        _end_by_error(communicator)

    sys.excepthook = end_all
    atexit.register(_leave)


def _end_by_error(communicator: Any) -> None:
    """After an exception: who has started the processes ends the others, or they find that this one has gone."""
    groups = [each for each in world_state.groups if each.size() > 1]
    if groups and not is_joined():
        communicator.abort(1)
    for each in groups:
        each.abort("it had an exception")


def _leave() -> None:
    """At exit: those that still work together with this process are told that it has gone."""
    _shut_all_down()
    if world_state.all_were_left and not mpi.reports_lost_processes():
        mpi.finalize()


def _shut_all_down() -> None:
    deadline = time.monotonic() + PATIENCE
    for each in reversed(world_state.groups):
        each.shutdown(deadline)
        note_end(each)


def note_end(group: ProcessGroup) -> None:
    """MPI can be ended at exit if each group was left by all of its processes."""
    if group.size() > 1 and not group.is_left:
        world_state.all_were_left = False
