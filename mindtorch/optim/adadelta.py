"""Adadelta."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_learning_rate, check_non_negative, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer, decayed


class Adadelta(ElementwiseOptimizer):
    """Steps along the gradient, as long as the steps of late are, in relation to the gradients of late."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_learning_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_non_negative("epsilon value", eps)
        check_non_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        if not state:
            state["step"] = ops.zeros((), dtype=float32)
            state["square_avg"] = ops.zeros_like(parameter)
            state["acc_delta"] = ops.zeros_like(parameter)
        state["step"] += 1
        grad = decayed(parameter, grad, group)
        rho, eps = group["rho"], group["eps"]
        square = state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        change = state["acc_delta"].add(eps).sqrt().div(square.add(eps).sqrt()).mul(grad)
        state["acc_delta"].mul_(rho).addcmul_(change, change, value=1 - rho)
        parameter.add_(change, alpha=-float(group["lr"]))
