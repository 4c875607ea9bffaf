"""`torch.distributed.checkpoint.default_planner`: who saves and loads what."""

from mindtorch.distributed.checkpoint.planner import DefaultLoadPlanner, DefaultSavePlanner

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]
