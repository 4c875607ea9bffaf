"""There is one process here; programs that could run as several are told so.

Such programs import these names and use them only when they were started as several.
"""

from datetime import timedelta
from enum import Enum
from typing import Any, NoReturn

from mindtorch.distributed import device_mesh as device_mesh
from mindtorch.distributed.device_mesh import DeviceMesh as DeviceMesh
from mindtorch.distributed.device_mesh import init_device_mesh as init_device_mesh
from mindtorch.distributed.refusals import ProcessGroup, refuse_without_group


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


def is_torchelastic_launched() -> bool:
    return False


def is_nccl_available() -> bool:
    return False


is_gloo_available = is_mpi_available = is_nccl_available


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("mindtorch runs in one process: leave init_process_group out, and start the program only once")


get_rank = get_world_size = get_backend = destroy_process_group = new_group = barrier = refuse_without_group
all_reduce = all_gather = all_gather_object = broadcast = broadcast_object_list = gather = refuse_without_group
scatter = reduce = reduce_scatter = send = recv = isend = irecv = refuse_without_group
all_gather_into_tensor = reduce_scatter_tensor = all_to_all = all_to_all_single = refuse_without_group
gather_object = scatter_object_list = monitored_barrier = get_process_group_ranks = refuse_without_group
get_global_rank = get_group_rank = refuse_without_group

default_pg_timeout = timedelta(minutes=30)


class ReduceOp(Enum):
    """How the tensors of several processes would be made one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


class GroupMember:
    """The group of all processes: there is none."""

    WORLD = NON_GROUP_MEMBER = None


group = GroupMember


class Work(ProcessGroup):
    """Something that they would be at; nothing is one."""


class Store(ProcessGroup):
    """What they would tell each other; nothing is one."""
