"""Calls of functions in other processes: there is one process here."""

from mindtorch.distributed.refusals import refuse_without_group


def is_available() -> bool:
    return False


init_rpc = shutdown = rpc_sync = rpc_async = remote = get_worker_info = refuse_without_group
