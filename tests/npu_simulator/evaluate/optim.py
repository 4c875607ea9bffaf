"""Steps of optimizers, and functions of lists of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import Evaluator, expect, refuse, require, same_dtype, store, wide
from tests.npu_simulator.evaluate.pointwise import sigmoid
from tests.npu_simulator.evaluate.reduction import norm

EVALUATORS: dict[str, Evaluator] = {}
Function = Callable[..., Any]

# -------------------- AdamW --------------------


def _adamw(
    var: Any, m: Any, v: Any, largest: Any, grad: Any, step: Any, lr: float, beta1: float, beta2: float, decay: float,
    eps: float, amsgrad: bool, maximize: bool,
) -> None:  # fmt: skip
    # CANN: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g g, both corrected for the step,
    # var = var - lr m / (sqrt(v) + eps) - lr decay var; with amsgrad the larger v of before and now.
    if any(each is None for each in (var, m, v, grad, step)) or (amsgrad and largest is None):
        refuse("a tensor is null", 161001)
    same_dtype(var, m, v, grad)
    for each in (m, v, grad):
        expect(each, var.shape)
    require(step.size == 1 and step.dtype in (np.int64, np.float32), f"a step of {step.dtype}")
    t = float(wide(step).reshape(()))
    g = wide(grad) * (-1 if maximize else 1)
    first = beta1 * wide(m) + (1 - beta1) * g
    second = beta2 * wide(v) + (1 - beta2) * g * g
    most = np.maximum(wide(largest), second) if amsgrad else second
    x = wide(var) * (1 - lr * decay)
    x = x - lr / (1 - beta1**t) * first / (np.sqrt(most / (1 - beta2**t)) + eps)
    for out, value in ((var, x), (m, first), (v, second), *([(largest, most)] if amsgrad else [])):
        store(out, value)


def _fused_adamw(
    params: Any, grads: Any, first: Any, second: Any, largest: Any, steps: Any, scale: Any, found_inf: Any, lr: float,
    beta1: float, beta2: float, decay: float, eps: float, amsgrad: bool, maximize: bool,
) -> None:  # fmt: skip
    # "foundInf: nothing is updated if it is 1"; gradients are divided by gradScale
    if found_inf is not None and wide(found_inf).reshape(()) == 1:
        return
    most = largest if amsgrad else [None] * len(params)
    for number, each in enumerate(zip(params, first, second, most, grads)):
        grad = each[4] if scale is None else (wide(each[4]) / wide(scale).reshape(())).astype(each[4].dtype)
        _adamw(*each[:4], grad, steps[number], lr, beta1, beta2, decay, eps, amsgrad, maximize)


EVALUATORS |= {"aclnnApplyAdamWV2": _adamw, "aclnnFusedAdamw": _fused_adamw}

# -------------------- lists --------------------


def each_into(out: Any, values: Iterable[Any], *lists: Any) -> None:
    """A result for each tensor of the output list, in the dtype of its first operand."""
    require(
        out is not None and all(own is not None and len(own) == len(out) for own in lists), "lists differ in length"
    )
    # All are computed before any is written: outputs may be inputs.
    found = list(values)
    for own, value, first in zip(out, found, lists[0]):
        store(own, value, dtype=first.dtype)


def _one(scalar: Any) -> Any:
    """A factor: an aclScalar, or a tensor of one element."""
    if not isinstance(scalar, np.ndarray):
        return scalar
    require(scalar.size == 1, "a tensor of one element is needed")
    return wide(scalar).reshape(())


def _of_one(function: Function) -> Evaluator:
    def evaluate(x: Any, out: Any) -> None:
        each_into(out, (function(wide(each)) for each in x), x)

    return evaluate


def _of_two(function: Function) -> Evaluator:
    def evaluate(x1: Any, x2: Any, out: Any) -> None:
        each_into(out, (function(wide(a), wide(b)) for a, b in zip(x1, x2)), x1, x2)

    return evaluate


def _of_two_and_alpha(function: Function) -> Evaluator:
    def evaluate(x1: Any, x2: Any, alpha: Any, out: Any) -> None:
        each_into(out, (function(wide(a), wide(b) * _one(alpha)) for a, b in zip(x1, x2)), x1, x2)

    return evaluate


def _of_scalar(function: Function) -> Evaluator:
    def evaluate(x: Any, scalar: Any, out: Any) -> None:
        each_into(out, (function(wide(each), _one(scalar)) for each in x), x)

    return evaluate


def _of_scalars(function: Function) -> Evaluator:
    def evaluate(x: Any, scalars: Any, out: Any) -> None:
        each_into(out, (function(wide(each), scalar) for each, scalar in zip(x, scalars)), x, scalars)

    return evaluate


def _of_three(function: Function) -> Evaluator:
    def evaluate(x1: Any, x2: Any, x3: Any, scalar: Any, out: Any) -> None:
        # A number for all, or a tensor with one for each.
        factors = [scalar] * len(x1) if not isinstance(scalar, np.ndarray) else list(wide(scalar).reshape(-1))
        factors = factors * len(x1) if len(factors) == 1 and len(x1) > 1 else factors
        require(len(factors) == len(x1), f"{len(factors)} numbers for {len(x1)} tensors")
        found = (function(wide(a), wide(b), wide(c), s) for a, b, c, s in zip(x1, x2, x3, factors))
        each_into(out, found, x1, x2, x3)

    return evaluate


ONE: dict[str, Function] = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Asin": np.arcsin,
    "Atan": np.arctan,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Log2": np.log2,
    "Neg": np.negative,
    "Reciprocal": lambda x: 1 / x,
    "Sigmoid": sigmoid,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
    "Copy": lambda x: x,
}
SCALARS: dict[str, Function] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power, "Maximum": np.maximum,
    "Minimum": np.minimum,
}  # fmt: skip
EVALUATORS |= {f"aclnnForeach{name}": _of_one(function) for name, function in ONE.items()}
for _name, _function in SCALARS.items():
    EVALUATORS[f"aclnnForeach{_name}Scalar"] = _of_scalar(_function)
    EVALUATORS[f"aclnnForeach{_name}ScalarV2"] = _of_scalar(_function)
    EVALUATORS[f"aclnnForeach{_name}ScalarList"] = _of_scalars(_function)
for _name in ("Mul", "Div", "Pow", "Maximum", "Minimum"):
    EVALUATORS[f"aclnnForeach{_name}List"] = _of_two(SCALARS[_name])
for _name in ("Add", "Sub"):
    EVALUATORS[f"aclnnForeach{_name}List"] = EVALUATORS[f"aclnnForeach{_name}ListV2"] = _of_two_and_alpha(
        SCALARS[_name]
    )
for _name, _function in {
    "Addcmul": lambda x, a, b, s: x + s * a * b,
    "Addcdiv": lambda x, a, b, s: x + s * a / b,
}.items():
    for _form in ("Scalar", "ScalarV2", "ScalarList", "List"):
        EVALUATORS[f"aclnnForeach{_name}{_form}"] = _of_three(_function)


def _lerp_list(x1: Any, x2: Any, weight: Any, out: Any) -> None:
    found = (wide(a) + wide(w) * (wide(b) - wide(a)) for a, b, w in zip(x1, x2, weight))
    each_into(out, found, x1, x2, weight)


def _lerp_scalar(x1: Any, x2: Any, weight: Any, out: Any) -> None:
    each_into(out, (wide(a) + weight * (wide(b) - wide(a)) for a, b in zip(x1, x2)), x1, x2)


def _norms(x: Any, order: float, out: Any) -> None:
    # "the output's tensors have one element"
    found = [norm(wide(each).reshape(-1), float(order), (0,), False) for each in x]
    each_into(out, (value.reshape(own.shape) for value, own in zip(found, out)), x)


def _power_of_scalar(scalar: Any, x: Any, out: Any) -> None:
    each_into(out, (np.power(np.float64(scalar), wide(each)) for each in x), x)


def _check_and_unscale(grads: Any, found_inf: Any, inverse: Any) -> None:
    # foundInf becomes 1 if there is an infinity or a NaN, and stays what it was otherwise; all are multiplied
    if not all(np.isfinite(wide(each)).all() for each in grads):
        store(found_inf, np.ones(found_inf.shape))
    for each in grads:
        store(each, wide(each) * _one(inverse))


def _zero(x: Any) -> None:
    for each in x:
        store(each, np.zeros(each.shape))


EVALUATORS |= {
    "aclnnForeachLerpList": _lerp_list,
    "aclnnForeachLerpScalar": _lerp_scalar,
    "aclnnForeachNorm": _norms,
    "aclnnForeachPowScalarAndTensor": _power_of_scalar,
    "aclnnForeachNonFiniteCheckAndUnscale": _check_and_unscale,
    "aclnnForeachZeroInplace": _zero,
}
