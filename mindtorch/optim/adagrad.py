"""Adagrad."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_learning_rate, check_non_negative
from mindtorch.optim.optimizer import ElementwiseOptimizer, decayed


class Adagrad(ElementwiseOptimizer):
    """Steps along the gradient divided by the root of the sum of all its squares."""

    def __init__(
        self,
        params: ParamsT,
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
        check_learning_rate(lr)
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
            self._begin(parameter)

    def _begin(self, parameter: Tensor) -> None:
        first = self.defaults["initial_accumulator_value"]
        if parameter.is_complex():
            first = complex(first, first)
        self.state[parameter].update(step=ops.zeros((), dtype=float32), sum=ops.full_like(parameter, first))

    def _update(self, parameter: Tensor, grad: Tensor, group: Group) -> None:
        if not self.state[parameter]:  # it is of a group that was added later
            self._begin(parameter)
        super()._update(parameter, grad, group)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        state["step"] += 1
        lr = float(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        if grad.is_sparse:
            _update_sparse(parameter, grad, state["sum"], group, lr)
            return
        grad = decayed(parameter, grad, group)
        total = state["sum"].addcmul_(grad, grad, value=1)
        parameter.addcdiv_(grad, total.sqrt().add(group["eps"]), value=-lr)


def _update_sparse(parameter: Tensor, grad: Tensor, total: Tensor, group: Group, lr: float) -> None:
    """As above, for the elements that the gradient has."""
    if group["weight_decay"]:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    grad = grad.coalesce()
    places, values = tuple(grad.indices()), grad.values()
    total.index_put_(places, values.pow(2), accumulate=True)
    divisor = total[places].sqrt_().add_(group["eps"])
    parameter.index_put_(places, values.div(divisor).mul_(-lr), accumulate=True)
