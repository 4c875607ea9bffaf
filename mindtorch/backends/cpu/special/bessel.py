"""Kernels of special functions that are SciPy's as they are: Bessel, incomplete gamma, zeta, normal distribution."""

from math import factorial
from typing import Any

import numpy as np

from mindtorch._core.promotion import BFLOAT16, COMPLEX, HALF, int_to_float
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import is_any
from mindtorch.backends.cpu.common.arithmetic import choose, copy
from mindtorch.backends.cpu.common.computing import FLOATS, Op, loops
from mindtorch.backends.cpu.common.elementwise import binary, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import ONLY_FLOATING, not_implemented
from mindtorch.backends.cpu.compiled.choice import compiled
from mindtorch.iterator.constants import kept_constant

scipy_special = lazy("scipy.special")

Array = np.ndarray

_NARROW = (HALF, BFLOAT16)


def _by_scipy(name: str) -> Any:
    """The function of SciPy with that name, which is loaded when it is called."""

    def computation(*arrays: Array, out: Array | None = None) -> Array:
        result = getattr(scipy_special, name)(*arrays)
        return result if out is None else copy(result, out)

    return computation


def _of_one(name: str, missing_kernel: str, dtypes: Any = COMPLEX) -> Any:
    unsupported = not_implemented(missing_kernel, *dtypes)
    return unary(Op(loops(_by_scipy(name), FLOATS), int_to_float, unsupported=unsupported))


i0 = _of_one("i0", "i0_vml_cpu")
i0e = _of_one("i0e", "i0e_cpu")
i1 = _of_one("i1", "i1_cpu")
i1e = _of_one("i1e", "i1e_cpu")
entr = _of_one("entr", "entr_cpu")
erfcx = _of_one("erfcx", "erfcx_cpu", (*_NARROW, *COMPLEX))
ndtri = _of_one("ndtri", "ndtri_cpu", (*_NARROW, *COMPLEX))
log_ndtr = _of_one("log_ndtr", "log_ndtr_cpu", (*_NARROW, *COMPLEX))


def _nan_where(condition: Array, values: Array, out: Array | None) -> Array:
    if is_any(condition):
        return choose(condition, kept_constant(np.nan, values.dtype), values, out)
    return values if out is None else copy(values, out)


def _finite_of_one(name: str, op: str) -> Any:
    """A function that torch has no limit of: it is nan at infinity, and has no narrow dtypes."""

    def computation(x: Array, out: Array | None = None) -> Array:
        function = getattr(scipy_special, name)
        values = function(x)
        return _nan_where(np.isinf(x), values, out)

    return unary(
        Op(loops(computation, FLOATS), int_to_float, unsupported=not_implemented(f"{op}_cpu", *_NARROW, *COMPLEX))
    )


_LARGEST_OF_AIRY = float(2**20)  # beyond that SciPy has nan


def _airy_ai(x: Array, out: Array | None = None) -> Array:
    """Far out, zero to the right and a wave with the first term of its asymptotic series to the left."""
    values = scipy_special.airy(x)[0]
    is_far = np.abs(x) > _LARGEST_OF_AIRY
    if is_any(is_far):
        far = np.where(is_far, np.abs(x), 1).astype(np.float64)
        wave = np.sin(far**1.5 * (2 / 3) + np.pi / 4) / (np.sqrt(np.pi) * far**0.25)
        values = np.where(is_far, np.where(x > 0, 0, wave), values).astype(x.dtype)
    return _nan_where(np.isinf(x), values, out)


airy_ai = unary(
    Op(loops(_airy_ai, FLOATS), int_to_float, unsupported=not_implemented("airy_ai_cpu", *_NARROW, *COMPLEX))
)
bessel_j0 = _finite_of_one("j0", "bessel_j0")
bessel_j1 = _finite_of_one("j1", "bessel_j1")
bessel_y0 = _finite_of_one("y0", "bessel_y0")
bessel_y1 = _finite_of_one("y1", "bessel_y1")
modified_bessel_i0 = _finite_of_one("i0", "modified_bessel_i0")
modified_bessel_i1 = _finite_of_one("i1", "modified_bessel_i1")
modified_bessel_k0 = _of_one("k0", "modified_bessel_k0_cpu", (*_NARROW, *COMPLEX))
modified_bessel_k1 = _of_one("k1", "modified_bessel_k1_cpu", (*_NARROW, *COMPLEX))
scaled_modified_bessel_k0 = _of_one("k0e", "scaled_modified_bessel_k0_cpu", (*_NARROW, *COMPLEX))
scaled_modified_bessel_k1 = _of_one("k1e", "scaled_modified_bessel_k1_cpu", (*_NARROW, *COMPLEX))


_SINC_SERIES = [np.asarray((-1) ** power / factorial(2 * power + 1)) for power in range(6, -1, -1)]


def _spherical_j0(x: Array, out: Array | None = None) -> Array:
    """sin(x) / x; by its series where x is small."""
    quotient, is_infinite, is_small = np.sin(x) / x, np.isinf(x), np.less(np.abs(x), kept_constant(0.5, x.dtype))
    if is_any(is_infinite):
        quotient = np.where(is_infinite, x.dtype.type(0), quotient)
    if is_any(is_small):
        return choose(is_small, _sinc_series(x * x).astype(x.dtype), quotient, out)
    return quotient if out is None else copy(quotient, out)


def _sinc_series(square: Array) -> Array:
    """In double precision."""
    total = square * _SINC_SERIES[0]
    for coefficient in _SINC_SERIES[1:-1]:
        total = (total + coefficient) * square
    return np.asarray(total + _SINC_SERIES[-1])


spherical_bessel_j0 = unary(
    Op(
        loops(_spherical_j0, FLOATS),
        int_to_float,
        unsupported=not_implemented("spherical_bessel_j0_cpu", *_NARROW, *COMPLEX),
    )
)


def _xlog1py(x: Array, y: Array, out: Array | None = None) -> Array:
    """0 where x is 0, unless y is nan."""
    logarithm, is_zero = np.log1p(y), np.equal(x, kept_constant(0, x.dtype))
    if is_any(is_zero):
        logarithm = np.where(is_zero & ~np.isnan(y), x.dtype.type(0), logarithm)
    return np.multiply(x, logarithm, out=out)


xlog1py = binary(
    Op(
        compiled("special_xlog1py", loops(_xlog1py, FLOATS)),
        int_to_float,
        unsupported=not_implemented("xlog1py_cpu", *COMPLEX),
    )
)


def hurwitz(x: Array, q: Array, out: Array | None = None) -> Array:
    """The sum of 1 / (q + k) ** x over all k; nan where q is infinite, as torch multiplies 0 by it there."""
    return _nan_where((q == np.inf) & (x > 1), scipy_special.zeta(x, q), out)


zeta = binary(
    Op(
        loops(hurwitz, FLOATS),
        int_to_float,
        unsupported=not_implemented("zeta_cpu", *_NARROW, *COMPLEX),
    )
)
igamma = binary(Op(loops(_by_scipy("gammainc"), FLOATS), unsupported=not_implemented("igamma_cpu", *ONLY_FLOATING)))


def _gammaincc(a: Array, x: Array, out: Array | None = None) -> Array:
    """Around a = 0.5, scipy's series for small x is cut off too early: there, one step of the recurrence in a."""
    result = scipy_special.gammaincc(a, x)
    is_cut = (np.abs(a - 0.5) < 0.2) & (x > 0) & (x <= 1.1) if result.dtype == np.float64 else None
    if is_cut is None or not is_any(is_cut):
        return result if out is None else copy(result, out)
    stepped = scipy_special.gammaincc(a + 1, x) - x**a * np.exp(-x) / scipy_special.gamma(a + 1)
    return choose(is_cut, stepped, result, out)


igammac = binary(Op(loops(_gammaincc, FLOATS), unsupported=not_implemented("igammac_cpu", *ONLY_FLOATING)))
