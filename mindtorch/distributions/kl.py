"""The Kullback-Leibler divergence of two distributions, by the formula that fits their classes best."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.distributions.distribution import Distribution

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Callable], Callable]:
    """A decorator: the function computes the divergence of these classes and their subclasses."""

    def register(function: Callable) -> Callable:
        _KL_REGISTRY[type_p, type_q] = function
        _formula_for.cache_clear()
        return function

    return register


@cache
def _formula_for(type_p: type, type_q: type) -> Callable | None:
    """The formula of the nearest classes. If p and q would have different ones, p decides, with a warning."""
    fitting = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not fitting:
        return None

    def distances(pair: tuple[type, type]) -> tuple[int, int]:
        return type_p.__mro__.index(pair[0]), type_q.__mro__.index(pair[1])

    left = min(fitting, key=distances)
    right = min(fitting, key=lambda pair: distances(pair)[::-1])
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        names = [each.__name__ for each in (type_p, type_q, *left, *right)]
        warn(
            "Ambiguous kl_divergence({}, {}). Please register_kl({}, {})".format(*names[:2], names[2], names[5]),
            RuntimeWarning,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """How much is lost if q stands for p: the mean of log(p / q) over samples of p."""
    kinds: tuple[type, type] = type(p), type(q)
    formula = _formula_for(*kinds)
    if formula is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type " f"{type(q).__name__}"
        )
    return formula(p, q)
