"""Polynomials by degree, each of which follows from the two before it, as compiled kernels compute them.

The functions take numbers of `values`; `m` has what else they call.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Recurrence(NamedTuple):
    """`linear(x)` is the polynomial of degree 1, `step(x, number, last, before)` that of degree `number`.

    `given` makes x of the argument. `is_elsewhere(m, argument, x, degree)` tells of which elements the value is none of
    these: it is `elsewhere(m, argument, x, degree)` there.
    """

    linear: Callable[[Any], Any]
    step: Callable[[Any, Any, Any, Any], Any]
    given: Callable[[Any], Any]
    is_elsewhere: Callable[[Any, Any, Any, Any], Any] | None = None
    elsewhere: Callable[[Any, Any, Any, Any], Any] | None = None


# -------------------- Chebyshev --------------------


def _sign(m: Any, degree: Any) -> Any:
    """1 for even degrees, -1 for odd ones."""
    half = degree * 0.5
    return m.where(half == m.trunc(half), 1, -1)


def _one(m: Any, degree: Any) -> Any:
    return degree * 0 + 1


def _signed(odd: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda m, degree: _sign(m, degree) * odd(degree)


def _next_chebyshev(x: Any, number: Any, last: Any, before: Any) -> Any:
    return (x + x) * last - before


class Chebyshev(NamedTuple):
    """A kind: the polynomial of degree 1, and the values at 1 and at -1 by degree."""

    linear: Callable[[Any], Any]
    at_right: Callable[[Any, Any], Any]
    at_left: Callable[[Any, Any], Any]


_KINDS = {
    "t": Chebyshev(lambda x: x, _one, _sign),
    "u": Chebyshev(lambda x: x + x, lambda m, degree: degree + 1, _signed(lambda degree: degree + 1)),
    "v": Chebyshev(lambda x: x + x - 1, _one, _signed(lambda degree: degree + degree + 1)),
    "w": Chebyshev(lambda x: x + x + 1, lambda m, degree: degree + degree + 1, _sign),
}

# The degrees above which torch computes by a closed form inside of the interval, by kind and whether it is shifted.
CLOSED_ABOVE = {
    ("t", False): 6, ("u", False): 8, ("v", False): 8, ("w", False): 8,
    ("t", True): 6, ("u", True): 6, ("v", True): 6, ("w", True): 4,
}  # fmt: skip


def _chebyshev(kind: str, is_shifted: bool) -> Recurrence:
    """What has a closed form is 0 here, and left to who calls the kernel."""
    linear, at_right, at_left = _KINDS[kind]
    left_end = 0 if is_shifted else -1

    def is_elsewhere(m: Any, argument: Any, x: Any, degree: Any) -> Any:
        at_end = (argument == 1) | (argument == left_end)
        return ((degree > 0) & at_end) | ((degree > CLOSED_ABOVE[kind, is_shifted]) & (m.abs(x) < 1))

    def elsewhere(m: Any, argument: Any, x: Any, degree: Any) -> Any:
        return m.where(argument == 1, at_right(m, degree), m.where(argument == left_end, at_left(m, degree), 0))

    return Recurrence(linear, _next_chebyshev, shifted if is_shifted else as_it_is, is_elsewhere, elsewhere)


def shifted(argument: Any) -> Any:
    return argument + argument - 1


def as_it_is(argument: Any) -> Any:
    return argument


# -------------------- Hermite, Laguerre, Legendre --------------------


NAN_ABOVE = {"float32": 128, "float64": 512}  # the degrees of Hermite's


def _hermite(factor: int) -> Recurrence:
    """Above some degree torch has only nan."""

    def step(x: Any, number: Any, last: Any, before: Any) -> Any:
        return factor * x * last - factor * (number - 1) * before

    def is_elsewhere(m: Any, argument: Any, x: Any, degree: Any) -> Any:
        return degree > NAN_ABOVE[degree.format.name]

    return Recurrence(lambda x: factor * x, step, as_it_is, is_elsewhere, lambda m, argument, x, degree: m.nan)


def _next_laguerre(x: Any, number: Any, last: Any, before: Any) -> Any:
    return ((number + number - 1 - x) * last - (number - 1) * before) / number


def _next_legendre(x: Any, number: Any, last: Any, before: Any) -> Any:
    return ((number + number - 1) * x * last - (number - 1) * before) / number


RECURRENCES = {
    **{
        f"{'shifted_' if is_shifted else ''}chebyshev_polynomial_{kind}": _chebyshev(kind, is_shifted)
        for kind, is_shifted in CLOSED_ABOVE
    },
    "hermite_polynomial_h": _hermite(2),
    "hermite_polynomial_he": _hermite(1),
    "laguerre_polynomial_l": Recurrence(lambda x: 1 - x, _next_laguerre, as_it_is),
    "legendre_polynomial_p": Recurrence(lambda x: x, _next_legendre, as_it_is),
}
