"""Element by element: functions of one, two or three tensors, comparisons, logic, bits, activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from tests.npu_simulator.evaluate.contract import (
    BOOL,
    Evaluator,
    as_floating,
    broadcast,
    category,
    expect,
    is_complex,
    is_inexact,
    promote,
    promote_scalar,
    real,
    refuse,
    require,
    store,
    wide,
)

Function = Callable[..., np.ndarray]
EVALUATORS: dict[str, Evaluator] = {}

# -------------------- one tensor --------------------


def with_fractions(function: Function) -> Evaluator:
    """Of integers the result is floating."""

    def evaluate(self: Any, out: Any) -> None:
        store(out, function(real(self)), castable_from=as_floating(self.dtype))

    return evaluate


def exact(function: Function) -> Evaluator:
    """Integers stay integers."""

    def evaluate(self: Any, out: Any) -> None:
        store(out, function(wide(self)), castable_from=self.dtype)

    return evaluate


def predicate(function: Function) -> Evaluator:
    """The result is bool."""

    def evaluate(self: Any, out: Any) -> None:
        store(out, function(wide(self)), dtype=BOOL)

    return evaluate


def _floor_like(function: Function) -> Function:
    return lambda x: function(x) if is_inexact(x.dtype) else x


def _sign(x: np.ndarray) -> np.ndarray:
    """1, 0 or -1, by comparisons with zero; the documents do not speak of NaN, of which none is true."""
    return (x > 0) * 1.0 - (x < 0) if x.dtype.kind == "f" else np.sign(x)


def _sinc(x: np.ndarray) -> np.ndarray:
    return np.sinc(x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x))"""
    return 1 / (1 + np.exp(-x))


def gelu(x: np.ndarray, tanh: bool = False) -> np.ndarray:
    """x times the normal distribution function, or its approximation by tanh."""
    if tanh:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


def gelu_slope(x: np.ndarray, tanh: bool = False) -> np.ndarray:
    """The derivative of `gelu`."""
    if tanh:
        inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
        slope = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
        return 0.5 * (1 + np.tanh(inner)) + 0.5 * x * (1 - np.tanh(inner) ** 2) * slope
    return special.ndtr(x) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def fast_gelu(x: np.ndarray) -> np.ndarray:
    """CANN: out = x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)), which is x sigmoid(1.702 x)."""
    return x * sigmoid(1.702 * x)


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x))"""
    return np.logaddexp(x, 0)


WITH_FRACTIONS: dict[str, Function] = {
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Digamma": special.digamma,
    "Erf": special.erf,
    "Erfc": special.erfc,
    "Erfinv": special.erfinv,
    "Exp": np.exp,
    "Exp2": np.exp2,
    "Expm1": np.expm1,
    "Lgamma": special.gammaln,
    "Log": np.log,
    "Log10": np.log10,
    "Log1p": np.log1p,
    "Log2": np.log2,
    "Reciprocal": lambda x: 1 / x,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Sigmoid": sigmoid,
    "Sin": np.sin,
    "Sinc": _sinc,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
    "Ndtri": special.ndtri,
}
EXACT: dict[str, Function] = {
    "Abs": np.abs,
    "Ceil": _floor_like(np.ceil),
    "Floor": _floor_like(np.floor),
    "Round": _floor_like(np.rint),
    "Trunc": _floor_like(np.trunc),
    "Neg": np.negative,
    "Sign": _sign,
    "Square": np.square,
    "Relu": lambda x: np.maximum(x, 0),
    "Frac": lambda x: x - np.trunc(x),
    "SquaredRelu": lambda x: np.maximum(x, 0) ** 2,
}
PREDICATES: dict[str, Function] = {
    "IsFinite": np.isfinite,
    "IsPosInf": lambda x: x == np.inf,
    "IsNegInf": lambda x: x == -np.inf,
    "Signbit": lambda x: np.signbit(x) if is_inexact(x.dtype) else x < 0,
}

EVALUATORS |= {f"aclnn{name}": with_fractions(function) for name, function in WITH_FRACTIONS.items()}
EVALUATORS |= {f"aclnn{name}": exact(function) for name, function in EXACT.items()}
EVALUATORS |= {f"aclnn{name}": predicate(function) for name, function in PREDICATES.items()}


def _logical_not(self: Any, out: Any) -> None:
    store(out, wide(self) == 0, castable_from=BOOL)


def _bitwise_not(self: Any, out: Any) -> None:
    require(category(self.dtype) < 2, "bits of what is no integer")
    store(out, ~self, dtype=self.dtype)


def _real(self: Any, out: Any) -> None:
    store(out, wide(self).real)


def _round_decimals(self: Any, decimals: int, out: Any) -> None:
    values = wide(self)
    store(out, np.rint(values * 10.0**decimals) / 10.0**decimals, dtype=self.dtype)


def _nan_to_num(self: Any, nan: float, posinf: float, neginf: float, out: Any) -> None:
    store(out, np.nan_to_num(wide(self), nan=nan, posinf=posinf, neginf=neginf), dtype=self.dtype)


def _logit(input: Any, eps: float, out: Any) -> None:
    # "eps: the input is clamped to [eps, 1 - eps]; negative: it is not"
    x = real(input)
    clamped = x if eps < 0 else np.clip(x, eps, 1 - eps)
    store(out, np.log(clamped / (1 - clamped)), castable_from=as_floating(input.dtype))


def _logit_grad(x: Any, dy: Any, eps: float, out: Any) -> None:
    values = real(x)
    inside = (values >= max(eps, 0)) & (values <= 1 - max(eps, 0))
    outside = np.nan if eps < 0 else 0.0
    store(out, np.where(inside, real(dy) / (values * (1 - values)), outside), dtype=x.dtype)


EVALUATORS |= {
    "aclnnBitwiseNot": _bitwise_not,
    "aclnnLogicalNot": _logical_not,
    "aclnnReal": _real,
    "aclnnRoundDecimals": _round_decimals,
    "aclnnNanToNum": _nan_to_num,
    "aclnnLogit": _logit,
    "aclnnLogitGrad": _logit_grad,
}

# -------------------- two tensors, or a tensor and a number --------------------


def _common(self: Any, other: Any) -> np.dtype:
    """The dtype in which two operands meet; numbers count by their category."""
    if isinstance(self, np.ndarray) and isinstance(other, np.ndarray):
        return promote(self.dtype, other.dtype)
    if self is None or other is None:
        refuse("a required operand is null", 161001)
    return promote_scalar(self.dtype, other) if isinstance(self, np.ndarray) else promote_scalar(other.dtype, self)


def operands(self: Any, other: Any, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Both, broadcast, in the precision in which `dtype` is computed."""
    computed = wide(np.empty((), dtype)).dtype
    is_integral = dtype.kind in "iu"  # a number becomes one of the dtype first: -1 is 255 in uint8
    one, two = (np.asarray(each).astype(dtype if is_integral else computed).astype(computed) for each in (self, other))
    shape = broadcast(one.shape, two.shape)
    return np.broadcast_to(one, shape), np.broadcast_to(two, shape)


def binary(function: Function, result: Callable[[np.dtype], np.dtype] = lambda dtype: dtype) -> Evaluator:
    """Of two operands that are promoted, cast to the dtype of the output."""

    def evaluate(self: Any, other: Any, out: Any) -> None:
        dtype = result(_common(self, other))
        store(out, function(*operands(self, other, dtype)), castable_from=dtype)

    return evaluate


def comparison(function: Function) -> Evaluator:
    """Of two operands that are promoted. The output may have another dtype than bool, as of an in-place comparison."""

    def evaluate(self: Any, other: Any, out: Any) -> None:
        store(out, function(*operands(self, other, _common(self, other))), castable_from=BOOL)

    return evaluate


def _bits(function: Function) -> Evaluator:
    def evaluate(self: Any, other: Any, out: Any) -> None:
        dtype = _common(self, other)
        require(category(dtype) < 2, "bits of what is no integer")
        store(out, function(*operands(self, other, dtype)), castable_from=dtype)

    return evaluate


def _shift(function: Function) -> Evaluator:
    def evaluate(self: Any, other: Any, out: Any) -> None:
        dtype = _common(self, other)
        values, bits = operands(self, other, dtype)
        # In the width of the dtype: what is shifted out is lost, and more bits than there are leave nothing.
        shifted = function(values.astype(dtype), np.clip(bits, 0, 8 * dtype.itemsize - 1).astype(dtype))
        store(out, shifted, castable_from=dtype)

    return evaluate


def divide_exactly(function: Function) -> Function:
    """Integers in integers: NumPy's own, where a divisor is not 0."""

    def divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return function(x, y) if is_inexact(x.dtype) else np.where(y == 0, -1, function(x, np.where(y == 0, 1, y)))

    return divide


def _floor_quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Floors the quotient; x / 0 is infinite or NaN."""
    if not is_inexact(x.dtype):
        return np.where(y == 0, -1, x // np.where(y == 0, 1, y))
    remainder = np.fmod(x, y)
    quotient = (x - remainder) / y
    quotient = np.where((remainder != 0) & ((y < 0) != (remainder < 0)), quotient - 1, quotient)
    rounded = np.floor(quotient)
    rounded = np.where(quotient - rounded > 0.5, rounded + 1, rounded)
    return np.where(y == 0, x / y, np.where(quotient == 0, np.copysign(0, x / y), rounded))


def _truncated_quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if is_inexact(x.dtype):
        return np.trunc(x / y)
    safe = np.where(y == 0, 1, y)
    quotient = np.abs(x) // np.abs(safe) * np.sign(x) * np.sign(safe)
    return np.where(y == 0, -1, quotient)


def _remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """With the sign of the divisor."""
    return np.mod(x, y)


def _power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Integers in integers; a negative exponent leaves 1 and -1, and 0 of the rest."""
    if is_inexact(x.dtype):
        return np.power(x, y)
    whole = np.power(x, np.maximum(y, 0))
    inverse = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0))
    return np.where(y < 0, inverse, whole)


def _logical(function: Function) -> Function:
    return lambda x, y: function(x != 0, y != 0)


def _xlogy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y))


BINARY: dict[str, Function] = {
    "Mul": np.multiply,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "RemainderTensorTensor": divide_exactly(_remainder),
    "FmodTensor": divide_exactly(np.fmod),
    "FloorDivide": _floor_quotient,
    "PowTensorTensor": _power,
    "ClampMinTensor": np.maximum,
    "ClampMaxTensor": np.minimum,
    "Gcd": np.gcd,
}
FRACTIONS: dict[str, Function] = {
    "Div": np.divide, "Atan2": np.arctan2, "LogAddExp": np.logaddexp, "LogAddExp2": np.logaddexp2,
    "XLogYTensor": _xlogy,
}  # fmt: skip  # fmt: skip
COMPARISONS = {
    "Eq": np.equal, "Ne": np.not_equal, "Gt": np.greater, "Ge": np.greater_equal, "Lt": np.less, "Le": np.less_equal,
}  # fmt: skip

EVALUATORS |= {f"aclnn{name}": binary(function) for name, function in BINARY.items()}
EVALUATORS |= {f"aclnn{name}": binary(function, as_floating) for name, function in FRACTIONS.items()}
EVALUATORS |= {f"aclnn{name}Tensor": comparison(function) for name, function in COMPARISONS.items()}
EVALUATORS |= {f"aclnn{name}Scalar": comparison(function) for name, function in COMPARISONS.items()}
EVALUATORS |= {
    "aclnnMuls": EVALUATORS["aclnnMul"],
    "aclnnDivs": EVALUATORS["aclnnDiv"],
    "aclnnFloorDivides": EVALUATORS["aclnnFloorDivide"],
    "aclnnRemainderTensorScalar": EVALUATORS["aclnnRemainderTensorTensor"],
    "aclnnRemainderScalarTensor": EVALUATORS["aclnnRemainderTensorTensor"],
    "aclnnFmodScalar": EVALUATORS["aclnnFmodTensor"],
    "aclnnPowTensorScalar": EVALUATORS["aclnnPowTensorTensor"],
    "aclnnPowScalarTensor": EVALUATORS["aclnnPowTensorTensor"],
    "aclnnClampMin": EVALUATORS["aclnnClampMinTensor"],
    "aclnnClampMax": EVALUATORS["aclnnClampMaxTensor"],
    "aclnnXLogYScalarOther": EVALUATORS["aclnnXLogYTensor"],
    "aclnnXLogYScalarSelf": EVALUATORS["aclnnXLogYTensor"],
    "aclnnLogicalAnd": comparison(_logical(np.logical_and)),
    "aclnnLogicalOr": comparison(_logical(np.logical_or)),
    "aclnnLogicalXor": comparison(_logical(np.logical_xor)),
    "aclnnLeftShift": _shift(np.left_shift),
    "aclnnRightShift": _shift(np.right_shift),
    "aclnnLeftShifts": _shift(np.left_shift),
}
for _name, _function in {"And": np.bitwise_and, "Or": np.bitwise_or, "Xor": np.bitwise_xor}.items():
    EVALUATORS[f"aclnnBitwise{_name}Tensor"] = EVALUATORS[f"aclnnBitwise{_name}Scalar"] = _bits(_function)

# The example of a custom operator package.
EVALUATORS["aclnnAddCustom"] = binary(np.add)


def _sum(sign: int, reverse: bool = False) -> Evaluator:
    """out = self + sign alpha other; or other + sign alpha self, which is what Rsub does."""

    def evaluate(self: Any, other: Any, alpha: Any, out: Any) -> None:
        dtype = _common(self, other)
        require(
            category(promote_scalar(dtype, alpha)) == category(dtype) or dtype == BOOL, "alpha is of a higher category"
        )
        x, y = operands(self, other, dtype)
        if reverse:
            x, y = y, x
        result = (x != 0) | ((y * alpha) != 0) if dtype == BOOL and sign > 0 else x + sign * alpha * y
        store(out, result, castable_from=dtype)

    return evaluate


def _div_mod(self: Any, other: Any, mode: int, out: Any) -> None:
    # "mode: 0 no rounding, 1 towards zero (trunc), 2 downwards (floor)"
    require(mode in (0, 1, 2), f"mode {mode}")
    dtype = _common(self, other)
    dtype = as_floating(dtype) if mode == 0 else dtype
    function = (np.divide, _truncated_quotient, _floor_quotient)[mode]
    store(out, function(*operands(self, other, dtype)), castable_from=dtype)


def _equal(self: Any, other: Any, out: Any) -> None:
    # One element: whether both have the same shape and values.
    expect(out, out.shape if out is not None and out.size == 1 else (1,), dtype=BOOL)
    store(out, np.full(out.shape, self.shape == other.shape and bool(np.array_equal(wide(self), wide(other)))))


def _is_close(self: Any, other: Any, rtol: float, atol: float, equal_nan: bool, out: Any) -> None:
    x, y = operands(self, other, _common(self, other))
    store(out, np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan), dtype=BOOL)


def _complex(real_part: Any, imaginary: Any, out: Any) -> None:
    x, y = operands(real_part, imaginary, _common(real_part, imaginary))
    require(is_complex(out.dtype), "the output is not complex")
    store(out, x + 1j * y)


def _polar(input: Any, angle: Any, out: Any) -> None:
    length, turned = operands(input, angle, _common(input, angle))
    store(out, length * np.exp(1j * turned))


def _heaviside(input: Any, values: Any, out: Any) -> None:
    x, y = operands(input, values, _common(input, values))
    store(out, np.heaviside(x, y), castable_from=_common(input, values))


EVALUATORS |= {
    "aclnnAdd": _sum(1),
    "aclnnAdds": _sum(1),
    "aclnnAddV3": _sum(1),
    "aclnnSub": _sum(-1),
    "aclnnSubs": _sum(-1),
    "aclnnRsub": _sum(-1, reverse=True),
    "aclnnRsubs": _sum(-1, reverse=True),
    "aclnnDivMod": _div_mod,
    "aclnnDivMods": _div_mod,
    "aclnnDivV3": _div_mod,
    "aclnnEqual": _equal,
    "aclnnIsClose": _is_close,
    "aclnnComplex": _complex,
    "aclnnPolar": _polar,
    "aclnnHeaviside": _heaviside,
}
