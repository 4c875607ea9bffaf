"""When parameters become means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from mindtorch._support.warnings import warn
from mindtorch.distributed.algorithms.model_averaging import utils
from mindtorch.distributed.world import group_or_default


class ModelAverager(ABC):
    """Averages parameters; counts the steps."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = group_or_default(process_group)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average them, if it is time, and count a step."""
        raise NotImplementedError


class PeriodicModelAverager(ModelAverager):
    """Averages after each `period` steps, `warmup_steps` of all aside, in which gradients are reduced instead."""

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warn(
                "When period is 1, no need to use model averaging because the communication cost of all-reducing "
                "parameters will be no less than the cost of all-reducing gradients by DistributedDataParallel in the "
                "backward pass. Therefore, only DistributedDataParallel should be used for this case."
            )
        self.warmup_steps, self.period = warmup_steps, period

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average them, if it is time, and count a step."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1


__all__ = ["ModelAverager", "PeriodicModelAverager"]
