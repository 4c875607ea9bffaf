"""Numbers at the edges of dtypes and domains, what decides between two libraries, and what may differ and why."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import mpmath as mp
import numpy as np

REAL = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
INTEGER = ("int8", "uint8", "int32", "int64")
DTYPES = (*REAL, *COMPLEX, *INTEGER)


# -------------------- numbers --------------------


def limits_of(dtype: str) -> tuple[float, float, float]:
    """The least normal number, the greatest one, and the distance from 1 to the next."""
    name = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    found = ml_dtypes.finfo(name)
    return float(found.smallest_normal), float(found.max), float(found.eps)


_ORDINARY = (
    0.01, 0.1, 0.25, 0.4999, 0.5, 0.6, 0.9, 1, 1.1, 1.25, 1.4616321, 1.5, np.pi / 2, 2, 2.5, np.e, 3, np.pi, 4, 5, 7.5,
    8, 10, 13.5, 20, 30, 50, 88.7, 89, 100, 103.9, 128, 171, 500, 709, 710, 745, 5e3, 65000, 1e5, 1e8, 1e15, 1e30,
    1e150,
)  # fmt: skip


def reals(dtype: str) -> np.ndarray:
    """Zeros, subnormal and tiny numbers, both sides of 1, ends of domains, huge and infinite numbers, and nan."""
    tiny, largest, eps = limits_of(dtype)
    small = (0, tiny * eps, 3 * tiny * eps, tiny / 2, tiny, tiny**0.5, eps, 1 - eps / 2, 1 + eps)
    return _with_signs((*small, *_ORDINARY, largest**0.5, largest / 2, largest, np.inf))


def few_reals(dtype: str) -> np.ndarray:
    """For ops of several operands, which get all pairs."""
    tiny, largest, eps = limits_of(dtype)
    small = (0, 3 * tiny * eps, tiny, eps, 0.1, 0.5, 1 - eps / 2, 1, 1 + eps)
    return _with_signs((*small, 1.5, 3, 7, 10, 31.5, 1e3, largest**0.5, largest, np.inf))


def complexes(dtype: str, few: bool = False) -> np.ndarray:
    """Finite ones: torch's own loops do not agree about products with infinity."""
    tiny, largest, eps = limits_of(dtype)
    parts = (0, tiny, 0.5, 3, 80) if few else (0, 3 * tiny * eps, tiny, eps, 1e-3, 0.5, 1, 1 + eps, 3, 80, largest**0.5)
    signed = np.concatenate([parts, np.negative(parts)])
    real, imag = np.meshgrid(signed, signed)
    result = np.empty(real.size, np.complex128)
    result.real, result.imag = real.ravel(), imag.ravel()  # arithmetic would lose signs of zeros
    return result


def integers(dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    numbers = {
        0,
        1,
        2,
        3,
        5,
        7,
        10,
        31,
        32,
        63,
        64,
        100,
        127,
        limits.max // 3,
        limits.max // 2,
        limits.max - 1,
        limits.max,
    }
    numbers |= {-number for number in numbers} | {limits.min, limits.min + 1}
    return np.array(sorted(number for number in numbers if limits.min <= number <= limits.max), dtype)


def _with_signs(numbers: tuple[float, ...]) -> np.ndarray:
    return np.array([*numbers, *np.negative(numbers), np.nan])


# -------------------- the referee --------------------

mp.mp.dps = 40


def _normal(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _gelu_slope(x: Any) -> Any:
    return _normal(x) + x * mp.npdf(x)


def _incomplete(a: Any, *ends: Any) -> Any:
    return mp.gammainc(a, *ends, regularized=True)


# The functions themselves, by op. Some are asked for finite numbers of moderate size only, where they take no time.
REFEREES: dict[str, Callable[..., Any]] = {
    "acos": mp.acos,
    "digamma": mp.digamma,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "gelu": lambda x: x * _normal(x),
    "gelu_backward": lambda grad, x: grad * _gelu_slope(x),
    "i0": lambda x: mp.besseli(0, x),
    "igamma": lambda a, x: 1 - a * mp.e1(x) if a < 1e-20 else _incomplete(a, 0, x),
    "igammac": lambda a, x: a * mp.e1(x) if a < 1e-20 else _incomplete(a, x, mp.inf),
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))),
    "log1p": lambda z: mp.log(1 + z),
    "logaddexp": lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
    "logaddexp2": lambda a, b: mp.log(mp.power(2, a) + mp.power(2, b), 2),
    "mish": lambda x: x * mp.tanh(mp.log1p(mp.exp(x))),
    "polygamma": mp.polygamma,
    "pow.Scalar": mp.power,
    "pow.Tensor_Tensor": mp.power,
    "special_airy_ai": mp.airyai,
    "special_bessel_j0": lambda x: mp.besselj(0, x),
    "special_bessel_j1": lambda x: mp.besselj(1, x),
    "special_bessel_y0": lambda x: mp.bessely(0, x),
    "special_bessel_y1": lambda x: mp.bessely(1, x),
    "special_erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "special_i1": lambda x: mp.besseli(1, x),
    "special_i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    "special_log_ndtr": lambda x: mp.log(_normal(x)),
    "special_modified_bessel_i0": lambda x: mp.besseli(0, x),
    "special_modified_bessel_i1": lambda x: mp.besseli(1, x),
    "special_modified_bessel_k0": lambda x: mp.besselk(0, x),
    "special_modified_bessel_k1": lambda x: mp.besselk(1, x),
    "special_ndtr": _normal,
    "special_scaled_modified_bessel_k0": lambda x: mp.besselk(0, x) * mp.exp(x),
    "special_scaled_modified_bessel_k1": lambda x: mp.besselk(1, x) * mp.exp(x),
    "special_zeta": mp.zeta,
}
MODERATE = 1e3

# Units of the last place that ours may be off where torch is not, if it is more than a few, and why.
WRONG_BY: dict[str, tuple[float, str]] = {
    "igamma": (512, "SciPy's power in front of the series has an error that grows with the order; torch's is 150"),
    "igammac": (512, "SciPy's series near x = 1 loses two digits; torch loses as many elsewhere"),
    "lgamma": (64, "between the negative integers SciPy's zeros are off by a part of a unit of the terms"),
    "special_airy_ai": (1e5, "of the phase of the oscillation; torch's is off as much elsewhere"),
    "special_bessel_y0": (64, "next to the first zero"),
}


# What is the same function under another name, or of the same function.
SAME_AS = {
    "arccos": "acos",
    "float_power.Scalar": "pow.Scalar",
    "float_power.Tensor_Tensor": "pow.Tensor_Tensor",
    "special_gammainc": "igamma",
    "special_multigammaln": "mvlgamma",
    "special_gammaincc": "igammac",
    "subtract.Tensor": "sub.Tensor",
}

# -------------------- what may differ --------------------

Inputs = list[np.ndarray]
Where = Callable[[Inputs, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Allowance:
    """Why results may differ from torch's, and where: by the inputs, ours and theirs."""

    reason: str
    where: Where


def _torch_overflows(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return ~np.isfinite(theirs) & np.isfinite(ours)


def _something_overflows(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return ~np.isfinite(ours) | ~np.isfinite(theirs)


def _any_nan(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return np.isnan(inputs[0]) | np.isnan(inputs[1])


def _nan_at(place: int) -> Where:
    return lambda inputs, ours, theirs: np.isnan(inputs[place])


def _cancels(inputs: Inputs, ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """A result much smaller than the terms of a sum, which is inputs[0] and a product."""
    with np.errstate(all="ignore"):
        return np.abs(ours) < 1e-3 * np.abs(inputs[0])


def _either(*conditions: Where) -> Where:
    return lambda *given: np.logical_or.reduce([each(*given) for each in conditions])


_FUSED = "torch multiplies and adds with one rounding and without overflow in between, which NumPy has no function for"
_NAN_PASSED = "of nan torch's vectorized loop gives {}, the loop for the last few elements the gradient, as we do"

ALLOWED = {
    "add.Tensor": Allowance(_FUSED, _something_overflows),
    "sub.Tensor": Allowance(_FUSED, _something_overflows),
    "rsub.Tensor": Allowance(_FUSED, _something_overflows),
    "addcmul": Allowance(_FUSED, _either(_something_overflows, _cancels)),
    "lerp.Tensor": Allowance(_FUSED, _something_overflows),
    "gcd": Allowance(
        "the least integer has no magnitude, which torch takes all the same",
        lambda inputs, ours, theirs: (inputs[0] == np.iinfo(ours.dtype).min) | (inputs[1] == np.iinfo(ours.dtype).min),
    ),
    "igamma": Allowance("torch looks at the other number before it looks for nan", _any_nan),
    "igammac": Allowance("torch looks at the other number before it looks for nan", _any_nan),
    "remainder.Tensor": Allowance(
        "nan in torch where the quotient overflows; the remainder is exact", _torch_overflows
    ),
    "fmod.Tensor": Allowance("nan in torch where the quotient overflows; the remainder is exact", _torch_overflows),
    "remainder.Scalar": Allowance(
        "nan in torch where the quotient overflows; the remainder is exact", _torch_overflows
    ),
    "fmod.Scalar": Allowance("nan in torch where the quotient overflows; the remainder is exact", _torch_overflows),
    "remainder.Scalar_Tensor": Allowance("nan in torch where the quotient overflows", _torch_overflows),
    "sinh": Allowance("torch overflows at 89 and 710, where exp does and half of it does not", _torch_overflows),
    "cosh": Allowance("torch overflows at 89 and 710, where exp does and half of it does not", _torch_overflows),
    "i0": Allowance("torch overflows at 89, where exp does and the function does not", _torch_overflows),
    "special_i1": Allowance("torch overflows at 89, where exp does and the function does not", _torch_overflows),
    "special_modified_bessel_i0": Allowance("torch overflows at 89, where exp does", _torch_overflows),
    "special_modified_bessel_i1": Allowance("torch overflows at 89, where exp does", _torch_overflows),
    "sigmoid_backward": Allowance(
        "another order of the products, for an output that no sigmoid has",
        lambda inputs, ours, theirs: (np.abs(inputs[1]) > 1) | (np.real(inputs[1]) < 0),
    ),
    "silu_backward": Allowance(
        "another order of the products, of which some are subnormal",
        lambda inputs, ours, theirs: np.abs(inputs[0]) < 1e-30,
    ),
    "logaddexp2": Allowance("a result that is next to nothing is as wrong as the numbers are", _cancels),
    "special_zeta.self_scalar": Allowance(
        "1 / x in the end, where torch has 0", lambda inputs, ours, theirs: np.abs(inputs[0]) > 1e150
    ),
    "mvlgamma": Allowance(
        "between the negative integers SciPy's lgamma is off by a part of a unit of its terms",
        lambda inputs, ours, theirs: inputs[0] < 0,
    ),
    "hardshrink_backward": Allowance(_NAN_PASSED.format("0"), _nan_at(1)),
    "softshrink_backward": Allowance(_NAN_PASSED.format("0"), _nan_at(1)),
    "hardtanh_backward": Allowance(_NAN_PASSED.format("0"), _nan_at(1)),
    "hardswish_backward": Allowance(_NAN_PASSED.format("nan"), _nan_at(1)),
    "softplus_backward": Allowance(
        "torch multiplies the gradient by exp(beta x) first, which overflows", _torch_overflows
    ),
    "gelu": Allowance("torch has nan at infinity", _torch_overflows),
    "gelu_backward": Allowance(
        "nan in torch for infinite and huge numbers, of which the slope is 0 or 1",
        lambda inputs, ours, theirs: np.isnan(theirs) | (np.abs(inputs[1]) > MODERATE) | np.isinf(inputs[0]),
    ),
}
