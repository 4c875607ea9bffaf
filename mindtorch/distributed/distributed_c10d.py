"""`torch.distributed.distributed_c10d`: what `mindtorch.distributed` has, and some of PyTorch's private names."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

from mindtorch._support.lazy import names_from
from mindtorch.distributed.flight_recorder import dump_trace as _dump_fr_trace  # noqa: F401
from mindtorch.distributed.world import default_group as _get_default_group  # noqa: F401
from mindtorch.distributed.world import default_pg_timeout, get_rank, get_world_size
from mindtorch.distributed.world import get_default_store as _get_default_store  # noqa: F401
from mindtorch.distributed.world import group_named as _resolve_process_group  # noqa: F401
from mindtorch.distributed.world import world_state as _world  # noqa: F401


def _rank_not_in_group(group: Any) -> bool:
    """Whether this process is not in the group."""
    return group is not None and get_rank(group) == -1


def _get_default_timeout(backend: str) -> timedelta:
    """The timeout of groups that are made without one."""
    return default_pg_timeout


_get_group_size = get_world_size


_rest = names_from("mindtorch.distributed.distributed_c10d", {})


def __getattr__(name: str) -> Any:
    package = sys.modules["mindtorch.distributed"]
    return getattr(package, name) if name in vars(package) else _rest(name)
