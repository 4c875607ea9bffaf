"""`torch.distributed.constants`: the timeout of groups that are made without one."""

from mindtorch.distributed.world import default_pg_timeout as default_pg_timeout

__all__ = ["default_pg_timeout"]
