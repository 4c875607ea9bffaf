"""Adamax."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_betas, check_learning_rate, check_non_negative, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer, as_kept, decayed


class Adamax(ElementwiseOptimizer):
    """Steps along the running mean of the gradient, divided by the largest gradient of late."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_learning_rate(lr)
        check_non_negative("epsilon value", eps)
        check_betas(betas)
        check_non_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        if not state:
            state["step"] = ops.zeros((), dtype=float32)
            state["exp_avg"] = ops.zeros_like(parameter)
            state["exp_inf"] = ops.zeros_like(parameter)
        state["step"] += 1
        grad = decayed(parameter, grad, group)
        beta1, beta2 = group["betas"]
        mean, largest = state["exp_avg"].lerp_(grad, 1 - beta1), state["exp_inf"]
        faded = as_kept(largest.mul_(beta2), group)
        largest.copy_(ops.maximum(faded, grad.abs().add_(group["eps"])))
        rate = float(group["lr"]) / (1 - beta1 ** state["step"].item())
        parameter.addcdiv_(mean, largest, value=-rate)
