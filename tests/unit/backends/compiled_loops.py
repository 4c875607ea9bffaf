"""What the tests of compiled loops share: the functions of scalar expressions in NumPy, exact values, and inputs."""

from types import SimpleNamespace

import numpy as np
from scipy import special

DTYPES = (np.dtype("float32"), np.dtype("float64"))
WIDER = {np.dtype("float32"): np.dtype("float64"), np.dtype("float64"): np.dtype("longdouble")}


def _clamp(x, low, high):
    return np.where(x < low, low, np.where(x > high, high, x))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def of_numpy(dtype, erf=special.erf, erfc=special.erfc):
    """The functions that expressions may call, on arrays of a dtype. SciPy has no error functions of long doubles."""

    def where(condition, a, b):
        return np.where(condition, *[dtype.type(each) if np.isscalar(each) else each for each in (a, b)])

    return SimpleNamespace(
        where=where, clamp=_clamp, maximum=np.maximum, minimum=np.minimum, abs=np.abs, copysign=np.copysign,
        sqrt=np.sqrt, trunc=np.trunc, floor=np.floor, isnan=np.isnan, exp=np.exp, exp2=np.exp2, expm1=np.expm1,
        log=np.log, log1p=np.log1p, tanh=np.tanh, sigmoid=_sigmoid, erf=erf, erfc=erfc,
        inf=np.inf, nan=np.nan, pi=np.pi,
    )  # fmt: skip


def extremes(dtype):
    """Borders of formats and functions, and what is no number."""
    limits = np.finfo(dtype)
    borders = [0.0, 0.5, 0.625, 0.92, 1.0, 2.0, 3.0, 6.0, 10.5, 20.0, 27.5, 88.72, 88.73, 87.34, 103.97, 104.0]
    borders += [709.78, 709.79, 745.13, 745.14, 1e10, limits.max, limits.tiny, limits.smallest_subnormal, limits.eps]
    positive = np.array(borders, dtype)
    with np.errstate(over="ignore", under="ignore"):
        near = [np.nextafter(positive, dtype.type(end)) for end in (0, np.inf)]
    near = np.concatenate([positive, *near])
    return np.concatenate([near, -near, np.array([np.inf, -np.inf, np.nan], dtype)])


def numbers(dtype, seed, count=20_000):
    """Of all sizes, and most of those at which functions bend; among them the extreme ones."""
    rng = np.random.default_rng(seed)
    integers = {4: np.uint32, 8: np.uint64}[dtype.itemsize]
    bits = rng.integers(0, np.iinfo(integers).max, count, dtype=integers).view(dtype)
    spread = [rng.normal(size=count), rng.uniform(-1.5, 1.5, count), rng.uniform(-100, 100, count)]
    return np.concatenate([*[each.astype(dtype) for each in spread], bits, extremes(dtype)])


def ulps(found, exact, dtype):
    """How far results are from exact ones, in units of the last place; infinite where one of the two is no number."""
    rounded = exact.astype(dtype)
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    usual = np.isfinite(found) & np.isfinite(rounded)
    away = np.abs(found.astype(exact.dtype) - exact) / np.spacing(np.abs(rounded)).astype(exact.dtype)
    return np.where(same & ~usual, 0, np.where(usual, away, np.inf))
