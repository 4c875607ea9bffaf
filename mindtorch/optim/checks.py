"""What optimizers refuse: options that are out of range or do not go together, gradients that they cannot use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from mindtorch._core.tensor import Tensor

Group = dict[str, Any]
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

_FUSING_DEVICES = ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]
_CAPTURING_DEVICES = ["cuda", "xpu", "hpu", "privateuseone"]


def check_non_negative(name: str, value: Any) -> None:
    """torch's complaint about a negative option."""
    if not 0.0 <= value:
        raise ValueError(f"Invalid {name}: {value}")


def check_one_element(lr: Any) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_learning_rate(lr: Any) -> None:
    check_one_element(lr)
    check_non_negative("learning rate", lr)


def check_betas(betas: Any) -> None:
    for index in range(2):
        if not 0.0 <= betas[index] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]}")


def refuse_tensors(foreach: bool | None, capturable: bool, lr: Any, betas: Any) -> None:
    """Rates and betas of Adam may be tensors, but not in every combination."""
    is_refused = foreach and not capturable
    if is_refused and isinstance(lr, Tensor):
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    if not any(all(isinstance(betas[index], kind) for index in range(2)) for kind in (float, Tensor)):
        raise ValueError("betas must be either both floats or both Tensors")
    for index in range(2):
        if isinstance(betas[index], Tensor):
            if is_refused:
                raise ValueError(f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True")
            if betas[index].numel() != 1:
                raise ValueError(f"Tensor betas[{index}] must be 1-element")


def check_fused(defaults: dict[str, Any], parameters: Iterable[Tensor]) -> None:
    """`fused` asks for one kernel for all parameters; the results are the same."""
    if not defaults.get("fused"):
        return
    if defaults.get("differentiable"):
        raise RuntimeError("`fused` does not support `differentiable`")
    for parameter in parameters:
        if not parameter.is_floating_point():
            raise RuntimeError(
                "`fused=True` requires all the params to be floating point Tensors of supported devices: "
                f"{_FUSING_DEVICES} but {parameter.dtype} and {parameter.device.type}"
            )
    if defaults.get("foreach"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_step(group: Group, captured: str) -> None:
    """Options that only a step refuses."""
    foreach = group.get("foreach")
    if group.get("capturable"):
        devices = _CAPTURING_DEVICES if foreach else [*_CAPTURING_DEVICES, "xla"]
        raise AssertionError(f"If capturable=True, {captured} must be on supported devices: {devices}.")
    if foreach and group.get("differentiable"):
        raise AssertionError("_foreach ops don't support autograd")


def refuse_sparse(optimizer: Any, grad: Tensor) -> None:
    """For optimizers whose state has an entry for every element."""
    if grad.is_sparse:
        raise RuntimeError(f"{type(optimizer).__name__} does not support sparse gradients")
