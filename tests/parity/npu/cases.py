"""For each ACLNN op that the simulated device evaluates: arguments, and what torch makes of them.

A case is a function from a `Maker` to the arguments of the header, in their order, and a function of torch that takes
those of them that are no outputs. `OUT` stands for an output; it has the shape of what torch returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F

OUT = object()
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = ("float32", "float16", "bfloat16")
NUMBERS = (*FLOATS, "int64", "int32")
ALL = (*NUMBERS, "bool")
Case = tuple[Callable[["Maker"], Sequence[Any]], Callable[..., Any], tuple[str, ...]]
CASES: dict[str, Case] = {}


class Maker:
    """Arrays of the dtype that is looked at, the same ones each time."""

    def __init__(self, dtype: str, name: str) -> None:
        self.dtype = BFLOAT16 if dtype == "bfloat16" else np.dtype(dtype)
        self.random = np.random.default_rng([ord(letter) for letter in name])

    def x(self, *shape: int) -> np.ndarray:
        """Any numbers, of modest size."""
        if self.dtype == bool:
            return self.random.random(shape) < 0.5
        if self.dtype.kind in "iu":
            return self.random.integers(-5, 6, shape).astype(self.dtype)
        return self.random.normal(size=shape).astype(self.dtype)

    def part(self, *shape: int) -> np.ndarray:
        """In (0, 1)."""
        if self.dtype.kind in "iub":
            return np.ones(shape, self.dtype)
        return (0.1 + 0.8 * self.random.random(shape)).astype(self.dtype)

    def above(self, *shape: int) -> np.ndarray:
        """Above 1."""
        if self.dtype.kind in "iub":
            return self.random.integers(1, 6, shape).astype(self.dtype)
        return (1.1 + self.random.random(shape)).astype(self.dtype)

    def index(self, bound: int, *shape: int, dtype: str = "int64") -> np.ndarray:
        """Places below a bound."""
        return self.random.integers(0, bound, shape).astype(dtype)

    def mask(self, *shape: int) -> np.ndarray:
        """Bools."""
        return self.random.random(shape) < 0.5

    def distinct(self, *shape: int) -> np.ndarray:
        """Numbers of which no two are equal."""
        return self.random.permutation(math.prod(shape)).reshape(shape).astype(self.dtype)


def case(
    name: str, build: Callable[[Maker], Sequence[Any]], function: Callable[..., Any], dtypes: Sequence[str] = FLOATS
) -> None:
    """Adds a case."""
    assert name not in CASES, name
    CASES[name] = build, function, tuple(dtypes)


def unary(names: str, make: str = "x", dtypes: Sequence[str] = FLOATS) -> None:
    """Ops of one tensor: `Exp` by torch's function of that name, `Relu=F.relu` by another one."""
    for entry in names.split():
        name, _, own = entry.partition("=")
        function = eval(own) if own else getattr(torch, name.lower())  # noqa: S307
        case(f"aclnn{name}", lambda m: (getattr(m, make)(3, 4), OUT), function, dtypes)


# -------------------- pointwise --------------------

unary("Abs Neg Square", dtypes=NUMBERS)
unary("Sign Ceil Floor Trunc Relu=F.relu", dtypes=NUMBERS)
unary("Round Frac")
case("aclnnSquaredRelu", lambda m: (m.x(3, 4), OUT), lambda x: F.relu(x) ** 2)
unary("Cos Cosh Erf Erfc Exp Exp2 Expm1 Sin Sinc Sinh Tan Tanh Atan Asinh Sigmoid", dtypes=NUMBERS)
unary("Acos Asin Atanh Erfinv", make="part")
unary("Log Log10 Log1p Log2 Rsqrt Sqrt Reciprocal Lgamma Digamma Acosh", make="above")
case("aclnnNdtri", lambda m: (m.part(3, 4), OUT), torch.special.ndtri)
unary(
    "IsFinite=torch.isfinite IsPosInf=torch.isposinf IsNegInf=torch.isneginf Signbit LogicalNot=torch.logical_not",
    dtypes=ALL,
)
unary("Silu=F.silu Mish=F.mish Hardswish=F.hardswish Hardsigmoid=F.hardsigmoid LogSigmoid=F.logsigmoid")
unary("Gelu=F.gelu Selu=F.selu Softsign=F.softsign")
for _name in ("FastGelu", "FastGeluV2"):
    case(f"aclnn{_name}", lambda m: (m.x(3, 4), OUT), lambda x: x * torch.sigmoid(1.702 * x))
case("aclnnBitwiseNot", lambda m: (m.x(3, 4), OUT), torch.bitwise_not, ("int64", "int32", "bool"))
case("aclnnReal", lambda m: (m.x(3).astype("complex64") * (1 + 2j), OUT), torch.real, ("float32",))
case("aclnnRoundDecimals", lambda m: (m.x(3, 4), 2, OUT), lambda x, d: torch.round(x, decimals=d), ("float32",))
case(
    "aclnnNanToNum",
    lambda m: (np.array([np.nan, np.inf, -np.inf, 1], m.dtype), 7.0, 8.0, -9.0, OUT),
    lambda x, nan, high, low: torch.nan_to_num(x, nan, high, low),
)
case("aclnnLogit", lambda m: (m.part(3, 4), 0.2, OUT), lambda x, eps: torch.logit(x, eps))
case(
    "aclnnLogitGrad",
    lambda m: (m.part(3, 4), m.x(3, 4), 0.2, OUT),
    lambda x, dy, eps: torch.ops.aten.logit_backward(dy, x, eps),
)

# Two tensors that are broadcast, and a tensor with a number.
_TWO = {
    "Mul": torch.mul, "Maximum": torch.maximum, "Minimum": torch.minimum, "LogicalAnd": torch.logical_and,
    "LogicalOr": torch.logical_or, "LogicalXor": torch.logical_xor,
}  # fmt: skip
for _name, _function in _TWO.items():
    case(f"aclnn{_name}", lambda m: (m.x(3, 4), m.x(4), OUT), _function, ALL)
case("aclnnMuls", lambda m: (m.x(3, 4), 3, OUT), torch.mul, NUMBERS)
for _name, _function in {"Atan2": torch.atan2, "LogAddExp": torch.logaddexp, "LogAddExp2": torch.logaddexp2}.items():
    case(f"aclnn{_name}", lambda m: (m.x(3, 4), m.x(3, 1), OUT), _function)
case("aclnnDiv", lambda m: (m.x(3, 4), m.above(4), OUT), torch.div, NUMBERS)
case("aclnnDivs", lambda m: (m.x(3, 4), 2.5, OUT), torch.div, NUMBERS)
case("aclnnGcd", lambda m: (m.x(3, 4), m.x(3, 4), OUT), torch.gcd, ("int64", "int32"))
for _pair, _function in {
    ("FloorDivide", "FloorDivides"): torch.floor_divide,
    ("RemainderTensorTensor", "RemainderTensorScalar"): torch.remainder,
    ("FmodTensor", "FmodScalar"): torch.fmod,
}.items():
    case(f"aclnn{_pair[0]}", lambda m: (m.x(3, 4), m.above(4), OUT), _function, NUMBERS)
    case(f"aclnn{_pair[1]}", lambda m: (m.x(3, 4), -3, OUT), _function, NUMBERS)
case("aclnnRemainderScalarTensor", lambda m: (7, m.above(3, 4), OUT), torch.remainder, NUMBERS)
case("aclnnPowTensorTensor", lambda m: (m.above(3, 4), m.above(4), OUT), torch.pow, NUMBERS)
case("aclnnPowTensorScalar", lambda m: (m.x(3, 4), 3, OUT), torch.pow, NUMBERS)
case("aclnnPowScalarTensor", lambda m: (2, m.above(3, 4), OUT), torch.pow, NUMBERS)
case("aclnnXLogYTensor", lambda m: (m.x(3, 4), m.above(4), OUT), torch.xlogy)
case("aclnnXLogYScalarOther", lambda m: (m.x(3, 4), 2.0, OUT), torch.xlogy)
case("aclnnXLogYScalarSelf", lambda m: (2.0, m.above(3, 4), OUT), torch.xlogy)
for _name in ("Eq", "Ne", "Gt", "Ge", "Lt", "Le"):
    case(f"aclnn{_name}Tensor", lambda m: (m.x(3, 4), m.x(4), OUT), getattr(torch, _name.lower()), ALL)
    case(f"aclnn{_name}Scalar", lambda m: (m.x(3, 4), 1, OUT), getattr(torch, _name.lower()), NUMBERS)
for _name in ("And", "Or", "Xor"):
    _function = getattr(torch, f"bitwise_{_name.lower()}")
    case(f"aclnnBitwise{_name}Tensor", lambda m: (m.x(3, 4), m.x(4), OUT), _function, ("int64", "int32", "bool"))
    case(f"aclnnBitwise{_name}Scalar", lambda m: (m.x(3, 4), 5, OUT), _function, ("int64", "int32"))
case(
    "aclnnLeftShift",
    lambda m: (m.x(3, 4), m.index(8, 3, 4, dtype=str(m.dtype)), OUT),
    torch.bitwise_left_shift,
    ("int64", "int32"),
)
case(
    "aclnnRightShift",
    lambda m: (m.x(3, 4), m.index(8, 3, 4, dtype=str(m.dtype)), OUT),
    torch.bitwise_right_shift,
    ("int64", "int32"),
)
case("aclnnLeftShifts", lambda m: (m.x(3, 4), 3, OUT), torch.bitwise_left_shift, ("int64", "int32"))
for _name, _function in {
    "Add": lambda x, y, a: torch.add(x, y, alpha=a),
    "Sub": lambda x, y, a: torch.sub(x, y, alpha=a),
    "Rsub": lambda x, y, a: torch.rsub(x, y, alpha=a),
}.items():
    case(f"aclnn{_name}", lambda m: (m.x(3, 4), m.x(4), 2, OUT), _function, NUMBERS)
    case(f"aclnn{_name}s", lambda m: (m.x(3, 4), 5, 2, OUT), _function, NUMBERS)
case("aclnnAddV3", lambda m: (5, m.x(3, 4), 2, OUT), lambda s, x, a: s + a * x, NUMBERS)
for _name, _other in (
    ("aclnnDivMod", lambda m: m.above(4)),
    ("aclnnDivMods", lambda m: 3),
    ("aclnnDivV3", lambda m: m.above(4)),
):
    case(
        _name,
        lambda m, other=_other: (m.x(3, 4), other(m), 1, OUT),
        lambda x, y, mode: torch.div(x, y, rounding_mode="trunc"),
        NUMBERS,
    )
case("aclnnEqual", lambda m: (m.x(3, 4), m.x(3, 4), OUT), lambda x, y: torch.tensor(torch.equal(x, y)))
case(
    "aclnnIsClose",
    lambda m: (m.x(3, 4), m.x(3, 4), 0.5, 0.1, False, OUT),
    lambda x, y, r, a, n: torch.isclose(x, y, r, a, n),
)
case("aclnnComplex", lambda m: (m.x(3), m.x(3), OUT), torch.complex, ("float32",))
case("aclnnPolar", lambda m: (m.above(3), m.x(3), OUT), torch.polar, ("float32",))
case("aclnnHeaviside", lambda m: (m.x(3, 4), m.x(4), OUT), torch.heaviside, NUMBERS)
case(
    "aclnnAddcmul",
    lambda m: (m.x(3, 4), m.x(4), m.x(3, 1), 2, OUT),
    lambda x, a, b, v: torch.addcmul(x, a, b, value=v),
    NUMBERS,
)
case(
    "aclnnAddcdiv",
    lambda m: (m.x(3, 4), m.x(4), m.above(3, 1), 2.0, OUT),
    lambda x, a, b, v: torch.addcdiv(x, a, b, value=v),
)
case("aclnnLerp", lambda m: (m.x(3, 4), m.x(4), m.part(3, 4), OUT), torch.lerp)
case("aclnnLerps", lambda m: (m.x(3, 4), m.x(4), 0.25, OUT), torch.lerp)
case("aclnnSWhere", lambda m: (m.mask(3, 1), m.x(3, 4), m.x(4), OUT), torch.where, ALL)
case("aclnnClamp", lambda m: (m.x(3, 4), -1, 2, OUT), torch.clamp, NUMBERS)
case("aclnnHardtanh", lambda m: (m.x(3, 4), -1, 1, OUT), F.hardtanh)
case("aclnnClampTensor", lambda m: (m.x(3, 4), m.x(4), m.above(4), OUT), torch.clamp, NUMBERS)
case("aclnnClampMin", lambda m: (m.x(3, 4), 1, OUT), torch.clamp_min, NUMBERS)
case("aclnnClampMax", lambda m: (m.x(3, 4), 1, OUT), torch.clamp_max, NUMBERS)
case("aclnnClampMinTensor", lambda m: (m.x(3, 4), m.x(4), OUT), torch.clamp_min, NUMBERS)
case("aclnnClampMaxTensor", lambda m: (m.x(3, 4), m.x(4), OUT), torch.clamp_max, NUMBERS)

# -------------------- activations --------------------

case("aclnnLeakyRelu", lambda m: (m.x(3, 4), 0.1, OUT), F.leaky_relu)
for _name in ("aclnnElu", "aclnnEluV2"):
    case(_name, lambda m: (m.x(3, 4), 1.5, 1.2, 0.7, OUT), torch.ops.aten.elu)
case("aclnnCelu", lambda m: (m.x(3, 4), 1.5, OUT), F.celu)
case("aclnnSoftplus", lambda m: (m.x(3, 4), 1.5, 1.0, OUT), F.softplus)
case("aclnnHardshrink", lambda m: (m.x(3, 4), 0.5, OUT), F.hardshrink)
case("aclnnSoftshrink", lambda m: (m.x(3, 4), 0.5, OUT), F.softshrink)
for _name in ("aclnnThreshold", "aclnnThresholdV2"):
    case(_name, lambda m: (m.x(3, 4), 0.5, 7.0, OUT), F.threshold)
case("aclnnSwish", lambda m: (m.x(3, 4), 1.5, OUT), lambda x, b: x * torch.sigmoid(b * x))
case("aclnnGeluV2", lambda m: (m.x(3, 4), 1, OUT), lambda x, a: F.gelu(x, approximate="tanh"))
case("aclnnPrelu", lambda m: (m.x(2, 3, 4), m.part(3), OUT), F.prelu)
case(
    "aclnnPreluBackward",
    lambda m: (m.x(2, 3, 4), m.x(2, 3, 4), m.part(3), OUT, OUT),
    lambda g, x, w: gradients(F.prelu, g, x, w),
)
case("aclnnGlu", lambda m: (m.x(4, 6), 1, OUT), F.glu)
case("aclnnGluBackward", lambda m: (m.x(4, 3), m.x(4, 6), -1, OUT), torch.ops.aten.glu_backward)
case("aclnnSwiGlu", lambda m: (m.x(4, 6), -1, OUT), lambda x, d: swiglu(x, d))
case(
    "aclnnSwiGluGrad",
    lambda m: (m.x(4, 3), m.x(4, 6), -1, OUT),
    lambda g, x, d: gradients(lambda x: swiglu(x, d), g, x)[0],
)
case("aclnnGeGlu", lambda m: (m.x(4, 6), -1, 0, OUT, OUT), lambda x, d, a: geglu(x, d, False))
case("aclnnGeGluV3", lambda m: (m.x(4, 6), -1, 0, True, OUT, OUT), lambda x, d, a, left: geglu(x, d, left))
case("aclnnSoftmax", lambda m: (m.x(3, 4), 1, OUT), torch.softmax)
case("aclnnLogSoftmax", lambda m: (m.x(3, 4), 0, OUT), torch.log_softmax)
case(
    "aclnnSoftmaxBackward",
    lambda m: (m.x(3, 4), m.part(3, 4), 1, OUT),
    lambda g, y, d: torch.ops.aten._softmax_backward_data(g, y, d, g.dtype),
)
case(
    "aclnnLogSoftmaxBackward",
    lambda m: (m.x(3, 4), m.x(3, 4), 1, OUT),
    lambda g, y, d: torch.ops.aten._log_softmax_backward_data(g, y, d, g.dtype),
)


def swiglu(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Swish of the first half times the second."""
    first, second = x.chunk(2, dim)
    return F.silu(first) * second


def geglu(x: torch.Tensor, dim: int, left: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """One half times the activation of the other, and that one."""
    first, second = x.chunk(2, dim)[:: -1 if left else 1]
    return first * F.gelu(second), F.gelu(second)


def gradients(
    function: Callable[..., torch.Tensor], grad: torch.Tensor, *inputs: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """By torch's autograd."""
    leaves = [each.detach().clone().requires_grad_() for each in inputs]
    return torch.autograd.grad(function(*leaves), leaves, grad)


def backward_of(name: str, function: Callable[..., torch.Tensor], *numbers: Any, of_result: bool = False) -> None:
    """gradOutput, self or result, numbers, gradInput."""

    def build(m: Maker) -> Sequence[Any]:
        x = m.x(3, 4)
        kept = numpy_of(function(torch_of(x), *numbers), m.dtype) if of_result else x
        return m.x(3, 4), kept, *numbers, OUT

    def expected(grad: torch.Tensor, kept: torch.Tensor, *rest: Any) -> torch.Tensor:
        if of_result:
            return getattr(torch.ops.aten, RESULT_BACKWARD[name])(grad, kept)
        return gradients(lambda x: function(x, *rest), grad, kept)[0]

    case(f"aclnn{name}", build, expected)


RESULT_BACKWARD = {"SigmoidBackward": "sigmoid_backward", "TanhBackward": "tanh_backward"}


def torch_of(value: Any) -> Any:
    """In torch, floating numbers in double precision."""
    if isinstance(value, list):
        return [torch_of(each) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == BFLOAT16 or value.dtype.kind == "f":
        return torch.from_numpy(np.ascontiguousarray(value).astype(np.float64).reshape(value.shape))
    return torch.from_numpy(value.copy().reshape(value.shape))


def numpy_of(value: torch.Tensor, dtype: np.dtype) -> np.ndarray:
    """Back, floating numbers in the dtype that is looked at."""
    array = value.detach().numpy()
    return array.astype(dtype) if array.dtype == np.float64 and dtype.kind not in "iub" else array


backward_of("SigmoidBackward", torch.sigmoid, of_result=True)
backward_of("TanhBackward", torch.tanh, of_result=True)
for _name, _function, *_numbers in (
    ("SiluBackward", F.silu),
    ("GeluBackward", F.gelu),
    ("MishBackward", F.mish),
    ("HardswishBackward", F.hardswish),
    ("HardswishBackwardV2", F.hardswish),
    ("HardsigmoidBackward", F.hardsigmoid),
    ("ThresholdBackward", lambda x, t: F.threshold(x, t, 0.0), 0.5),
    ("SoftplusBackward", F.softplus, 1.5, 1.0),
    ("HardtanhBackward", F.hardtanh, -1.0, 1.0),
    ("HardshrinkBackward", F.hardshrink, 0.5),
    ("SoftshrinkBackward", F.softshrink, 0.5),
    ("FastGeluBackward", lambda x: x * torch.sigmoid(1.702 * x)),
    ("SwishBackward", lambda x, b: x * torch.sigmoid(b * x), 1.5),
):
    backward_of(_name, _function, *_numbers)
case("aclnnLeakyReluBackward", lambda m: (m.x(3, 4), m.x(3, 4), 0.1, False, OUT), torch.ops.aten.leaky_relu_backward)
case(
    "aclnnSeluBackward",
    lambda m: (m.x(3, 4), m.x(3, 4), OUT),
    lambda g, y: torch.ops.aten.elu_backward(g, 1.6732632423543772, 1.0507009873554805, 1, True, y),
)
case(
    "aclnnGeluBackwardV2",
    lambda m: (m.x(3, 4), m.x(3, 4), "tanh", OUT),
    lambda g, x, a: torch.ops.aten.gelu_backward(g, x, approximate=a),
)
case("aclnnEluBackward", lambda m: (m.x(3, 4), 1.5, 1.2, 0.7, False, m.x(3, 4), OUT), torch.ops.aten.elu_backward)
case("aclnnLogSigmoidForward", lambda m: (m.x(3, 4), OUT, None), lambda x, b: F.logsigmoid(x))
case(
    "aclnnLogSigmoidBackward",
    lambda m: (m.x(3, 4), m.x(3, 4), None, OUT),
    lambda g, x, b: gradients(F.logsigmoid, g, x)[0],
)

# -------------------- reductions --------------------

for _name, _function in {"ReduceSum": torch.sum, "ReduceNansum": torch.nansum, "Mean": torch.mean}.items():
    case(
        f"aclnn{_name}",
        lambda m: (m.x(2, 3, 4), (0, 2), True, code(m), OUT),
        lambda x, d, k, t, f=_function: f(x, d, k),
    )
case("aclnnProd", lambda m: (m.x(3, 4), code(m), OUT), lambda x, t: x.prod(), ("float32", "int64"))
case(
    "aclnnProdDim", lambda m: (m.x(3, 4), 1, False, code(m), OUT), lambda x, d, k, t: x.prod(d, k), ("float32", "int64")
)
for _name in ("Amax", "Amin"):
    case(f"aclnn{_name}", lambda m: (m.x(2, 3, 4), (0, -1), False, OUT), getattr(torch, _name.lower()), NUMBERS)
for _name in ("Max", "Min"):
    case(f"aclnn{_name}", lambda m: (m.x(3, 4), OUT), getattr(torch, _name.lower()), NUMBERS)
    case(f"aclnn{_name}Dim", lambda m: (m.distinct(3, 4), 1, True, OUT, OUT), getattr(torch, _name.lower()), NUMBERS)
    case(
        f"aclnnArg{_name}", lambda m: (m.distinct(3, 4), 0, False, OUT), getattr(torch, f"arg{_name.lower()}"), NUMBERS
    )
for _name in ("All", "Any"):
    case(f"aclnn{_name}", lambda m: (m.x(3, 4), (1,), False, OUT), getattr(torch, _name.lower()), ALL)
case(
    "aclnnAminmax",
    lambda m: (m.x(3, 4), (1,), True, OUT, OUT),
    lambda x, d, k: torch.aminmax(x, dim=d[0], keepdim=k),
    NUMBERS,
)
case(
    "aclnnAminmaxDim",
    lambda m: (m.x(3, 4), 1, True, OUT, OUT),
    lambda x, d, k: torch.aminmax(x, dim=d, keepdim=k),
    NUMBERS,
)
case("aclnnAminmaxAll", lambda m: (m.x(3, 4), OUT, OUT), lambda x: torch.aminmax(x), NUMBERS)
case(
    "aclnnVar", lambda m: (m.x(3, 4), (1,), True, False, OUT), lambda x, d, u, k: torch.var(x, d, unbiased=u, keepdim=k)
)
case(
    "aclnnVarCorrection",
    lambda m: (m.x(3, 4), (0, 1), 2, True, OUT),
    lambda x, d, c, k: torch.var(x, d, correction=c, keepdim=k),
)
case(
    "aclnnStd", lambda m: (m.x(3, 4), (1,), 1, False, OUT), lambda x, d, c, k: torch.std(x, d, correction=c, keepdim=k)
)
case(
    "aclnnVarMean",
    lambda m: (m.x(3, 4), (1,), 0, False, OUT, OUT),
    lambda x, d, c, k: torch.var_mean(x, d, correction=c, keepdim=k),
)
case(
    "aclnnStdMeanCorrection",
    lambda m: (m.x(3, 4), (1,), 1, True, OUT, OUT),
    lambda x, d, c, k: torch.std_mean(x, d, correction=c, keepdim=k),
)
case("aclnnLogSumExp", lambda m: (m.x(3, 4), (1,), False, OUT), torch.logsumexp)
case("aclnnNorm", lambda m: (m.x(3, 4), 3.0, (1,), False, OUT), lambda x, p, d, k: torch.linalg.vector_norm(x, p, d, k))
case(
    "aclnnLinalgVectorNorm",
    lambda m: (m.x(3, 4), 2.0, (0, 1), True, code(m), OUT),
    lambda x, p, d, k, t: torch.linalg.vector_norm(x, p, d, k),
)
for _name in ("aclnnSum",):
    case(_name, lambda m: ([m.x(3, 4), m.x(3, 4), m.x(3, 4)], OUT), sum)
case("aclnnTrace", lambda m: (m.x(3, 4), OUT), torch.trace)
case(
    "aclnnSort",
    lambda m: (m.x(3, 4), True, 1, True, OUT, OUT),
    lambda x, s, d, r: torch.sort(x, stable=s, dim=d, descending=r),
    NUMBERS,
)
case("aclnnArgsort", lambda m: (m.distinct(3, 4), 0, True, OUT), torch.argsort, NUMBERS)
case("aclnnTopk", lambda m: (m.distinct(3, 4), 2, 1, True, True, OUT, OUT), torch.topk, NUMBERS)
case("aclnnKthvalue", lambda m: (m.distinct(3, 4), 2, 1, True, OUT, OUT), torch.kthvalue)
for _name, _function in {"Median": torch.median, "NanMedian": torch.nanmedian}.items():
    case(f"aclnn{_name}", lambda m: (m.distinct(3, 4), OUT), _function)
    case(f"aclnn{_name}Dim", lambda m: (m.distinct(3, 4), 1, False, OUT, OUT), _function)
for _name in ("Cummax", "Cummin"):
    case(f"aclnn{_name}", lambda m: (m.x(3, 4), 1, OUT, OUT), getattr(torch, _name.lower()), NUMBERS)
case("aclnnCumsum", lambda m: (m.x(3, 4), 1, code(m), OUT), lambda x, d, t: torch.cumsum(x, d), ("float32", "int64"))
case("aclnnCumprod", lambda m: (m.x(3, 4), 1, code(m), OUT), lambda x, d, t: torch.cumprod(x, d), ("float32", "int64"))
case(
    "aclnnHistc",
    lambda m: (m.x(20), 5, -2.0, 2.0, OUT),
    lambda x, b, low, high: torch.histc(x, b, low, high),
    ("float32",),
)
case("aclnnBincount", lambda m: (m.index(6, 10), None, 8, OUT), torch.bincount, ("int64",))
case(
    "aclnnSearchSorted",
    lambda m: (np.sort(m.x(2, 6), 1), m.x(2, 3), False, True, None, OUT),
    lambda s, x, i, r, o: torch.searchsorted(s, x, right=r),
)
case(
    "aclnnSearchSorteds",
    lambda m: (np.sort(m.x(6)), 0.25, False, False, None, OUT),
    lambda s, x, i, r, o: torch.searchsorted(s, x),
)
case(
    "aclnnBucketize",
    lambda m: (m.x(3, 4), np.sort(m.x(5)), True, False, OUT),
    lambda x, b, i, r: torch.bucketize(x, b, out_int32=i, right=r),
)
for _name in ("aclnnNonzero", "aclnnNonzeroV2"):
    case(_name, lambda m: (m.x(3, 4), OUT), torch.nonzero, ("bool", "int64"))
case("aclnnMaskedSelect", lambda m: (m.x(3, 4), m.mask(3, 4), OUT), torch.masked_select)
case("aclnnUnique2", lambda m: (m.index(5, 3, 4), True, True, True, OUT, OUT, OUT), torch._unique2, ("int64",))
case(
    "aclnnUnique",
    lambda m: (m.index(5, 3, 4), True, True, OUT, OUT),
    lambda x, s, i: torch._unique2(x, s, i)[:2],
    ("int64",),
)
DYNAMIC = ("aclnnNonzero", "aclnnNonzeroV2", "aclnnMaskedSelect", "aclnnUnique2", "aclnnUnique")


def code(m: Maker) -> int:
    """aclDataType of the dtype that is looked at."""
    return {"float32": 0, "float16": 1, "int32": 3, "int64": 9, "bool": 12, "bfloat16": 27}[str(m.dtype)]


# -------------------- indexing --------------------

case("aclnnCast", lambda m: (m.x(3, 4), 0, OUT), lambda x, d: x.float(), ALL)
case("aclnnExpand", lambda m: (m.x(3, 1), (2, 3, 4), OUT), lambda x, s: x.expand(s), ALL)
case("aclnnPermute", lambda m: (m.x(2, 3, 4), (2, 0, 1), OUT), torch.permute, ALL)
case("aclnnFlip", lambda m: (m.x(2, 3, 4), (0, -1), OUT), torch.flip, ALL)
case("aclnnRoll", lambda m: (m.x(3, 4), (1, -2), (0, 1), OUT), torch.roll, ALL)
case("aclnnRepeat", lambda m: (m.x(3, 4), (2, 1, 2), OUT), lambda x, r: x.repeat(r), ALL)
case("aclnnSlice", lambda m: (m.x(3, 6), 1, 1, 6, 2, OUT), lambda x, d, a, b, s: x[:, a:b:s], ALL)
case("aclnnSliceV2", lambda m: (m.x(3, 6), (1,), (6,), (1,), (2,), OUT), lambda x, a, b, d, s: x[:, 1:6:2], ALL)
case("aclnnCat", lambda m: ([m.x(3, 4), m.x(3, 2), m.x(3, 1)], 1, OUT), torch.cat, ALL)
case("aclnnStack", lambda m: ([m.x(3, 4), m.x(3, 4)], 1, OUT), torch.stack, ALL)
case("aclnnSplitWithSize", lambda m: (m.x(3, 6), (1, 2, 3), 1, [OUT, OUT, OUT]), torch.split_with_sizes, ALL)
case("aclnnSplitTensor", lambda m: (m.x(3, 5), 2, 1, [OUT, OUT, OUT]), torch.split, ALL)
case(
    "aclnnIndex",
    lambda m: (m.x(4, 5, 6), [np.empty(0, np.int64), m.index(5, 2, 3), m.index(6, 3, dtype="int32")], OUT),
    lambda x, i: x[:, i[1], i[2].long()],
    ALL,
)
case("aclnnIndexSelect", lambda m: (m.x(4, 5), 1, m.index(5, 7), OUT), torch.index_select, ALL)
case("aclnnGather", lambda m: (m.x(4, 5), 1, m.index(5, 3, 2), OUT), torch.gather, ALL)
case("aclnnTake", lambda m: (m.x(4, 5), m.index(20, 2, 3), OUT), torch.take, ALL)
case("aclnnEmbedding", lambda m: (m.x(6, 3), m.index(6, 2, 2), OUT), lambda w, i: F.embedding(i, w))
case(
    "aclnnScatter", lambda m: (m.x(4, 5), 0, spots(m), m.x(3, 5), 0, OUT), lambda x, d, i, s, r: x.scatter(d, i, s), ALL
)
case(
    "aclnnScatterValue",
    lambda m: (m.x(4, 5), 0, spots(m), 3, 1, OUT),
    lambda x, d, i, v, r: x.scatter(d, i, v, reduce="add"),
    NUMBERS,
)
case("aclnnScatterAdd", lambda m: (m.x(4, 5), 1, m.index(5, 3, 4), m.x(3, 4), OUT), torch.scatter_add, NUMBERS)
case(
    "aclnnScatterReduce",
    lambda m: (m.x(4, 5), 1, m.index(5, 3, 4), m.x(3, 4), 3, False, OUT),
    lambda x, d, i, s, r, own: x.scatter_reduce(d, i, s, "amax", include_self=own),
    FLOATS,
)
case("aclnnInplaceCopy", lambda m: (m.x(3, 4), m.x(4)), lambda x, s: x.copy_(s), ALL)
case(
    "aclnnIndexPutImpl",
    lambda m: (m.x(4, 5), [m.index(4, 3), m.index(5, 3)], m.x(3), True, False),
    lambda x, i, v, a, u: x.index_put_(i, v, a),
    NUMBERS,
)
case(
    "aclnnInplacePut", lambda m: (m.x(4, 5), m.index(20, 6), m.x(6), True), lambda x, i, v, a: x.put_(i, v, a), NUMBERS
)
case(
    "aclnnIndexAdd",
    lambda m: (m.x(4, 5), 0, m.index(4, 3), m.x(3, 5), 2, OUT),
    lambda x, d, i, s, a: torch.index_add(x, d, i, s, alpha=a),
    NUMBERS,
)
case(
    "aclnnIndexAddV2",
    lambda m: (m.x(4, 5), 0, m.index(4, 3), m.x(3, 5), 2, 1, OUT),
    lambda x, d, i, s, a, mode: torch.index_add(x, d, i, s, alpha=a),
    NUMBERS,
)
case("aclnnIndexCopy", lambda m: (m.x(4, 5), 0, np.array([2, 0]), m.x(2, 5), OUT), torch.index_copy, ALL)
case(
    "aclnnInplaceIndexCopy",
    lambda m: (m.x(4, 5), 0, np.array([2, 0]), m.x(2, 5)),
    lambda x, *rest: x.index_copy_(*rest),
    ALL,
)
case("aclnnIndexFill", lambda m: (m.x(4, 5), 0, np.array([2, 0]), 3, OUT), torch.index_fill, NUMBERS)
case("aclnnInplaceMaskedFillScalar", lambda m: (m.x(4, 5), m.mask(5), 3), lambda x, k, v: x.masked_fill_(k, v), NUMBERS)
case(
    "aclnnInplaceMaskedFillTensor",
    lambda m: (m.x(4, 5), m.mask(4, 1), m.x()),
    lambda x, k, v: x.masked_fill_(k, v),
    NUMBERS,
)
case(
    "aclnnInplaceMaskedScatter",
    lambda m: (m.x(4, 5), m.mask(4, 5), m.x(20)),
    lambda x, k, s: x.masked_scatter_(k, s),
    NUMBERS,
)
case(
    "aclnnEmbeddingDenseBackward",
    lambda m: (m.x(2, 3, 4), m.index(5, 2, 3), 6, 2**64 - 1, True, OUT),
    lambda g, i, n, p, s: torch.ops.aten.embedding_dense_backward(g, i, n, -1, s),
)
case("aclnnTril", lambda m: (m.x(2, 4, 5), -1, OUT), torch.tril, NUMBERS)
case("aclnnTriu", lambda m: (m.x(2, 4, 5), 1, OUT), torch.triu, NUMBERS)
case("aclnnDiag", lambda m: (m.x(3), 1, OUT), torch.diag, NUMBERS)
case(
    "aclnnConstantPadNd",
    lambda m: (m.x(3, 4), (1, 2, -1, 1), 7, OUT),
    lambda x, p, v: torch.constant_pad_nd(x, p, v),
    NUMBERS,
)
for _name, _mode in (("Reflection", "reflect"), ("Replication", "replicate"), ("Circular", "circular")):
    for _rank, _shape, _pad in (
        (1, (2, 3, 5), (2, 1)),
        (2, (2, 3, 4, 5), (2, 1, 1, 2)),
        (3, (1, 2, 3, 4, 5), (2, 1, 1, 2, 1, 1)),
    ):
        if (_name, _rank) == ("Circular", 1):
            continue
        _grown = (*_shape[:-_rank], *(n + a + b for n, a, b in zip(_shape[-_rank:], _pad[-2::-2], _pad[-1::-2])))
        case(
            f"aclnn{_name}Pad{_rank}d",
            lambda m, s=_shape, p=_pad: (m.x(*s), p, OUT),
            lambda x, p, o=_mode: F.pad(x, p, o),
        )
        case(
            f"aclnn{_name}Pad{_rank}dBackward",
            lambda m, s=_shape, g=_grown, p=_pad: (m.x(*g), m.x(*s), p, OUT),
            lambda g, x, p, o=_mode: gradients(lambda x: F.pad(x, p, o), g, x)[0],
        )


def spots(m: Maker) -> np.ndarray:
    """An index of shape (3, 5) for dimension 0 of size 4 in which no place comes twice."""
    return np.stack([m.random.permutation(4)[:3] for _ in range(5)], 1)


# -------------------- matrices --------------------

case("aclnnMatmul", lambda m: (m.x(2, 1, 3, 4), m.x(5, 4, 2), OUT, 0), lambda x, y, c: torch.matmul(x, y))
case("aclnnMm", lambda m: (m.x(3, 4), m.x(4, 2), OUT, 1), lambda x, y, c: torch.mm(x, y))
case("aclnnBatchMatMul", lambda m: (m.x(2, 3, 4), m.x(2, 4, 2), OUT, 0), lambda x, y, c: torch.bmm(x, y))
case("aclnnMv", lambda m: (m.x(3, 4), m.x(4), OUT, 0), lambda x, y, c: torch.mv(x, y))
case("aclnnDot", lambda m: (m.x(4), m.x(4), OUT), torch.dot)
for _name, _shapes in {
    "addmm": ((3, 2), (3, 4), (4, 2)),
    "baddbmm": ((2, 3, 2), (2, 3, 4), (2, 4, 2)),
    "addbmm": ((3, 2), (2, 3, 4), (2, 4, 2)),
}.items():
    case(
        f"aclnn{_name.capitalize()}",
        lambda m, s=_shapes: (m.x(*s[0]), m.x(*s[1]), m.x(*s[2]), 0.5, 2.0, OUT, 0),
        lambda x, a, b, beta, alpha, c, n=_name: getattr(torch, n)(x, a, b, beta=beta, alpha=alpha),
    )
case(
    "aclnnAddmv",
    lambda m: (m.x(1), m.x(3, 4), m.x(4), 2.0, 0.5, OUT, 0),
    lambda x, a, b, alpha, beta, c: torch.addmv(x, a, b, beta=beta, alpha=alpha),
)
case(
    "aclnnAddr",
    lambda m: (m.x(3, 4), m.x(3), m.x(4), 0.5, 2.0, OUT),
    lambda x, a, b, beta, alpha: torch.addr(x, a, b, beta=beta, alpha=alpha),
)
case(
    "aclnnGemm",
    lambda m: (m.x(4, 3), m.x(4, 2), m.x(3, 2), 2.0, 0.5, 1, 0, OUT, 0),
    lambda a, b, c, alpha, beta, *_: alpha * a.T @ b + beta * c,
)
case("aclnnGer", lambda m: (m.x(3), m.x(4), OUT), torch.outer)
case("aclnnInverse", lambda m: (np.eye(3, dtype=m.dtype) * 4 + m.x(3, 3), OUT), torch.inverse, ("float32",))
case("aclnnSlogdet", lambda m: (m.x(3, 3), OUT, OUT), torch.slogdet, ("float32",))
case("aclnnLogdet", lambda m: (np.eye(3, dtype=m.dtype) * 4 + m.x(3, 3), OUT), torch.logdet, ("float32",))
case(
    "aclnnLinalgCholesky",
    lambda m: (np.eye(3, dtype=m.dtype) * 4, True, OUT),
    lambda x, u: torch.linalg.cholesky(x, upper=u),
    ("float32",),
)
case("aclnnLinalgCross", lambda m: (m.x(4, 3), m.x(4, 3), 1, OUT), lambda x, y, d: torch.linalg.cross(x, y, dim=d))

case(
    "aclnnTriangularSolve",
    lambda m: (m.x(3, 2), np.eye(3, dtype=m.dtype) * 4 + m.x(3, 3), False, True, False, OUT, OUT),
    lambda b, a, u, t, n: (torch.linalg.solve_triangular(a.tril().mT, b, upper=True), a.tril()),
    ("float32",),
)
case("aclnnQr", lambda m: (m.x(4, 3), False, OUT, OUT), lambda x, s: torch.linalg.qr(x, "complete"), ("float32",))
case("aclnnLinalgQr", lambda m: (m.x(4, 3), 0, OUT, OUT), lambda x, s: torch.linalg.qr(x), ("float32",))
case("aclnnEinsum", lambda m: ([m.x(3), m.x(4)], "a,b->ab", OUT), lambda x, e: torch.einsum(e, *x))


# -------------------- repeating and finding --------------------

_REPEATS = np.array([2, 0, 3])
case(
    "aclnnRepeatInterleave",
    lambda m: (m.x(3), _REPEATS.copy(), 5, OUT),
    lambda x, r, s: torch.repeat_interleave(x, r),
    ALL,
)
case("aclnnRepeatInterleaveInt", lambda m: (m.x(2, 3), 2, 12, OUT), lambda x, r, s: torch.repeat_interleave(x, r), ALL)
case(
    "aclnnRepeatInterleaveWithDim",
    lambda m: (m.x(2, 3), _REPEATS.copy(), 1, 5, OUT),
    lambda x, r, d, s: torch.repeat_interleave(x, r, d),
    ALL,
)
case(
    "aclnnRepeatInterleaveIntWithDim",
    lambda m: (m.x(2, 3), 2, 0, 4, OUT),
    lambda x, r, d, s: torch.repeat_interleave(x, r, d),
    ALL,
)
case("aclnnGatherV2", lambda m: (m.x(4, 5), 1, m.index(5, 2, 3), OUT), lambda x, d, i: x[:, i], ALL)
case(
    "aclnnIsInTensorScalar",
    lambda m: (m.x(3, 4), 2, False, True, OUT),
    lambda x, v, u, i: torch.isin(x, v, invert=i),
    NUMBERS,
)
