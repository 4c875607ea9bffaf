"""There is one process here; programs that could run as several are told so.

Such programs import these names and use them only when they were started as several.
"""

from typing import Any, NoReturn


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


def refuse_without_group(*args: Any, **kwargs: Any) -> NoReturn:
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


get_rank = get_world_size = get_backend = destroy_process_group = new_group = barrier = refuse_without_group
all_reduce = all_gather = all_gather_object = broadcast = broadcast_object_list = gather = refuse_without_group
scatter = reduce = reduce_scatter = send = recv = isend = irecv = refuse_without_group
