"""Calls of functions in other processes: not built yet."""

from mindtorch._support.unavailable import no_such_part_of_distributed

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)


def is_available() -> bool:
    return False


init_rpc = shutdown = rpc_sync = rpc_async = remote = get_worker_info = no_such_part_of_distributed
