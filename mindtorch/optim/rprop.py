"""Rprop."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_learning_rate, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer


class Rprop(ElementwiseOptimizer):
    """Steps of a size of their own for each element: larger while the gradient keeps its sign, smaller if not."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_learning_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
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
            state["prev"] = ops.zeros_like(parameter)
            state["step_size"] = ops.full_like(grad, float(group["lr"]))
        state["step"] += 1
        smaller, larger = group["etas"]
        agreement = grad * state["prev"]
        turned = agreement < 0
        factor = ops.ones_like(grad).masked_fill_(agreement > 0, larger).masked_fill_(turned, smaller)
        size = state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(turned, 0)
        parameter.addcmul_(grad.sign(), size, value=-1)
        state["prev"].copy_(grad)
