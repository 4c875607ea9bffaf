"""RMSprop."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_learning_rate, check_non_negative, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer, decayed


class RMSprop(ElementwiseOptimizer):
    """Steps along the gradient divided by the root of the running mean of its square."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_learning_rate(lr)
        check_non_negative("epsilon value", eps)
        check_non_negative("momentum value", momentum)
        check_non_negative("weight_decay value", weight_decay)
        check_non_negative("alpha value", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        if not state:
            _begin(parameter, state, group)
        state["step"] += 1
        lr, alpha = float(group["lr"]), group["alpha"]
        grad = decayed(parameter, grad, group)
        square = state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, 1 - alpha)
            square = square.addcmul(mean, mean, value=-1)
        divisor = square.sqrt().add(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, divisor)
            parameter.add_(buffer, alpha=-lr)
        else:
            parameter.addcdiv_(grad, divisor, value=-lr)


def _begin(parameter: Tensor, state: dict[str, Any], group: Group) -> None:
    state["step"] = ops.zeros((), dtype=float32)
    state["square_avg"] = ops.zeros_like(parameter)
    if group["momentum"] > 0:
        state["momentum_buffer"] = ops.zeros_like(parameter)
    if group["centered"]:
        state["grad_avg"] = ops.zeros_like(parameter)
