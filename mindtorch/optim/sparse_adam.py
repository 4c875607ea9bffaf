"""SparseAdam."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_betas, check_one_element
from mindtorch.optim.optimizer import ElementwiseOptimizer


class SparseAdam(ElementwiseOptimizer):
    """Adam for sparse gradients: what has no gradient in a step keeps its value and its state."""

    later_options: dict[str, Any] = {}
    counts_in_tensors = False

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr)
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = self._places(Tensor.is_sparse.__get__)
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        imaginary = self._places(Tensor.is_complex)
        if imaginary:
            raise ValueError(f"Complex params at indices {imaginary}: SparseAdam does not support complex parameters")

    def _places(self, is_meant: Any) -> list[list[int]]:
        """The group and the place in it of each parameter that is meant."""
        return [
            [number, place]
            for number, group in enumerate(self.param_groups)
            for place, parameter in enumerate(group["params"])
            if is_meant(parameter)
        ]

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        if not state:
            state["step"] = 0
            state["exp_avg"] = ops.zeros_like(parameter)
            state["exp_avg_sq"] = ops.zeros_like(parameter)
        state["step"] += 1
        grad = grad.coalesce()
        places, values = tuple(grad.indices()), grad.values()
        if not values.numel():
            return
        step = state["step"]
        beta1, beta2 = group["betas"]
        mean = _moved(state["exp_avg"], places, values, 1 - beta1)
        square = _moved(state["exp_avg_sq"], places, values.pow(2), 1 - beta2)
        rate = float(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        parameter[places] += -rate * mean.div_(square.sqrt_().add_(group["eps"]))


def _moved(average: Tensor, places: tuple[Tensor, ...], values: Tensor, share: float) -> Tensor:
    """Move the elements of a running mean at some places towards values; their copies."""
    old = average[places]
    new = values.sub(old).mul_(share).add_(old)
    average[places] = new
    return new
