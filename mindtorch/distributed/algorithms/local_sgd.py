"""`PostLocalSGDOptimizer`, which averages parameters after steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._support.warnings import warn
from mindtorch.distributed.algorithms.model_averaging.averagers import ModelAverager
from mindtorch.optim import Optimizer


class PostLocalSGDOptimizer(Optimizer):
    """An optimizer that averages the parameters of all processes after its steps, when the averager has it so.

    The state has the number of steps, so that a run that goes on averages when it would have.
    """

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim = optim
        self.param_groups = optim.param_groups
        self.averager = averager

    @property
    def state(self) -> Any:  # type: ignore[override]
        """That of the optimizer."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """That of the optimizer, and the number of steps."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state."""
        self.optim.load_state_dict({name: each for name, each in state_dict.items() if name != "step"})
        self.param_groups = self.optim.param_groups
        if "step" not in state_dict:
            warn(
                "Loaded state dict does not contain a step counter for an averager. Setting step counter to 0.",
            )
        self.averager.step = state_dict.get("step", 0)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Step, and average if it is time."""
        loss = self.optim.step(closure)
        self.averager.average_parameters(params=self.param_groups)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take further parameters."""
        self.optim.add_param_group(param_group)
