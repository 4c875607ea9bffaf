"""Calls of functions in other processes: not built yet."""

from mindtorch.distributed.refusals import refuse


def is_available() -> bool:
    return False


init_rpc = shutdown = rpc_sync = rpc_async = remote = get_worker_info = refuse
