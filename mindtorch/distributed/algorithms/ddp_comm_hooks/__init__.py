"""Hooks for `DistributedDataParallel.register_comm_hook`."""

from __future__ import annotations

from enum import Enum
from typing import Any

from mindtorch.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks,
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
)
from mindtorch.nn.parallel.distributed import DistributedDataParallel


def _power_sgd(rank: int) -> Any:
    def registered(model: DistributedDataParallel, state: Any) -> None:
        own = powerSGD_hook.PowerSGDState(process_group=state, matrix_approximation_rank=rank)
        model.register_comm_hook(own, powerSGD_hook.powerSGD_hook)

    return registered


def _plain(hook: Any) -> Any:
    def registered(model: DistributedDataParallel, state: Any) -> None:
        model.register_comm_hook(state, hook)

    return registered


class DDPCommHookType(Enum):
    """The hooks by name, for `register_ddp_comm_hook`."""

    ALLREDUCE = (_plain(default_hooks.allreduce_hook),)
    FP16_COMPRESS = (_plain(default_hooks.fp16_compress_hook),)
    BF16_COMPRESS = (_plain(default_hooks.bf16_compress_hook),)
    POWER_SGD = (_power_sgd(1),)
    POWER_SGD_RANK2 = (_power_sgd(2),)
    NOOP = (_plain(debugging_hooks.noop_hook),)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: DistributedDataParallel, state: Any = None) -> None:
    """Register a hook by its name; the state is the group of processes, None for all."""
    comm_hook_type.value[0](model, state)


__all__ = [
    "DDPCommHookType", "debugging_hooks", "default_hooks", "post_localSGD_hook", "powerSGD_hook",
    "register_ddp_comm_hook",
]  # fmt: skip
