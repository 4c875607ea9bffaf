"""Python's `multiprocessing`, with tensors that are sent to another process as shared memory, not as copies."""

import multiprocessing
from multiprocessing import *  # noqa: F403

from mindtorch.multiprocessing.reductions import init_reductions
from mindtorch.multiprocessing.spawn import ENV_VAR_PARALLEL_START as ENV_VAR_PARALLEL_START
from mindtorch.multiprocessing.spawn import ProcessContext as ProcessContext
from mindtorch.multiprocessing.spawn import ProcessException as ProcessException
from mindtorch.multiprocessing.spawn import ProcessExitedException as ProcessExitedException
from mindtorch.multiprocessing.spawn import ProcessRaisedException as ProcessRaisedException
from mindtorch.multiprocessing.spawn import SpawnContext as SpawnContext
from mindtorch.multiprocessing.spawn import prctl_pr_set_pdeathsig as _prctl_pr_set_pdeathsig  # noqa: F401
from mindtorch.multiprocessing.spawn import spawn as spawn
from mindtorch.multiprocessing.spawn import start_processes as start_processes

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", *multiprocessing.__all__]

_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Note how memory is to be shared; it is by descriptors of files, whatever is asked for."""
    global _strategy
    known = get_all_sharing_strategies()
    if new_strategy not in known:
        raise AssertionError(f"invalid sharing strategy '{new_strategy}', expected one of {known}")
    _strategy = new_strategy


def prepare() -> None:
    """From now on `multiprocessing` sends tensors as shared memory; importing this module is enough."""


init_reductions()
