"""`CyclicLR`: a learning rate that rises and falls again and again."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.optim.optimizer import Optimizer
from mindtorch.optim.schedule import LRScheduler, check_optimizer, set_rate


class CyclicLR(LRScheduler):
    """Goes from base_lr to max_lr and back, in a straight line; the height of a cycle can be scaled."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = check_optimizer(optimizer)
        base_lrs = self._per_group("base_lr", base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs):
                set_rate(group, rate)
        self.max_lrs = self._per_group("max_lr", max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if mode not in _SCALES and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else _SCALES[mode][1]
        self._scale_fn_ref = None if scale_fn is not None else partial(_SCALES[mode][0], gamma)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _start_momentum(self, base_momentum: Any, max_momentum: Any, last_epoch: int) -> None:
        if "momentum" not in self.optimizer.defaults and "betas" not in self.optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in self.optimizer.defaults
        self.base_momentums = self._per_group("base_momentum", base_momentum)
        self.max_momentums = self._per_group("max_momentum", max_momentum)
        if last_epoch == -1:
            groups = zip(self.optimizer.param_groups, self.max_momentums, self.base_momentums)
            for group, high, low in groups:
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low

    def _per_group(self, name: str, value: Any) -> list[Any]:
        groups = len(self.optimizer.param_groups)
        if not isinstance(value, (list, tuple)):
            return [value] * groups
        if len(value) != groups:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
                f"values, param_groups has {groups}."
            )
        return list(value)

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def scale_fn(self, x: float) -> float:
        """How high a cycle or a step is, compared with the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        assert self._scale_fn_ref is not None  # there is one or the other
        return self._scale_fn_ref(x)

    def get_lr(self) -> list[float | Tensor]:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            self._cycle_momentum(height, scale)
        return [base + (high - base) * height * scale for base, high in zip(self.base_lrs, self.max_lrs)]

    def _cycle_momentum(self, height: float, scale: float) -> None:
        bounds = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups)
        for base, high, group in bounds:
            self._set_momentum(group, high - (high - base) * height * scale)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of a scaling function only the fields, if it is an object."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        del state["_scale_fn_ref"]
        state["_scale_fn_custom"] = None
        if function is not None and not isinstance(function, FunctionType):
            state["_scale_fn_custom"] = dict(function.__dict__)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a saved state; the scaling function stays, and gets the saved fields."""
        fields = state_dict.get("_scale_fn_custom")
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if fields is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(fields)


# By mode: how high a cycle or a step is, and which of the two is counted.
_SCALES: dict[str, tuple[Callable[[float, float], float], str]] = {
    "triangular": (lambda gamma, x: 1.0, "cycle"),
    "triangular2": (lambda gamma, x: 1 / (2.0 ** (x - 1)), "cycle"),
    "exp_range": (lambda gamma, x: gamma**x, "iterations"),
}
