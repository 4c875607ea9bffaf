"""Kernels of the special functions, which SciPy computes. It has no float32 for most: float64, rounded once."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch._core.promotion import COMPLEX, int_to_float
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import is_all, is_any
from mindtorch.backends.cpu.common import activations
from mindtorch.backends.cpu.common.arithmetic import choose, copy
from mindtorch.backends.cpu.common.blockwise import blockwise
from mindtorch.backends.cpu.common.computing import FLOATS, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import binary, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import not_implemented
from mindtorch.backends.cpu.compiled.choice import compiled
from mindtorch.backends.cpu.special.bessel import hurwitz
from mindtorch.iterator.constants import kept_constant

scipy_special = lazy("scipy.special")

Array = np.ndarray


def _special(of_floats: dict[Any, Any], missing_kernel: str) -> Any:
    return unary(Op(of_floats, int_to_float, unsupported=not_implemented(missing_kernel, *COMPLEX)))


def _erfc(x: Array, out: Array | None = None) -> Array:
    return scipy_special.erfc(x, out=out)


@blockwise(arrays=1)
def _erfinv(out: Array, x: Array) -> None:
    """At the ends and beyond they are ready: SciPy takes a hundred times as long where it has an error to consider."""
    size = np.abs(x)
    beyond = size >= 1
    if not is_any(beyond):
        scipy_special.erfinv(x, out=out)
        return
    ends = np.where(size == 1, np.copysign(np.inf, x), np.nan)[beyond]
    scipy_special.erfinv(np.where(beyond, x.dtype.type(0), x), out=out)
    out[beyond] = ends


_NEAR = 0.2  # where it has a series of its own


@lru_cache
def _log_gamma_series(place: int) -> Array:
    """The coefficients of the powers of the distance from a zero of lgamma, of the highest one first."""
    powers = np.arange(2, 24 if place == 1 else 18)
    sums = scipy_special.zeta(powers) if place == 1 else scipy_special.zetac(powers)
    higher = sums * (-1.0) ** powers / powers
    return np.append(place - 1 - np.euler_gamma, higher)[::-1]


def _near_zero(x: Array, place: int, result: Array) -> None:
    """Writes lgamma near 1 or 2."""
    distance = x - place
    near = np.abs(distance) <= _NEAR
    if is_any(near):
        distance = distance[near]
        result[near] = np.polyval(_log_gamma_series(place), distance) * distance


def _lgamma(x: Array, out: Array | None = None) -> Array:
    """Infinite at -inf, where SciPy has nan, and finite at the least numbers, where it is infinite.

    Near its zeros at 1 and 2 SciPy's absolute error is that of float64, which is too much for float64 itself.
    """
    result = np.asarray(scipy_special.gammaln(x))
    if x.dtype == np.float64:
        for place in (1, 2):
            _near_zero(x, place, result)
    if not is_all(np.isfinite(result)):
        size = np.abs(x)
        result = np.where((0 < size) & (size < np.finfo(x.dtype).tiny), -np.log(size), result)
        result = np.where(x == -np.inf, x.dtype.type(np.inf), result)
    return result if out is None else copy(result, out)


def _digamma(x: Array, out: Array | None = None) -> Array:
    """At 0 the infinity of the other sign, at negative integers nan."""
    zero, result = kept_constant(0, x.dtype), scipy_special.digamma(x)
    if is_any(np.equal(x, zero)):
        result = np.where(x == 0, np.copysign(x.dtype.type(np.inf), -x), result)
    if is_any(np.less(x, zero)):
        return choose((x < 0) & (np.floor(x) == x), x.dtype.type(np.nan), result, out)
    return result if out is None else copy(result, out)


def _trigamma(x: Array, out: Array | None = None) -> Array:
    """zeta(2, x), reflected for negative x: near the poles with the sine of the narrow dtype, as in torch."""
    wide = x.astype(np.float64)
    is_small = np.less(wide, 0.5)
    if not is_any(is_small):
        return _store(_zeta_of_two(wide), x, out)
    sine = np.sin(x * x.dtype.type(math.pi)).astype(np.float64)
    result = _zeta_of_two(np.where(is_small, 1 - wide, wide))
    return _store(np.where(is_small, (math.pi / sine) ** 2 - result, result), x, out)


_FEW = 128  # elements: SciPy's zeta has computed fewer before the calls of the series are made


def _zeta_of_two(x: Array) -> Array:
    return np.asarray(scipy_special.zeta(2, x)) if x.size < _FEW else _sum_of_squares(x)


_SHIFT = 10  # how many terms of the sum are added up
_BERNOULLI = [-3617 / 510, 7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6]


@blockwise(arrays=1, temporaries=3)
def _sum_of_squares(out: Array, x: Array, inverse: Array | None, square: Array | None, term: Array | None) -> None:
    """The sum of 1 / (x + k) ** 2 over all k, for x of at least 0.5: the first terms, and a series for the others."""
    inverse = np.add(x, _SHIFT, inverse)
    np.divide(1.0, inverse, inverse)
    square = np.multiply(inverse, inverse, square)
    np.multiply(square, _BERNOULLI[0], out)
    for number in _BERNOULLI[1:]:
        out += number
        out *= square
    out *= inverse
    square *= 0.5
    out += square
    out += inverse
    first_terms = square  # a sum of their own: one by one, they would be lost beside that of a large x
    first_terms[...] = 0
    for k in range(_SHIFT - 1, -1, -1):
        term = np.add(x, k, term)
        np.multiply(term, term, term)
        first_terms += np.divide(1.0, term, term)
    out += first_terms


def _polygamma(x: Array, n: int, out: Array | None = None) -> Array:
    """Both factors in the dtype of the result, as in torch: a large factorial is infinite, a small zeta nothing."""
    factor = (-1.0) ** (n + 1) * np.float64(scipy_special.gamma(n + 1.0)).astype(x.dtype)
    return _store(factor * hurwitz(np.float64(n + 1), x.astype(np.float64)).astype(x.dtype), x, out)


def _store(result: Array, like: Array, out: Array | None) -> Array:
    if out is None:
        return result.astype(like.dtype)
    np.copyto(out, result, casting="unsafe")
    return out


def _xlogy(x: Array, y: Array, out: Array | None = None) -> Array:
    """0 where x is 0, unless y is nan: without a sign."""
    if not is_any(np.equal(x, kept_constant(0, x.dtype))):
        return np.multiply(x, np.log(y), out=out)
    is_zero = (x == 0) & ~np.isnan(y)
    result = np.asarray(np.multiply(x, np.where(is_zero, x.dtype.type(0), np.log(y)), out=out))
    np.copyto(result, 0, where=is_zero)
    return result


erf = _special(compiled("erf", loops(activations.erf, FLOATS)), "erf_vml_cpu")
erfc = _special(compiled("erfc", loops(_erfc, FLOATS)), "erfc_vml_cpu")
erfinv = _special(loops(_erfinv, FLOATS), "erfinv_vml_cpu")
lgamma = _special(loops(_lgamma, FLOATS), "lgamma_vml_cpu")
digamma = _special(loops(_digamma, FLOATS), "digamma")
xlogy = binary(
    Op(
        compiled("xlogy_Tensor", loops(_xlogy, FLOATS)),
        int_to_float,
        unsupported=not_implemented("xlogy_cpu", *COMPLEX),
    )
)
_trigamma_kernel = _special(loops(_trigamma, FLOATS), "trigamma")
_POLYGAMMA = Op(loops(_polygamma, FLOATS), int_to_float, unsupported=not_implemented("polygamma", *COMPLEX))


def polygamma(n: int, input: Array, out: Array | None = None) -> Array:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(input, out)
    if n == 1:
        return _trigamma_kernel(input, out)
    return compute(_POLYGAMMA, (input,), out, n)
