"""Adafactor."""

from __future__ import annotations

from typing import Any

from mindtorch._core.dtype import finfo, float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.optim.checks import Group, ParamsT, check_one_element, refuse_sparse
from mindtorch.optim.optimizer import ElementwiseOptimizer


class Adafactor(ElementwiseOptimizer):
    """Adam whose squares of matrices are kept as a column and a row, and whose steps are relative to the parameters."""

    later_options = {"foreach": None}

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr)
        _check("Learning rate", lr)
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            _check("epsilon1", eps[0])
        _check("epsilon2", eps[1])
        _check("Clipping threshold d", d, 1)
        _check("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def update(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        refuse_sparse(self, grad)
        if not state:
            _begin(grad, state)
        state["step"] += 1
        step, lr = state["step"].item(), float(group["lr"])
        floor = finfo(parameter.dtype).eps if group["eps"][0] is None else group["eps"][0]
        rate = max(group["eps"][1], _root_mean_square(parameter)) * min(lr, 1 / step**0.5)
        if group["weight_decay"]:
            parameter.mul_(1 - lr * group["weight_decay"])
        variance = _variance(grad, state, step ** group["beta2_decay"], floor)
        change = variance.clamp_(min=floor * floor).rsqrt_().mul_(grad)
        parameter.add_(change, alpha=-rate / max(1.0, _root_mean_square(change) / group["d"]))

    def _update_complex(self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: Group) -> None:
        raise RuntimeError("Adafactor does not support complex parameters")


def _check(name: str, value: Any, least: int = 0) -> None:
    if not float(least) <= value:
        raise ValueError(f"{name} should be >= {least} but is: {value}")


def _begin(grad: Tensor, state: dict[str, Any]) -> None:
    state["step"] = ops.zeros((), dtype=float32)
    if grad.ndim > 1:
        state["row_var"] = grad.new_zeros((*grad.shape[:-1], 1))
        state["col_var"] = grad.new_zeros((*grad.shape[:-2], 1, grad.shape[-1]))
    else:
        state["variance"] = ops.zeros_like(grad)


def _root_mean_square(tensor: Tensor) -> float:
    return tensor.norm(2).item() / tensor.numel() ** 0.5


def _variance(grad: Tensor, state: dict[str, Any], share: float, floor: float) -> Tensor:
    """The running mean of the squares; of a matrix, the product of that of its rows and that of its columns."""
    if grad.ndim <= 1:
        return state["variance"].lerp_(grad * grad, share).clone()
    for name, dim in (("row_var", -1), ("col_var", -2)):
        state[name].lerp_(grad.norm(dim=dim, keepdim=True).square_().div_(grad.shape[dim]), share)
    rows, columns = state["row_var"], state["col_var"]
    return (rows @ columns).div_(rows.mean(-2, keepdim=True).clamp_(min=floor))
