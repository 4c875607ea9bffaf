"""Hooks that send gradients as products of small matrices: not built."""

from mindtorch.distributed.refusals import Refused, refuse


class PowerSGDState(Refused):
    """Nothing is one."""


powerSGD_hook = batched_powerSGD_hook = refuse
