"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_learning_rate, check_non_negative, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer, decayed


class ASGD(ElementwiseOptimizer):
    """Gradient descent with falling rates, which keeps the mean of the parameters in its state."""

    captured = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_learning_rate(lr)
        check_non_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        lr, decay = float(group["lr"]), group["lambd"]
        if not state:
            state["step"] = ops.zeros((), dtype=float32)
            state["eta"] = ops.full((), lr, dtype=float32)
            state["mu"] = ops.ones((), dtype=float32)
            state["ax"] = ops.zeros_like(parameter)
        state["step"] += 1
        grad = decayed(parameter, grad, group)
        rate, share, mean = state["eta"].item(), state["mu"].item(), state["ax"]
        parameter.mul_(1 - decay * rate).add_(grad, alpha=-rate)
        if share == 1:
            mean.copy_(parameter)
        else:
            mean.add_(parameter.sub(mean).mul_(share))
        step = state["step"].item()
        state["eta"].fill_(lr / (1 + decay * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
