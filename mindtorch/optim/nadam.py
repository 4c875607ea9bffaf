"""NAdam."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_betas, check_learning_rate, check_non_negative, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer, as_kept, decayed


class NAdam(ElementwiseOptimizer):
    """Adam with Nesterov's momentum, which looks one step ahead."""

    captured = "params, mu_products and state_steps"

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_non_negative("momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        if not state:
            _begin(parameter, state)
        state["step"] += 1
        step, lr = state["step"].item(), float(group["lr"])
        grad = decayed(parameter, grad, group)
        beta1, beta2 = group["betas"]
        momentum, next_momentum = (_momentum(beta1, each, group["momentum_decay"]) for each in (step, step + 1))
        state["mu_product"] *= momentum
        product = state["mu_product"].item()
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        square = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        divisor = square.div(1 - beta2**step).sqrt().add(group["eps"])
        parameter.addcdiv_(grad, divisor, value=-lr * (1 - momentum) / (1 - product))
        parameter.addcdiv_(as_kept(mean, group), divisor, value=-lr * next_momentum / (1 - product * next_momentum))


def _begin(parameter: Tensor, state: dict[str, Any]) -> None:
    state["step"] = ops.zeros((), dtype=float32)
    state["mu_product"] = ops.ones((), dtype=float32)
    state["exp_avg"] = ops.zeros_like(parameter)
    state["exp_avg_sq"] = ops.zeros_like(parameter)


def _momentum(beta: float, step: float, decay: float) -> float:
    """The momentum of a step; it grows towards beta."""
    return beta * (1 - 0.5 * 0.96 ** (step * decay))
