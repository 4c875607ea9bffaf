"""Adagrad."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindtorch.dispatch import ops
from mindtorch.dtype import float32
from mindtorch.optim.optimizer import ElementwiseOptimizer, Group, check_non_negative, decayed
from mindtorch.tensor import Tensor


class Adagrad(ElementwiseOptimizer):
    """Steps along the gradient divided by the root of the sum of all its squares."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_non_negative("learning rate", lr)
        check_non_negative("lr_decay value", lr_decay)
        check_non_negative("weight_decay value", weight_decay)
        check_non_negative("initial_accumulator_value value", initial_accumulator_value)
        check_non_negative("epsilon value", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for parameter in self._all_parameters():
            first = initial_accumulator_value
            if parameter.is_complex():
                first = complex(first, first)
            self.state[parameter] = {
                "step": ops.zeros((), dtype=float32),
                "sum": ops.full_like(parameter, first),
            }

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        state["step"] += 1
        grad = decayed(parameter, grad, group)
        lr = float(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        total = state["sum"].addcmul_(grad, grad, value=1)
        parameter.addcdiv_(grad, total.sqrt().add_(group["eps"]), value=-lr)
