"""The process groups of this process: starting, making, asking about and ending them."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import Future, wait
from datetime import timedelta
from types import TracebackType
from typing import Any

from mindtorch.backends.npu.runtime import libraries
from mindtorch.device import accelerator
from mindtorch.distributed.engines import mpi
from mindtorch.distributed.engines.communicator import Communicator, EngineError, Purpose
from mindtorch.distributed.engines.joining import is_joined, join, lost_ranks, note_ready
from mindtorch.distributed.engines.local import LocalCommunicator
from mindtorch.distributed.errors import DistBackendError, DistNetworkError
from mindtorch.distributed.process_group import PATIENCE, ProcessGroup
from mindtorch.distributed.rendezvous import is_under_launcher, rendezvous
from mindtorch.distributed.stores import HashStore, PrefixStore, Store
from mindtorch.warning import warn

default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of a backend, in lower case."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    HCCL = "hccl"

    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, HCCL]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "npu": HCCL}

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


_LEAST = 0.1
_LOOK = 0.02  # how often a process that begins looks whether others have died, in seconds

_EVERYTHING = "cpu:gloo,npu:hccl"  # what groups are made of where there is an NPU and no backend is named

# The backends that PyTorch has and this library does not, with PyTorch's words.
_NOT_BUILT = {name: f"Distributed package doesn't have {name.upper()} built in" for name in ("nccl", "xccl", "ucc")}


class GroupMember:
    """The group of all processes, and what stands for groups that this process is not in."""

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER: Any = -100


class group(GroupMember):  # noqa: N801 - PyTorch's name
    """Another name of `GroupMember`."""


class _World:
    """The groups of this process."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.store: Store | None = None
        self.groups: list[ProcessGroup] = []
        self.count = 0
        self.starts = 0  # how often this process has begun to make the group of all
        self.is_prepared = False
        self.all_were_left = True

    @property
    def default_pg(self) -> ProcessGroup | None:
        """PyTorch's name of the default group."""
        return self.default

    def next_number(self) -> int:
        self.count += 1
        return self.count - 1


_world = _World()


# -------------------- asking --------------------


def is_available() -> bool:
    """Whether the package can be used: always, in one process at least."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return _world.default is not None


def is_mpi_available() -> bool:
    """Whether MPI is installed, which groups of several processes need."""
    return mpi.is_installed()


is_gloo_available = is_mpi_available


def is_nccl_available() -> bool:
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_hccl_available() -> bool:
    """Whether CANN's library for collectives between NPUs is there."""
    return libraries.find(libraries.COLLECTIVES[0]) is not None


def is_backend_available(backend: str) -> bool:
    """Whether process groups of a backend can be made."""
    if backend.lower() == Backend.HCCL:
        return is_hccl_available() and is_mpi_available()
    return backend.lower() in ("gloo", "mpi") and is_mpi_available()


def is_torchelastic_launched() -> bool:
    """Whether a launcher that restarts processes has started this one."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def default_group() -> ProcessGroup:
    """The group of all processes."""
    if _world.default is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world.default


def group_or_default(group: Any) -> ProcessGroup:
    """The group, or that of all processes for None."""
    if group is None:
        return default_group()
    if isinstance(group, ProcessGroup):
        if group not in _world.groups:
            raise ValueError("Invalid process group specified")
        return group
    raise ValueError(
        f"Process group {group} is not initialized in the world group map. Please initialize the group first."
    )


def group_for(group: Any, call: str) -> ProcessGroup | None:
    """The group in which this process makes a call; None, with a warning, if it is not in it."""
    if group is None:
        return default_group()
    if group is not GroupMember.NON_GROUP_MEMBER:
        return group_or_default(group)
    rank = -1 if _world.default is None else default_group().rank()
    warn(f"Running {call} on global rank {rank} which does not belong to the given group.", UserWarning)
    return None


def member_group(group: Any) -> ProcessGroup:
    """The group in which this process makes a call that names a rank."""
    if group is GroupMember.NON_GROUP_MEMBER:
        raise ValueError("Invalid process group specified")
    return group_or_default(group)


def get_rank(group: ProcessGroup | None = None) -> int:
    """The rank of this process in a group, -1 when it is not in it."""
    if group is None or isinstance(group, ProcessGroup):
        return group_or_default(group).rank()
    if group is GroupMember.NON_GROUP_MEMBER:
        return -1
    raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes in a group, -1 when this one is not in it."""
    return -1 if group is GroupMember.NON_GROUP_MEMBER else group_or_default(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name of a group's backend."""
    if group is GroupMember.NON_GROUP_MEMBER:
        raise ValueError("Invalid process group specified")
    return Backend(group_or_default(group).backend)


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The backend of each device."""
    name = get_backend(group)
    return str(name) if ":" in name else f"npu:{name}" if name == Backend.HCCL else f"cpu:{name}"


def get_default_backend_for_device(device: Any) -> str:
    """The backend for tensors on a device."""
    kind = str(device).partition(":")[0]
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks in the group of all processes, in the order of the ranks in this one."""
    return list(group_or_default(group).ranks)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in a group of the process with a rank among all."""
    if group is _world.default is not None:
        return global_rank
    ranks = group_or_default(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank among all of the process with a rank in a group."""
    if group is _world.default is not None:
        return group_rank
    ranks = group_or_default(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def group_named(name: str) -> ProcessGroup:
    """The group with a name."""
    found = next((each for each in _world.groups if each.group_name == name), None)
    if found is None:
        raise RuntimeError(f'Could not resolve the process group registered under the name "{name}"')
    return found


def group_of_ranks(ranks: Sequence[int]) -> ProcessGroup:
    """The group of some of the processes, which exists."""
    wanted = sorted(ranks)
    found = next((each for each in _world.groups if sorted(each.ranks) == wanted), None)
    if found is None:
        raise ValueError(f"no process group has the ranks {wanted}: make it with new_group")
    return found


def get_pg_count() -> int:
    """The number of process groups."""
    return len(_world.groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The rank among the processes of this machine, as the launcher has set it."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
        "assuming you are not running in a multi-device context and want the code to run locally instead."
    )


# -------------------- starting --------------------


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Make the group of all processes.

    Several processes have to be started together, by `python -m mindtorch.distributed.run`, `mpiexec --with-ft ulfm` or
    Slurm; they find each other by MPI, whatever backend is named. Rank and number of processes are taken from the
    arguments, from `RANK` and `WORLD_SIZE`, or for `backend="mpi"` from MPI.

    Raises `ValueError` when the group exists or the environment lacks a variable, and `RuntimeError` when the processes
    were not started together.
    """
    if _world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    name = _checked_backend(backend)
    limit = timeout or default_pg_timeout
    if name == "mpi":
        store, communicator = _mpi_world(rank, world_size, limit)
    else:
        store, communicator = _meet(init_method or "env://", store, rank, world_size, limit)
    _world.store = store if store is not None else HashStore()
    _world.default = _add(communicator, range(communicator.size), name, "default_pg", timeout)
    GroupMember.WORLD = _world.default
    if communicator.size > 1:
        _prepare_the_end(communicator)


def _checked_backend(backend: str | None) -> str:
    name = Backend(backend or (_EVERYTHING if is_hccl_available() and accelerator() else Backend.GLOO))
    for part in name.split(","):
        each = part.rpartition(":")[2]
        if each in _NOT_BUILT:
            raise RuntimeError(_NOT_BUILT[each])
        if each == Backend.HCCL and not is_hccl_available():
            raise RuntimeError("Distributed package doesn't have HCCL built in")
        if each not in (Backend.GLOO, Backend.MPI, Backend.HCCL):
            raise ValueError(f"Unknown backend type {each}")
    return name


def _mpi_world(rank: int, world_size: int, timeout: timedelta) -> tuple[Store | None, Communicator]:
    if rank != -1 or world_size != -1:
        warn(
            f"For MPI backend, world_size ({world_size}) and rank ({rank}) are ignored since they are assigned by the "
            "MPI runtime.",
            UserWarning,
        )
    if is_under_launcher() or "WORLD_SIZE" in os.environ:
        return _meet("env://", None, -1, -1, timeout)
    return None, mpi.world()


def _meet(
    url: str, store: Store | None, rank: int, world_size: int, timeout: timedelta
) -> tuple[Store | None, Communicator]:
    """The store that the processes share, and their communicator: MPI's, whoever has started them."""
    if store is None:
        store, rank, world_size = rendezvous(url, rank, world_size, timeout)
    elif world_size <= 0:
        raise AssertionError("world_size must be positive if using store")
    elif rank < 0:
        raise AssertionError("rank must be non-negative if using store")
    _world.starts += 1
    meeting = None if store is None else PrefixStore(f"start{_world.starts}", store)
    if not is_under_launcher():
        if world_size == 1:
            return store, LocalCommunicator()
        assert meeting is not None
        join(meeting, rank, world_size, timeout)
    communicator = _mpi_after_meeting(meeting, rank, world_size, timeout)
    if communicator.size != world_size:
        raise RuntimeError(_not_together(world_size, communicator.size))
    return store, communicator if communicator.rank == rank else communicator.reordered(rank)


def _mpi_after_meeting(store: Store | None, rank: int, world_size: int, timeout: timedelta) -> Communicator:
    """MPI, which would itself wait for a process that never comes, and break when one leaves while others begin."""
    if store is None:
        return mpi.world()
    deadline = time.monotonic() + timeout.total_seconds()
    _all_come("begin", store, rank, world_size, timeout)
    communicator = _begun(rank, _until(deadline))
    _all_come("end", store, rank, world_size, _until(deadline))
    return communicator


def _until(deadline: float) -> timedelta:
    """What is left of the time, and always enough for what needs no waiting."""
    return timedelta(seconds=max(deadline - time.monotonic(), _LEAST))


def _begun(rank: int, timeout: timedelta) -> Communicator:
    """MPI's communicator, made in a thread, as MPI itself waits for a process that has died or stopped on the way."""
    made: Future[Communicator] = Future()
    threading.Thread(target=_make, args=(made,), name="beginning of MPI", daemon=True).start()
    deadline = time.monotonic() + timeout.total_seconds()
    while not wait([made], _LOOK).done:
        lost = lost_ranks()
        if lost:
            raise DistBackendError(f"the process of rank {', '.join(map(str, lost))} has died")
        if time.monotonic() > deadline:
            raise DistBackendError(f"not all processes came to begin MPI within {timeout.total_seconds():g} s")
    note_ready(rank)
    try:
        return made.result()
    except EngineError as error:
        raise DistBackendError(f"MPI error: {error}") from None


def _make(made: Future[Communicator]) -> None:
    try:
        made.set_result(mpi.world())
    except Exception as error:  # noqa: BLE001 (whatever it is, who waits for it gets it)
        made.set_exception(error)


def _all_come(key: str, store: Store, rank: int, world_size: int, timeout: timedelta) -> None:
    try:
        store.barrier(key, world_size, timeout)
    except DistNetworkError:
        raise
    except RuntimeError:
        store.set("failed", str(rank))
        raise
    if store.check(["failed"]):
        raise DistBackendError(f"this process came too late: rank {store.get('failed').decode()} has given up")


def _not_together(wanted: int, found: int) -> str:
    return (
        f"this program is to run as {wanted} processes, but MPI has started {found} of them together. Start it with "
        f"`python -m mindtorch.distributed.run --nproc-per-node {wanted} program.py`."
    )


def _add(
    communicator: Communicator, ranks: Sequence[int], backend: str, description: str, timeout: timedelta | None
) -> ProcessGroup:
    name = str(_world.next_number())
    made = ProcessGroup(communicator, ranks, backend, name, description, timeout or default_pg_timeout)
    _world.groups.append(made)
    return made


# -------------------- more groups --------------------


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
    name = world.backend if backend is None else _checked_backend(backend)
    is_in = world.rank() in chosen
    if use_local_synchronization:
        communicator = _made_by_members(world, chosen, timeout) if is_in else None
    else:
        communicator = _made(world, chosen if is_in else None, timeout)
    if communicator is None:
        _world.next_number()
        return GroupMember.NON_GROUP_MEMBER
    return _add(communicator, [world.ranks[each] for each in chosen], name, group_desc or "undefined", timeout)


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
    number = _world.next_number()
    communicator = _made(parent, ranks, timeout)
    if communicator is None or ranks is None:
        return None
    members = [parent.ranks[each] for each in ranks]
    made = ProcessGroup(
        communicator, members, backend or parent.backend, str(number), group_desc or "undefined",
        timeout or parent.timeout,
    )  # fmt: skip
    _world.groups.append(made)
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
    try:
        kept, communicator = old.communicator.regrouped(places, old.timeout.total_seconds())
    except EngineError as error:
        raise old.failed(error) from None
    number = _world.next_number()
    ranks = range(len(kept)) if old is _world.default else [old.ranks[place] for place in kept]
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
    _world.groups[_world.groups.index(old)] = made
    if old is _world.default:
        _world.default = GroupMember.WORLD = made
    old.abort("it was shrunk")
    old.shutdown()
    _note_end(old)


# -------------------- ending --------------------


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group, after its asynchronous collectives; without an argument all groups."""
    if group is GroupMember.NON_GROUP_MEMBER:
        return
    if group is None and _world.default is None:
        raise AssertionError("Process group cannot be None")
    chosen = default_group() if group is None else group
    if chosen not in _world.groups:
        raise ValueError("Invalid process group specified")
    if chosen is not _world.default:
        _world.groups.remove(chosen)
        chosen.shutdown()
        _note_end(chosen)
        return
    _shut_all_down()
    _forget()


def _forget() -> None:
    _world.groups.clear()
    _world.default = _world.store = GroupMember.WORLD = None
    _world.count = 0


def abort_process_group(group: ProcessGroup | None = None) -> None:
    """End the collectives of a group in all processes with an error, then the group."""
    chosen = group_or_default(group)
    chosen.abort()
    destroy_process_group(group)


def get_default_store() -> Store | None:
    """The store that `init_process_group` was given, or one of this process."""
    default_group()
    return _world.store


def _prepare_the_end(communicator: Any) -> None:
    """See to it that the others don't wait for this process for ever, however it ends."""
    if _world.is_prepared:
        return
    _world.is_prepared = True
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
    groups = [each for each in _world.groups if each.size() > 1]
    if groups and not is_joined():
        communicator.abort(1)
    for each in groups:
        each.abort("it had an exception")


def _leave() -> None:
    """At exit: those that still work together with this process are told that it has gone."""
    _shut_all_down()
    if _world.all_were_left and not mpi.reports_lost_processes():
        mpi.finalize()


def _shut_all_down() -> None:
    deadline = time.monotonic() + PATIENCE
    for each in reversed(_world.groups):
        each.shutdown(deadline)
        _note_end(each)


def _note_end(group: ProcessGroup) -> None:
    """MPI can be ended at exit if each group was left by all of its processes."""
    if group.size() > 1 and not group.is_left:
        _world.all_were_left = False
