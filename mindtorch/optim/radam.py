"""RAdam."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_betas, check_learning_rate, check_non_negative, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer, decayed


class RAdam(ElementwiseOptimizer):
    """Adam that scales its steps only once it has seen enough gradients to know their variance."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        if not state:
            state["step"] = ops.zeros((), dtype=float32)
            state["exp_avg"] = ops.zeros_like(parameter)
            state["exp_avg_sq"] = ops.zeros_like(parameter)
        state["step"] += 1
        step = state["step"].item()
        beta1, beta2 = group["betas"]
        grad = decayed(parameter, grad, group)
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        change = mean / (1 - beta1**step) * float(group["lr"])
        rectification = _rectification(beta2, step)
        if rectification is not None:
            change = change * ((1 - beta2**step) ** 0.5 / square.sqrt().add(group["eps"])) * rectification
        parameter.add_(change, alpha=-1.0)


def _rectification(beta: float, step: float) -> float | None:
    """By what the steps are scaled for the variance; None while there were too few gradients to tell."""
    limit = 2 / (1 - beta) - 1
    length = limit - 2 * step * beta**step / (1 - beta**step)
    if length <= 5:
        return None
    return ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
