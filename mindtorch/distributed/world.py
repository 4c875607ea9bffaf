"""The process groups of this process, and what they are asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch._support.warnings import warn
from mindtorch.distributed.backends import Backend
from mindtorch.distributed.engines.communicator import Communicator
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.stores import Store

default_pg_timeout = timedelta(minutes=30)


class GroupMember:
    """The group of all processes, and what stands for groups that this process is not in."""

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER: Any = -100


class group(GroupMember):  # noqa: N801 - PyTorch's name
    """Another name of `GroupMember`."""


class World:
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

    def add(
        self,
        communicator: Communicator,
        ranks: Sequence[int],
        backend: str,
        description: str,
        timeout: timedelta | None,
    ) -> ProcessGroup:
        """A group more."""
        name = str(self.next_number())
        made = ProcessGroup(communicator, ranks, backend, name, description, timeout or default_pg_timeout)
        self.groups.append(made)
        return made


world_state = World()


def is_available() -> bool:
    """Whether the package can be used: always, in one process at least."""
    return True


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return world_state.default is not None


def is_torchelastic_launched() -> bool:
    """Whether a launcher that restarts processes has started this one."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def default_group() -> ProcessGroup:
    """The group of all processes."""
    if world_state.default is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return world_state.default


def group_or_default(group: Any) -> ProcessGroup:
    """The group, or that of all processes for None."""
    if group is None:
        return default_group()
    if isinstance(group, ProcessGroup):
        if group not in world_state.groups:
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
    rank = -1 if world_state.default is None else default_group().rank()
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
    if group is world_state.default is not None:
        return global_rank
    ranks = group_or_default(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank among all of the process with a rank in a group."""
    if group is world_state.default is not None:
        return group_rank
    ranks = group_or_default(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def group_named(name: str) -> ProcessGroup:
    """The group with a name."""
    found = next((each for each in world_state.groups if each.group_name == name), None)
    if found is None:
        raise RuntimeError(f'Could not resolve the process group registered under the name "{name}"')
    return found


def group_of_ranks(ranks: Sequence[int]) -> ProcessGroup:
    """The group of some of the processes, which exists."""
    wanted = sorted(ranks)
    found = next((each for each in world_state.groups if sorted(each.ranks) == wanted), None)
    if found is None:
        raise ValueError(f"no process group has the ranks {wanted}: make it with new_group")
    return found


def get_pg_count() -> int:
    """The number of process groups."""
    return len(world_state.groups)


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


def get_default_store() -> Store | None:
    """The store that `init_process_group` was given, or one of this process."""
    default_group()
    return world_state.store
