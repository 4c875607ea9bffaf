"""Computations of the smooth activation functions, block by block; see `blockwise`."""

import math
from typing import Any

import numpy as np

from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import where
from mindtorch.backends.cpu.common.arithmetic import at_least, at_most, clamp
from mindtorch.backends.cpu.common.blockwise import blockwise
from mindtorch.iterator.constants import CONSTANTS

special = lazy("scipy.special")

Array = np.ndarray
Temporary = Array | None

_SQRT_HALF = math.sqrt(0.5)

# erf(x) = tanh(x * p(x * x)): the minimax polynomial p, lowest power first. Its error is 1e-7 of erf, less
# than that of rounding in float32.
_ERF = (
    1.1283792743670882, 0.10276905451125912, -1.9182611764035617e-04, -6.197904041541119e-04, 8.764022596694572e-05,
    -5.669092800218386e-06, 1.4189773111063957e-07,
)  # fmt: skip


def _of_multiple(factor: float) -> tuple[float, ...]:
    """The polynomial of erf(factor * x)."""
    return tuple([coefficient * factor ** (2 * power + 1) for power, coefficient in enumerate(_ERF)])


_ERF_OF_ROOT, _ERF_OF_DOUBLE_ROOT = _of_multiple(math.sqrt(0.5)), _of_multiple(math.sqrt(2))
_FEW = 700
_DENSITY = 1 / math.sqrt(2 * math.pi)
_TANH_SCALE = math.sqrt(2 / math.pi)
_TANH_CUBE = 0.044715
_SIXTH = float(np.float32(1 / 6))  # as torch has it, in double precision, too


def _numbers(x: Array) -> dict[float, Array]:
    """The constants of a formula as 0-d arrays, which cost a ufunc half of what a Python number does."""
    return CONSTANTS[float][x.dtype]


def _is_for_scipy(x: Array) -> bool:
    """Whether SciPy's erf is to be taken, which is exact: always, but in float32, where it computes in float64 one by
    one, only for so few elements that the dozen calls of a polynomial cost more."""
    return x.dtype != np.float32 or x.size <= _FEW


def erf(x: Array, out: Array | None = None) -> Array:
    return special.erf(x, out=out) if _is_for_scipy(x) else erf_in_float32(x, out=out)


@blockwise(arrays=1, temporaries=2)
def erf_in_float32(out: Array, x: Array, t: Temporary, square: Temporary) -> None:
    np.tanh(_odd_polynomial(_ERF, x, t, square), out)


def _odd_polynomial(coefficients: tuple[float, ...], x: Array, t: Temporary, square: Temporary) -> Array:
    """x * p(x * x) in the first of two temporaries; the coefficient of the lowest power comes first."""
    number = _numbers(x)
    square = np.multiply(x, x, square)
    t = np.multiply(square, number[coefficients[-1]], t)
    for coefficient in coefficients[-2:0:-1]:
        t += number[coefficient]
        t *= square
    t += number[coefficients[0]]
    t *= x
    return t


@blockwise(arrays=1)
def sigmoid(out: Array, x: Array) -> None:
    one = _numbers(x)[1.0]
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, one, out)
    np.divide(one, out, out)  # NumPy's reciprocal takes twice as long


def sigmoid_of_complex(x: Array, out: Array | None = None) -> Array:
    return np.divide(1, 1 + np.exp(-x), out=out, dtype=x.dtype)


@blockwise(arrays=2, temporaries=1)
def sigmoid_backward(out: Array, grad: Array, y: Array, t: Temporary) -> None:
    t = np.subtract(_numbers(y)[1.0], y, t)
    t *= y
    np.multiply(grad, t.conj(), out)  # of real numbers `conj` is `t` itself


@blockwise(arrays=2, temporaries=1)
def tanh_backward(out: Array, grad: Array, y: Array, t: Temporary) -> None:
    t = np.multiply(y, y, t)
    np.subtract(_numbers(y)[1.0], t, t)
    np.multiply(grad, t.conj(), out)  # of real numbers `conj` is `t` itself


@blockwise(arrays=1, temporaries=1)
def silu(out: Array, x: Array, t: Temporary) -> None:
    t = np.negative(x, t)
    np.exp(t, t)
    t += _numbers(x)[1.0]
    np.divide(x, t, out)


@blockwise(arrays=2, temporaries=2)
def silu_backward(out: Array, grad: Array, x: Array, s: Temporary, t: Temporary) -> None:
    one = _numbers(x)[1.0]
    s = np.negative(x, s)
    np.exp(s, s)
    s += one
    np.divide(one, s, s)
    t = np.subtract(one, s, t)
    t *= x
    t += one
    t *= s
    np.multiply(grad, t, out)


@blockwise(arrays=1, temporaries=2)
def gelu(out: Array, x: Array, half: Temporary, square: Temporary) -> None:
    """x / 2 * (1 + erf(x / sqrt(2))). Only x / 2 is kept, so that the rest can be computed in the output."""
    number = _numbers(x)
    half = np.multiply(x, number[0.5], half)
    if _is_for_scipy(x):
        special.erf(np.multiply(x, number[_SQRT_HALF], out), out)
    else:
        np.tanh(_odd_polynomial(_ERF_OF_DOUBLE_ROOT, half, out, square), out)
    np.add(out, number[1.0], out)
    np.multiply(out, half, out)


def _erf_of_root(x: Array, t: Temporary, square: Temporary) -> Array:
    """erf(x / sqrt(2)) in the first of two temporaries."""
    if _is_for_scipy(x):
        t = np.multiply(x, _numbers(x)[_SQRT_HALF], t)
        return special.erf(t, t)
    t = _odd_polynomial(_ERF_OF_ROOT, x, t, square)
    return np.tanh(t, t)


@blockwise(arrays=2, temporaries=3)
def gelu_backward(out: Array, grad: Array, x: Array, cdf: Temporary, t: Temporary, square: Temporary) -> None:
    number = _numbers(x)
    cdf = _erf_of_root(x, cdf, square)
    cdf += number[1.0]
    cdf *= number[0.5]
    t = np.multiply(x, x, t)
    t *= number[-0.5]
    np.exp(t, t)
    t *= number[_DENSITY]
    t *= x
    t += cdf
    np.multiply(grad, t, out)


def _inner(x: Array, t: Temporary) -> Array:
    """The argument of the tanh in gelu's approximation."""
    number = _numbers(x)
    t = np.multiply(x, x, t)
    t *= number[_TANH_CUBE]
    t += number[1.0]
    t *= x
    t *= number[_TANH_SCALE]
    return t


@blockwise(arrays=1, temporaries=1)
def gelu_tanh(out: Array, x: Array, t: Temporary) -> None:
    number = _numbers(x)
    t = _inner(x, t)
    np.tanh(t, t)
    t += number[1.0]
    t *= x
    np.multiply(t, number[0.5], out)


@blockwise(arrays=2, temporaries=3)
def gelu_tanh_backward(out: Array, grad: Array, x: Array, tanh: Temporary, slope: Temporary, rest: Temporary) -> None:
    number = _numbers(x)
    one = number[1.0]
    tanh = _inner(x, tanh)
    np.tanh(tanh, tanh)
    slope = np.multiply(x, x, slope)
    slope *= number[3 * _TANH_CUBE]
    slope += one
    slope *= number[_TANH_SCALE]
    rest = np.multiply(tanh, tanh, rest)
    np.subtract(one, rest, rest)
    slope *= rest
    slope *= x
    slope += tanh
    slope += one
    slope *= number[0.5]
    np.multiply(grad, slope, out)


@blockwise(arrays=1, temporaries=2)
def elu(
    out: Array, x: Array, alpha: float, scale: float, input_scale: float, falling: Temporary, rising: Temporary
) -> None:
    number = _numbers(x)
    falling = at_most(x, number[0.0], falling)
    if input_scale != 1:
        falling *= number[float(input_scale)]
    np.expm1(falling, falling)
    if alpha * scale != 1:
        falling *= number[float(alpha * scale)]
    rising = at_least(x, number[0.0], rising)
    if scale != 1:
        rising *= number[float(scale)]
    if math.isfinite(alpha) and math.isfinite(scale):  # one of the two is zero everywhere: quicker than `where`
        np.add(rising, falling, out)
    else:
        np.copyto(out, where(x < number[0.0], falling, rising))


@blockwise(arrays=2)
def elu_backward(out: Array, grad: Array, x: Array, alpha: float, scale: float, input_scale: float) -> None:
    """The slope is an exponential up to 0."""
    number = _numbers(x)
    falling = np.exp(np.minimum(x, number[0.0]) * number[float(input_scale)])
    falling *= number[float(alpha * scale * input_scale)]
    np.copyto(out, where(x <= number[0.0], grad * falling, grad * number[float(scale)]))


@blockwise(arrays=2)
def elu_backward_of_result(out: Array, grad: Array, y: Array, alpha: float, scale: float, input_scale: float) -> None:
    """The same of the result of a call in place, which has the exponential."""
    number = _numbers(y)
    falling = (y + number[float(alpha * scale)]) * number[float(input_scale)]
    np.copyto(out, where(y <= number[0.0], grad * falling, grad * number[float(scale)]))


@blockwise(arrays=1, temporaries=2)
def mish(out: Array, x: Array, squashed: Temporary, rest: Temporary) -> None:
    # softplus, written so that exp does not overflow
    squashed = np.abs(x, squashed)
    np.negative(squashed, squashed)
    np.exp(squashed, squashed)
    np.log1p(squashed, squashed)
    squashed += at_least(x, _numbers(x)[0.0], rest)
    np.tanh(squashed, squashed)
    np.multiply(x, squashed, out)


@blockwise(arrays=1, temporaries=1)
def hardswish(out: Array, x: Array, gate: Temporary) -> None:
    number = _numbers(x)
    gate = np.add(x, number[3.0], gate)
    clamp(gate, number[0.0], number[6.0], gate)
    gate *= x
    np.divide(gate, number[6.0], out)


@blockwise(arrays=2)
def hardswish_backward(out: Array, grad: Array, x: Array) -> None:
    number = _numbers(x)
    rising = grad * (x / number[3.0] + number[0.5])
    np.copyto(out, np.where(x < 3, np.where(x <= -3, number[0.0], rising), grad))  # 0 even if the gradient is nan


@blockwise(arrays=1, temporaries=1)
def hardsigmoid(out: Array, x: Array, gate: Temporary) -> None:
    number = _numbers(x)
    gate = np.add(x, number[3.0], gate)
    clamp(gate, number[0.0], number[6.0], gate)
    np.divide(gate, number[6.0], out)


@blockwise(arrays=2)
def hardsigmoid_backward(out: Array, grad: Array, x: Array) -> None:
    number = _numbers(x)
    np.copyto(out, np.where((x > -3) & (x < 3), grad * number[_SIXTH], number[0.0]))


@blockwise(arrays=3)
def log_sigmoid_backward(out: Array, grad: Array, x: Array, buffer: Array) -> None:
    """`buffer` is exp(-|x|), from which the sigmoid of -x follows without overflow."""
    number = _numbers(x)
    share = buffer / (buffer + number[1.0])
    np.copyto(out, grad * where(x < number[0.0], number[1.0] - share, share))


def _scaled(x: Array, beta: float, threshold: float) -> tuple[Array, Array]:
    """`beta * x`, and where it is so large that softplus is the identity."""
    z = x * _numbers(x)[beta]
    return z, z > threshold


@blockwise(arrays=1, temporaries=1)
def softplus(out: Array, x: Array, beta: float, threshold: float, z: Temporary) -> None:
    """log1p(exp(beta * x)) / beta, or x itself where the exponent is large."""
    factor = _numbers(x)[beta]
    exponent = x if beta == 1 else np.multiply(x, factor, z)
    linear = np.greater(exponent, _numbers(x)[threshold])
    z = np.exp(exponent, z)
    np.log1p(z, z)
    if beta != 1:
        z /= factor
    np.copyto(z, x, where=linear)
    np.copyto(out, z)


@blockwise(arrays=2)
def softplus_backward(out: Array, grad: Array, x: Array, beta: float, threshold: float) -> None:
    z, linear = _scaled(x, beta, threshold)
    np.exp(z, out=z)
    np.copyto(out, where(linear, grad, grad * (z / (z + _numbers(x)[1.0]))))


def by_name(approximate: str, exact: Any, tanh: Any) -> Any:
    """The choice that gelu's argument makes."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return tanh if approximate == "tanh" else exact
