"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_betas, check_learning_rate, check_non_negative, refuse_tensors
from mindtorch.optim.older_files import LATER_OPTIONS
from mindtorch.optim.optimizer import ElementwiseOptimizer, as_kept, decayed

_BY_OPS = ("cpu", "meta")  # where a step in one op would not be faster


class Adam(ElementwiseOptimizer):
    """Steps along the running mean of the gradient, scaled by the root of the running mean of its square."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        refuse_tensors(foreach, capturable, lr, betas)
        check_learning_rate(lr)
        check_non_negative("epsilon value", eps)
        check_betas(betas)
        check_non_negative("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        if grad.is_sparse:
            raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
        if not state:
            _begin(parameter, state, group["amsgrad"])
        state["step"] += 1
        if group["fused"] and parameter.device.type not in _BY_OPS:
            return self._update_at_once(parameter, grad, state, group)
        lr = float(group["lr"])
        grad = decayed(parameter, grad, group)
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"]:
            largest = as_kept(state["max_exp_avg_sq"], group)
            square = state["max_exp_avg_sq"].copy_(ops.maximum(largest, square))
        # Both means start at zero; dividing by these corrects their bias towards it.
        step = state["step"].item()
        correction1, correction2 = 1 - beta1**step, 1 - beta2**step
        divisor = (square.sqrt() / correction2**0.5).add_(group["eps"])
        parameter.addcdiv_(as_kept(mean, group), divisor, value=-lr / correction1)
        return None

    def _update_at_once(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        """The same as one op, on a device."""
        decay, is_decoupled = group["weight_decay"], group["decoupled_weight_decay"]
        if not is_decoupled:
            grad = decayed(parameter, grad, group)
        largest = state["max_exp_avg_sq"] if group["amsgrad"] else None
        kept = state["exp_avg"], state["exp_avg_sq"], largest
        numbers = float(group["lr"]), *map(float, group["betas"]), float(decay) if is_decoupled else 0.0, group["eps"]
        ops._adamw_step_(parameter, *kept, grad, self._counter(state["step"].item(), parameter), *numbers)

    _counted: tuple[Any, Tensor] | None = None

    def _counter(self, step: float, parameter: Tensor) -> Tensor:
        """The number of the step on the device, which mostly is that of the parameter before."""
        key = (step, parameter.device)
        if self._counted is None or self._counted[0] != key:
            self._counted = key, ops.full((), step, dtype=float32, device=parameter.device)
        return self._counted[1]


def _begin(parameter: Tensor, state: dict[str, Any], amsgrad: bool) -> None:
    state["step"] = ops.zeros((), dtype=float32)
    state["exp_avg"] = ops.zeros_like(parameter)
    state["exp_avg_sq"] = ops.zeros_like(parameter)
    if amsgrad:
        state["max_exp_avg_sq"] = ops.zeros_like(parameter)


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly instead of adding to the gradient."""

    later_options = {**LATER_OPTIONS, "decoupled_weight_decay": True}

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
