"""Hooks for `DistributedDataParallel.register_comm_hook`."""

from mindtorch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

__all__ = ["default_hooks", "powerSGD_hook"]
