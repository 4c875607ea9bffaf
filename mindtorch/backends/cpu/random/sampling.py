"""Random numbers that are found by trial: Poisson, binomial, gamma and Dirichlet.

How many uniform numbers an element takes is known only when it is done, so the elements follow each other, as in torch,
which draws the same numbers. The methods are those of Hörmann (transformed rejection, 1993) and of Marsaglia and
Tsang (gamma, 2000).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core.generator import Generator, default_generator
from mindtorch._support.numpy_functions import is_all
from mindtorch.backends.cpu.common.checks import not_implemented, scalar_name
from mindtorch.backends.cpu.random.normal import normal_from_pairs

Array = np.ndarray

_BITS = np.uint64((1 << 53) - 1)
_STEP = 2.0**-53
_FEW = 10  # from so many expected events on, trials are quicker than counting


class Uniform:
    """Uniform numbers one by one. They are drawn ahead; `close` puts the generator where the last one ended."""

    def __init__(self, source: Generator, portion: int) -> None:
        self._source = source
        self._portion = portion
        self._refill()

    def _refill(self) -> None:
        self._origin = self._source.clone_state()
        self._numbers = ((self._source.wide_draws(self._portion) & _BITS) * _STEP).tolist()
        self._used = 0

    def __call__(self) -> float:
        if self._used == self._portion:
            self._refill()
        number = self._numbers[self._used]
        self._used += 1
        return number

    def normal(self) -> float:
        """A normal number: one of a pair, of which the second is left over for the next time."""
        source = self._source
        if source.spare_normal is not None:
            number, source.spare_normal = source.spare_normal, None
            return number
        first = self()
        number, source.spare_normal = normal_from_pairs(first, self())
        return number

    def close(self) -> None:
        spare = self._source.spare_normal
        self._source.graphsafe_set_state(self._origin)
        self._source.wide_draws(self._used)
        self._source.spare_normal = spare


def _sampled(sample: Callable[..., float], generator: Any, *arrays: Array) -> Array:
    """A number for each element of arrays of one shape, in the order of their indices, as float64."""
    source = generator or default_generator
    uniform = Uniform(source, 2 * arrays[0].size + 2)
    numbers = [sample(uniform, *values) for values in zip(*(array.reshape(-1).tolist() for array in arrays))]
    uniform.close()
    return np.array(numbers, np.float64).reshape(arrays[0].shape)


# -------------------- Poisson --------------------


def poisson(input, generator=None):
    _check_dtype(input, "poisson_cpu", takes_half=True)
    if not is_all(input >= 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return _sampled(_poisson, generator, input.astype(np.float64)).astype(input.dtype)


def _check_dtype(input: Array, name: str, takes_half: bool = False) -> None:
    if input.dtype.char not in "fd" and not (takes_half and input.dtype.kind in "fV"):
        raise not_implemented(name, input)


def _poisson(uniform: Uniform, rate: float) -> float:
    if rate >= _FEW:
        return _poisson_by_trial(uniform, rate)
    return _poisson_by_counting(uniform, rate) if rate else 0.0


def _poisson_by_counting(uniform: Uniform, rate: float) -> float:
    """How many uniform numbers can be multiplied before the product is at most exp(-rate)."""
    end, product, count = math.exp(-rate), uniform(), 0
    while product > end:
        product *= uniform()
        count += 1
    return float(count)


def _poisson_by_trial(uniform: Uniform, rate: float) -> float:
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_scale = math.log(1.1239 + 1.1328 / (b - 3.4))
    quick = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform() - 0.5, uniform()
        us = 0.5 - abs(u)
        k = float(math.floor((2 * a / us + b) * u + rate + 0.43))
        if us >= 0.07 and v <= quick:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        chance = math.log(v) + log_scale - math.log(a / (us * us) + b)
        if chance <= -rate + k * log_rate - math.lgamma(k + 1):
            return k


# -------------------- binomial --------------------


def binomial(count, prob, generator=None):
    for name, array in (("count", count), ("prob", prob)):
        if array.dtype.kind not in "fV":
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {scalar_name(array)}")
    _check_dtype(count, "binomial_cpu")
    if count.dtype != prob.dtype:
        raise RuntimeError(f"Found dtype {scalar_name(prob)} but expected {scalar_name(count)}")
    iterator.broadcast_shapes(count.shape, prob.shape)
    rarer = np.where(prob > 0.5, 1 - prob, prob).astype(prob.dtype)
    arrays = np.broadcast_arrays(count, prob, rarer, count * rarer)
    return _sampled(_binomial, generator, *arrays).astype(count.dtype)


def _binomial(uniform: Uniform, count: float, chance: float, rarer: float, expected: float) -> float:
    """Counts successes or failures, whichever are `rarer`; so many are `expected` of these."""
    if count <= 0 or chance <= 0:
        return 0.0
    if math.isnan(chance):
        return math.nan
    if chance >= 1:
        return count
    method = _binomial_by_trial if expected >= _FEW else _binomial_by_counting
    found = method(uniform, count, rarer)
    return count - found if chance > 0.5 else found


def _binomial_by_counting(uniform: Uniform, count: float, chance: float) -> float:
    """How many successes fit, by the numbers of attempts that each takes."""
    log_failure, attempts, successes = math.log1p(-chance), 0.0, 0
    while True:
        drawn = uniform()
        attempts += math.ceil(math.log(drawn) / log_failure) if drawn else math.inf
        if attempts > count:
            return float(successes)
        successes += 1


def _binomial_by_trial(uniform: Uniform, count: float, chance: float) -> float:
    deviation = math.sqrt(count * chance * (1 - chance))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    centre, quick = count * chance + 0.5, 0.92 - 4.2 / b
    alpha, mode = (2.83 + 5.1 / b) * deviation, math.floor((count + 1) * chance)
    while True:
        u, v = uniform() - 0.5, uniform()
        us = 0.5 - abs(u)
        k = float(math.floor((2 * a / us + b) * u + centre))
        if k < 0 or k > count:
            continue
        if us >= 0.07 and v <= quick:
            return k
        if math.log(v * alpha / (a / (us * us) + b)) <= _log_ratio(count, chance, mode, k):
            return k


def _log_ratio(count: float, chance: float, mode: float, k: float) -> float:
    """The logarithm of how much less probable k is than the most probable number."""
    odds = chance / (1 - chance)
    return (
        (mode + 0.5) * math.log((mode + 1) / (odds * (count - mode + 1)))
        + (count + 1) * math.log((count - mode + 1) / (count - k + 1))
        + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
        + _stirling(mode)
        + _stirling(count - mode)
        - _stirling(k)
        - _stirling(count - k)
    )


_STIRLING = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _stirling(k: float) -> float:
    """What Stirling's formula leaves over."""
    if k < len(_STIRLING):
        return _STIRLING[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


# -------------------- gamma --------------------


def standard_gamma(input, generator=None):
    _check_dtype(input, "gamma_cpu")
    numbers = _sampled(_gamma, generator, input)
    return np.asarray(np.maximum(numbers.astype(input.dtype), np.finfo(input.dtype).tiny))


def _gamma(uniform: Uniform, alpha: float) -> float:
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = (1 - uniform()) ** (1 / alpha)
        alpha += 1
    d = alpha - 1.0 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = uniform.normal()
        while (y := 1 + c * x) <= 0:
            x = uniform.normal()
        v, u, square = y * y * y, 1 - uniform(), x * x
        if u < 1 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1 - v + math.log(v)):
            return scale * d * v


def sample_dirichlet(input, generator=None):
    _check_dtype(input, "dirichlet")
    numbers = _sampled(_gamma, generator, input)
    numbers = np.maximum(numbers, np.finfo(np.float64).tiny)
    shares = (numbers / numbers.sum(-1, keepdims=True)).astype(input.dtype)
    limits = np.finfo(input.dtype)
    return np.asarray(shares.clip(limits.tiny, 1 - limits.epsneg))
