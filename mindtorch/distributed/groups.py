"""Groups of some of the processes: made, split and shrunk."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch.distributed.backends import checked_backend
from mindtorch.distributed.ending import note_end
from mindtorch.distributed.engines.communicator import Communicator, EngineError, Purpose
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.world import GroupMember, default_group, get_world_size, group_or_default, world_state


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """The group of some of the processes. All processes call this, in the same order; those that are not in the group
    get `GroupMember.NON_GROUP_MEMBER`."""
    world = default_group()
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    chosen = list(range(world.size())) if ranks is None else _checked_ranks(list(ranks), world.size())
    if sort_ranks:
        chosen.sort()
    name = world.backend if backend is None else checked_backend(backend)
    is_in = world.rank() in chosen
    if use_local_synchronization:
        communicator = _made_by_members(world, chosen, timeout) if is_in else None
    else:
        communicator = _made(world, chosen if is_in else None, timeout)
    if communicator is None:
        world_state.next_number()
        return GroupMember.NON_GROUP_MEMBER
    return world_state.add(
        communicator, [world.ranks[each] for each in chosen], name, group_desc or "undefined", timeout
    )


def _made(parent: ProcessGroup, ranks: Sequence[int] | None, timeout: timedelta | None) -> Communicator | None:
    """The communicator of some processes of a group, once all processes of the group have asked for theirs."""
    order = 0 if ranks is None else ranks.index(parent.rank())
    everyone = range(parent.size())
    _meet_in(parent, everyone, timeout)
    made = parent.watched(lambda: parent.communicator.group_of(ranks, order))
    _meet_in(parent, everyone, timeout)  # MPI breaks when one leaves while others make the communicator
    if made is not None and made.size != len(ranks or ()):
        raise RuntimeError(f"the processes have asked for different groups; this one for that of the ranks {ranks}")
    return made


def _made_by_members(parent: ProcessGroup, ranks: Sequence[int], timeout: timedelta | None) -> Communicator:
    """The communicator of some processes of a group, once these have asked for it."""
    number = zlib.crc32(repr(ranks).encode()) % 30000  # the same in all, whatever other groups each of them has
    _meet_in(parent, ranks, timeout)
    made = parent.watched(lambda: parent.communicator.group_of_members(ranks, number))
    _meet_in(parent, ranks, timeout)  # as in `_made`
    return made


def _meet_in(parent: ProcessGroup, ranks: Sequence[int], timeout: timedelta | None) -> None:
    if parent.failure is not None:
        raise parent.failure_error()
    seconds = (timeout or parent.timeout).total_seconds()
    try:
        if not parent.communicator.meet(seconds, ranks, Purpose.MAKE_GROUP):
            parent.abort(f"not all processes of ranks {list(ranks)} came to make their group within {seconds:g} s")
            raise parent.failure_error()
    except EngineError as error:
        raise parent.failed(error) from None


def _checked_ranks(ranks: list[int], size: int) -> list[int]:
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
    if len(ranks) > size:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for rank in ranks:
        if rank < 0 or rank >= size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")
    if not ranks:
        raise ValueError("a process group needs at least one rank")
    return ranks


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[ProcessGroup, list[Any]]:
    """Groups of `group_size` neighbouring processes each: that of this process, and all of them."""
    if group_size is None:
        raise ValueError(
            "Default group size only takes effect when CUDA is available.If your subgroup using a backend that does "
            "not depend on CUDA,please pass in 'group_size' correctly."
        )
    size = get_world_size()
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    lists = [list(range(start, start + group_size)) for start in range(0, size, group_size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of the ranks listed: that of this process, and all of them."""
    if ranks_per_subgroup_list is None or not len(ranks_per_subgroup_list):
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    seen: dict[int, Sequence[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
    made = [new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list]
    own = next((each for each in made if each is not GroupMember.NON_GROUP_MEMBER), None)
    return own, made


def split_group(
    parent_pg: ProcessGroup | None = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> ProcessGroup | None:
    """The group that this process gets when another is split; None when it is in no part."""
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    parent = group_or_default(parent_pg)
    parts = [_checked_ranks(sorted(part), parent.size()) for part in split_ranks]
    ranks = next((part for part in parts if parent.rank() in part), None)
    number = world_state.next_number()
    communicator = _made(parent, ranks, timeout)
    if communicator is None or ranks is None:
        return None
    members = [parent.ranks[each] for each in ranks]
    made = ProcessGroup(
        communicator, members, backend or parent.backend, str(number), group_desc or "undefined",
        timeout or parent.timeout,
    )  # fmt: skip
    world_state.groups.append(made)
    return made


def shrink_group(
    ranks_to_exclude: Sequence[int], group: ProcessGroup | None = None, shrink_flags: int = 0, pg_options: Any = None
) -> ProcessGroup:
    """The group without some processes, which may be dead; it takes the place of the old one. All others call this."""
    old = group_or_default(group)
    if old.size() < 2:
        raise ValueError(
            f"Cannot shrink a process group with size {old.size()}. Group must have at least 2 ranks to support "
            "shrinking."
        )
    excluded = _checked_excluded(ranks_to_exclude, old)
    places = [old.ranks.index(rank) for rank in excluded]
    # Another survivor may know of the failure from its own time-out only, which may have begun when this one's ended.
    patience = 2 * old.timeout.total_seconds()
    try:
        kept, others_are_dead = old.communicator.survivors(places, patience)
    except EngineError as error:
        raise old.failed(error) from None
    communicator = old.watched(lambda: old.communicator.regrouped(kept, others_are_dead))
    number = world_state.next_number()
    ranks = range(len(kept)) if old is world_state.default else [old.ranks[place] for place in kept]
    made = ProcessGroup(communicator, ranks, old.backend, str(number), old.group_desc, old.timeout)
    _replace(old, made)
    return made


def _checked_excluded(excluded: Sequence[int], old: ProcessGroup) -> list[int]:
    chosen = list(excluded)
    if len(set(chosen)) != len(chosen) or not all(rank in old.ranks for rank in chosen):
        raise ValueError(f"the ranks to exclude must be different ranks of the group {old.ranks}, but are {chosen}")
    if old.ranks[old.rank()] in chosen:
        raise RuntimeError(f"rank {old.ranks[old.rank()]} is excluded itself: only the others call shrink_group")
    return chosen


def _replace(old: ProcessGroup, made: ProcessGroup) -> None:
    world_state.groups[world_state.groups.index(old)] = made
    if old is world_state.default:
        world_state.default = GroupMember.WORLD = made
    old.abort("it was shrunk")
    old.shutdown()
    note_end(old)
