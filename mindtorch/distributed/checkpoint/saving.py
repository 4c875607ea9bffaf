"""`save`, `async_save` and `load`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any
from weakref import WeakKeyDictionary

from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import tree_map
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.distributed.checkpoint.agreement import Together
from mindtorch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from mindtorch.distributed.checkpoint.metadata import Metadata
from mindtorch.distributed.checkpoint.planner import (
    DefaultLoadPlanner,
    DefaultSavePlanner,
    LoadPlan,
    LoadPlanner,
    SavePlan,
    SavePlanner,
)
from mindtorch.distributed.checkpoint.stateful import Stateful
from mindtorch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from mindtorch.distributed.groups import new_group
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.world import default_group

_ALONE = (
    "torch.distributed is disabled, unavailable or uninitialized, assuming the intent is to {} in a single process."
)


def save(
    state_dict: Mapping[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: ProcessGroup | None = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Metadata:
    """Save what all processes have: each writes its parts, and what several have is written by one.

    Values with `state_dict` and `load_state_dict` are saved by their state. An error in one process is a
    `CheckpointException` in all; then there is no new checkpoint, and an old one is as it was.
    """
    together = _together(process_group, no_dist, use_collectives)
    if together.group is None:
        warn(_ALONE.format("save"))
    return _save(_states(state_dict), _writer(checkpoint_id, storage_writer), planner or DefaultSavePlanner(), together)


def _together(process_group: ProcessGroup | None, no_dist: bool, use_collectives: bool) -> Together:
    """The processes that save."""
    if not use_collectives:
        raise NotImplementedError("checkpoints are saved by processes that talk to each other (use_collectives=True)")
    return Together(process_group, no_dist)


def _save(state_dict: Mapping[str, Any], writer: StorageWriter, planner: SavePlanner, together: Together) -> Metadata:
    is_first = together.rank == 0

    def planned() -> SavePlan:
        planner.set_up_planner(dict(state_dict), storage_meta=writer.storage_meta(), is_coordinator=is_first)
        writer.set_up_storage_writer(is_first, rank=together.rank, use_collectives=True)
        return writer.prepare_local_plan(planner.create_local_plan())

    def agreed() -> tuple[list[SavePlan], Metadata]:
        kept, metadata = planner.create_global_plan(plans)
        return writer.prepare_global_plan(kept), metadata

    def written() -> list[WriteResult]:
        return writer.write_data(planner.finish_plan(kept[together.rank]), planner).wait()

    plans = together.everywhere("plan", planned)
    kept, metadata = together.by_first("plan", agreed)
    results = together.everywhere("write", written)
    together.by_first("finish", lambda: writer.finish(metadata, results))
    return metadata


def async_save(
    state_dict: Mapping[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_writer: StorageWriter | None = None,
    planner: SavePlanner | None = None,
    process_group: ProcessGroup | None = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future:
    """Copy the state and save it in a thread; `result()` of what this returns waits for the end."""
    together = _together(process_group, no_dist, use_collectives)
    if together.group is not None:
        together.group = _group_of_the_thread(together.group)
    arguments = _copied(_states(state_dict)), _writer(checkpoint_id, storage_writer), planner or DefaultSavePlanner()
    executor = ThreadPoolExecutor(1, "checkpoint")
    future = executor.submit(_save, *arguments, together)
    executor.shutdown(wait=False)
    return future


_groups: WeakKeyDictionary[ProcessGroup, ProcessGroup] = WeakKeyDictionary()


def _group_of_the_thread(group: ProcessGroup) -> ProcessGroup:
    """A group of the same processes, so that what the thread says does not get between the calls of the program.

    A group of some of the processes can't be made by them alone: the program has made it for this.
    """
    if group is not default_group():
        return group
    if group not in _groups:
        _groups[group] = new_group(group.ranks)
    return _groups[group]


@no_grad()
def _copied(state_dict: Mapping[str, Any]) -> dict[str, Any]:
    return tree_map(lambda each: each.detach().clone() if isinstance(each, Tensor) else deepcopy(each), state_dict)


@no_grad()
def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_reader: StorageReader | None = None,
    planner: LoadPlanner | None = None,
    process_group: ProcessGroup | None = None,
    no_dist: bool = False,
) -> None:
    """Fill the tensors of a state dict from a checkpoint, and replace its other values.

    Any number of processes may have saved it: each reads the parts that it needs.
    """
    together = Together(process_group, no_dist)
    if together.group is None:
        warn(_ALONE.format("load"))
    reader = storage_reader or FileSystemReader(_given(checkpoint_id))
    if checkpoint_id is not None:
        reader.reset(checkpoint_id)
    chosen = planner or DefaultLoadPlanner()
    states = _states(state_dict)

    is_first = together.rank == 0

    def planned() -> LoadPlan:
        metadata = reader.read_metadata()
        chosen.set_up_planner(states, metadata, is_first)
        reader.set_up_storage_reader(metadata, is_first, rank=together.rank, use_collectives=True)
        return reader.prepare_local_plan(chosen.create_local_plan())

    def read() -> None:
        reader.read_data(chosen.finish_plan(agreed[together.rank]), chosen).wait()

    plans = together.everywhere("plan", planned)
    agreed = together.by_first("plan", lambda: reader.prepare_global_plan(chosen.create_global_plan(plans)))
    together.everywhere("read", read)
    for name, value in list(state_dict.items()):
        if _has_state(value):
            value.load_state_dict(states[name])
        else:
            state_dict[name] = states[name]


def _states(state_dict: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.state_dict() if _has_state(value) else value for name, value in state_dict.items()}


def _has_state(value: Any) -> bool:
    return isinstance(value, Stateful) and not isinstance(value, Tensor)


def _writer(checkpoint_id: str | os.PathLike | None, writer: StorageWriter | None) -> StorageWriter:
    chosen = writer or FileSystemWriter(_given(checkpoint_id))
    if checkpoint_id is not None:
        chosen.reset(checkpoint_id)
    return chosen


def _given(checkpoint_id: str | os.PathLike | None) -> str | os.PathLike:
    if checkpoint_id is None:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    return checkpoint_id
