"""Computations of the smooth activation functions, block by block; see `blockwise`."""

import math
from typing import Any

import numpy as np

from mindtorch.backends.cpu.blockwise import blockwise
from mindtorch.backends.cpu.constants import CONSTANTS
from mindtorch.lazy import lazy

special = lazy("scipy.special")

Array = np.ndarray

# erf(x) = tanh(x * p(x * x)): the minimax polynomial p, lowest power first. The error in float32 is below 3e-7 of erf.
_ERF = (
    1.1283792438911, 0.10276955090871293, -1.9221826514299547e-04, -6.199208740101231e-04, 8.781040292046953e-05,
    -5.7076265988493965e-06, 1.4431386323250063e-07,
)  # fmt: skip

_SQRT_HALF = math.sqrt(0.5)
_DENSITY = 1 / math.sqrt(2 * math.pi)
_TANH_SCALE = math.sqrt(2 / math.pi)
_TANH_CUBE = 0.044715


def _numbers(x: Array) -> dict[float, Array]:
    """The constants of a formula as 0-d arrays, which cost a ufunc half of what a Python number does."""
    return CONSTANTS[float][x.dtype]


def erf(x: Array, out: Array | None = None) -> Array:
    """In float32 by a polynomial: SciPy's function is exact, but computes in float64 one by one."""
    return special.erf(x, out=out) if x.dtype != np.float32 else erf_in_float32(x, out=out)


@blockwise(arrays=1)
def erf_in_float32(out: Array, x: Array) -> None:
    number = _numbers(x)
    square = x * x
    polynomial = square * number[_ERF[-1]]
    for coefficient in _ERF[-2:0:-1]:
        polynomial += number[coefficient]
        polynomial *= square
    polynomial += number[_ERF[0]]
    polynomial *= x
    np.tanh(polynomial, out=out)


@blockwise(arrays=1)
def sigmoid(out: Array, x: Array) -> None:
    t = np.negative(x)
    np.exp(t, out=t)
    t += _numbers(x)[1.0]
    np.reciprocal(t, out=out)


def sigmoid_of_complex(x: Array, out: Array | None = None) -> Array:
    return np.divide(1, 1 + np.exp(-x), out=out, dtype=x.dtype)


@blockwise(arrays=2)
def sigmoid_backward(out: Array, grad: Array, y: Array) -> None:
    one = _numbers(y)[1.0]
    t = np.subtract(one, y)
    t *= y
    np.multiply(grad, t.conj(), out=out)  # of real numbers `conj` is `t` itself


@blockwise(arrays=2)
def tanh_backward(out: Array, grad: Array, y: Array) -> None:
    one = _numbers(y)[1.0]
    t = y * y
    np.subtract(one, t, out=t)
    np.multiply(grad, t.conj(), out=out)  # of real numbers `conj` is `t` itself


@blockwise(arrays=1)
def silu(out: Array, x: Array) -> None:
    t = np.negative(x)
    np.exp(t, out=t)
    t += _numbers(x)[1.0]
    np.divide(x, t, out=out)


@blockwise(arrays=2)
def silu_backward(out: Array, grad: Array, x: Array) -> None:
    one = _numbers(x)[1.0]
    s = one / (one + np.exp(-x))
    t = one - s
    t *= x
    t += one
    t *= s
    np.multiply(grad, t, out=out)


@blockwise(arrays=1)
def gelu(out: Array, x: Array) -> None:
    t = erf(x * _numbers(x)[_SQRT_HALF])
    t += _numbers(x)[1.0]
    t *= x
    np.multiply(t, _numbers(x)[0.5], out=out)


@blockwise(arrays=2)
def gelu_backward(out: Array, grad: Array, x: Array) -> None:
    number = _numbers(x)
    cdf = erf(x * number[_SQRT_HALF])
    cdf += number[1.0]
    cdf *= number[0.5]
    t = x * x
    t *= number[-0.5]
    np.exp(t, out=t)
    t *= number[_DENSITY]
    t *= x
    t += cdf
    np.multiply(grad, t, out=out)


def _inner(x: Array) -> Array:
    """The argument of the tanh in gelu's approximation."""
    number = _numbers(x)
    t = x * x
    t *= number[_TANH_CUBE]
    t += _numbers(x)[1.0]
    t *= x
    t *= number[_TANH_SCALE]
    return t


@blockwise(arrays=1)
def gelu_tanh(out: Array, x: Array) -> None:
    t = _inner(x)
    np.tanh(t, out=t)
    t += _numbers(x)[1.0]
    t *= x
    np.multiply(t, _numbers(x)[0.5], out=out)


@blockwise(arrays=2)
def gelu_tanh_backward(out: Array, grad: Array, x: Array) -> None:
    number = _numbers(x)
    one = number[1.0]
    tanh = np.tanh(_inner(x))
    slope = x * x
    slope *= number[3 * _TANH_CUBE]
    slope += one
    slope *= number[_TANH_SCALE]
    slope *= one - tanh * tanh
    slope *= x
    slope += tanh
    slope += one
    slope *= number[0.5]
    np.multiply(grad, slope, out=out)


@blockwise(arrays=1)
def elu(out: Array, x: Array, alpha: float, scale: float, input_scale: float) -> None:
    number = x.dtype.type
    falling = np.expm1(np.minimum(x, 0) * number(input_scale))
    falling *= number(alpha * scale)
    np.copyto(out, np.where(x > 0, x * number(scale), falling))


@blockwise(arrays=1)
def mish(out: Array, x: Array) -> None:
    # softplus, written so that exp does not overflow
    squashed = np.log1p(np.exp(-np.abs(x)))
    squashed += np.maximum(x, 0)
    np.multiply(x, np.tanh(squashed, out=squashed), out=out)


@blockwise(arrays=1)
def hardswish(out: Array, x: Array) -> None:
    number = x.dtype.type
    gate = np.clip(x + number(3), number(0), number(6))
    gate *= x
    np.divide(gate, number(6), out=out)


def _scaled(x: Array, beta: float, threshold: float) -> tuple[Array, Array]:
    """`beta * x`, and where it is so large that softplus is the identity."""
    z = x * _numbers(x)[beta]
    return z, z > threshold


@blockwise(arrays=1)
def softplus(out: Array, x: Array, beta: float, threshold: float) -> None:
    z, linear = _scaled(x, beta, threshold)
    np.log1p(np.exp(z, out=z), out=z)
    z /= _numbers(x)[beta]
    np.copyto(out, np.where(linear, x, z))


@blockwise(arrays=2)
def softplus_backward(out: Array, grad: Array, x: Array, beta: float, threshold: float) -> None:
    z, linear = _scaled(x, beta, threshold)
    np.exp(z, out=z)
    np.copyto(out, np.where(linear, grad, grad * (z / (z + 1))))


def by_name(approximate: str, exact: Any, tanh: Any) -> Any:
    """The choice that gelu's argument makes."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return tanh if approximate == "tanh" else exact
