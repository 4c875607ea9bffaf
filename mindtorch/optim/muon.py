"""Muon."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_one_element, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer


class Muon(ElementwiseOptimizer):
    """Steps of matrices whose singular values are all made about one."""

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_one_element(lr)
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not 0.0 <= value:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in _RATE_FACTORS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for parameter in self._all_parameters():
            if parameter.ndim != 2:
                raise ValueError(
                    f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.size()}"
                )

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        if not state:
            state["momentum_buffer"] = ops.zeros_like(grad)
        lr, momentum = float(group["lr"]), group["momentum"]
        mean = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        change = grad.lerp(mean, momentum) if group["nesterov"] else mean
        change = _orthogonal(change, group["ns_coefficients"], group["ns_steps"], group["eps"])
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.add_(change, alpha=-lr * _RATE_FACTORS[group["adjust_lr_fn"]](*parameter.shape))

    def _update_complex(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        raise RuntimeError("Muon does not support complex parameters")


def _original_factor(rows: int, columns: int) -> float:
    return math.sqrt(max(1, rows / columns))


def _factor_of_adamw(rows: int, columns: int) -> float:
    return 0.2 * math.sqrt(max(rows, columns))


_RATE_FACTORS = {None: _original_factor, "original": _original_factor, "match_rms_adamw": _factor_of_adamw}


def _orthogonal(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A matrix with the same singular vectors and singular values near one, by Newton-Schulz iteration."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    is_high = matrix.shape[0] > matrix.shape[1]
    result = matrix.bfloat16()
    result = result.t() if is_high else result
    result.div_(result.norm().clamp(min=eps))
    for _ in range(steps):
        gram = result @ result.t()
        change = ops.addmm(gram, gram, gram, beta=b, alpha=c)
        result = ops.addmm(result, change, result, beta=a)
    return result.t() if is_high else result
