"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.optim.checks import Group, ParamsT, check_learning_rate, check_non_negative
from mindtorch.optim.optimizer import ElementwiseOptimizer, add_at_places, decayed


class SGD(ElementwiseOptimizer):
    """Steps against the gradient, or against its running sum (momentum)."""

    later_options = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_learning_rate(lr)
        check_non_negative("momentum value", momentum)
        check_non_negative("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, parameter: Tensor, grad: Tensor, group: Group) -> None:
        if group["momentum"]:
            super()._update(parameter, grad, group)
        else:  # plain steps leave no state behind
            self.update(parameter, -grad if group["maximize"] else grad, {}, group)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        grad = decayed(parameter, grad, group)
        if group["momentum"]:
            grad = _with_momentum(grad, state, group)
        if grad.is_sparse:
            add_at_places(parameter, grad, -float(group["lr"]))
        else:
            parameter.add_(grad, alpha=-float(group["lr"]))

    _update_complex = update  # it only adds and scales


def _with_momentum(grad: Tensor, state: dict[str, Any], group: Group) -> Tensor:
    buffer = state.get("momentum_buffer")
    if buffer is None:
        buffer = state["momentum_buffer"] = grad.detach().clone()
    else:
        buffer.mul_(group["momentum"]).add_(grad, alpha=1 - group["dampening"])
    return grad.add(buffer, alpha=group["momentum"]) if group["nesterov"] else buffer
