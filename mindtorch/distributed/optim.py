"""Optimizers that share their state among processes: there is one process, so nothing is one."""

from typing import Any

from mindtorch.distributed.refusals import refuse
from mindtorch.optim import Optimizer


class ZeroRedundancyOptimizer(Optimizer):
    """Each process would keep a part of the state."""

    def __init__(self, params: Any, optimizer_class: type[Optimizer], **defaults: Any) -> None:
        refuse()
