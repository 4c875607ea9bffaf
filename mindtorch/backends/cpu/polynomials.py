"""Kernels of the orthogonal polynomials: Chebyshev's four kinds, these shifted to 0..1, Hermite, Laguerre, Legendre.

A polynomial of degree n follows from those of degrees n - 1 and n - 2. Where torch has a closed form, at the ends of
the interval and inside of it for high degrees, so have we: the results differ in their last digits.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._core.promotion import BFLOAT16, COMPLEX, FLOAT, HALF, int_to_float
from mindtorch.backends.cpu.computing import FLOATS, Op, compute, loops
from mindtorch.backends.cpu.refusals import not_implemented

Array = np.ndarray
Next = Callable[[Array, int, Array, Array], Array]
Closed = Callable[[Array, Array, Array], Array]


def _recurrence(x: Array, degree: Array, linear: Array, following: Next) -> Array:
    """The values for each element's degree, of which those below 0 have none: 0."""
    result = np.where(degree == 0, x.dtype.type(1), np.where(degree == 1, linear, x.dtype.type(0)))
    before, last = np.ones_like(linear), linear
    for number in range(2, int(degree.max(initial=0)) + 1):
        before, last = last, following(x, number, last, before)
        np.copyto(result, last, where=degree == number)
    return result


def _polynomial(op: str, computation: Callable[[Array, Array], Array]) -> Any:
    """A kernel of arrays or numbers; the degree is a whole number, in the dtype that it has in common with x."""

    def loop(x: Array, n: Array, out: Array | None = None) -> Array:
        result = np.asarray(computation(*np.broadcast_arrays(x, n.astype(np.int64))), x.dtype)
        if out is None:
            return result
        np.copyto(out, result)
        return out

    refusals = not_implemented(f"{op}_cpu", HALF, BFLOAT16, *COMPLEX)
    op = Op(loops(loop, FLOATS), int_to_float, refusals=refusals)

    def kernel(x: Any, n: Any, out: Array | None = None) -> Array:
        return compute(op, (x, n), out)

    return kernel


# -------------------- Chebyshev --------------------


def _times_two_x(x: Array, number: int, last: Array, before: Array) -> Array:
    return (x + x) * last - before


def _sign(degree: Array) -> Array:
    """1 for even degrees, -1 for odd ones."""
    return np.where(degree % 2 == 0, 1, -1)


def _first_kind(angle: Array, degree: Array, x: Array) -> Array:
    return np.cos(degree * angle)


def _second_kind(angle: Array, degree: Array, x: Array) -> Array:
    sine = np.sin(angle)
    return np.where(sine != 0, np.sin((degree + 1) * angle) / sine, (degree + 1) * np.cos((degree + 1) * angle) / x)


def _third_kind(angle: Array, degree: Array, x: Array) -> Array:
    at_left_end = _sign(degree) * (2 * degree + 1)
    return np.where(np.sin(angle / 2) != 1, np.cos((degree + 0.5) * angle) / np.cos(angle / 2), at_left_end)


def _fourth_kind(angle: Array, degree: Array, x: Array) -> Array:
    at_right_end = np.where(x > 0, 2 * degree + 1, _sign(degree))
    return np.where(np.cos(angle / 2) != 1, np.sin((degree + 0.5) * angle) / np.sin(angle / 2), at_right_end)


OfOne = Callable[[Array], Any]

# By kind: the polynomial of degree 1, the values at 1 and at -1 by degree, and the closed form between them.
_KINDS: dict[str, tuple[OfOne, OfOne, OfOne, Closed]] = {
    "t": (lambda x: x, np.ones_like, _sign, _first_kind),
    "u": (lambda x: x + x, lambda degree: degree + 1, lambda degree: _sign(degree) * (degree + 1), _second_kind),
    "v": (lambda x: x + x - 1, np.ones_like, lambda degree: _sign(degree) * (2 * degree + 1), _third_kind),
    "w": (lambda x: x + x + 1, lambda degree: 2 * degree + 1, _sign, _fourth_kind),
}


def _chebyshev(kind: str, closed_above: int, is_shifted: bool) -> Any:
    """Degrees that are higher than `closed_above` are computed by the closed form inside of the interval."""
    linear, right_end, left_end, closed = _KINDS[kind]

    def computation(given: Array, degree: Array) -> Array:
        x = given + given - 1 if is_shifted else given
        at_left, at_right = (given == 0, given == 1) if is_shifted else (given == -1, given == 1)
        by_form = (degree > closed_above) & (np.abs(x) < 1) & ~at_left & ~at_right
        low = np.where(by_form | at_left | at_right, np.minimum(degree, 0), degree)
        result = _recurrence(x, low, linear(x), _times_two_x)
        positive = degree > 0
        np.copyto(result, right_end(degree), where=at_right & positive, casting="unsafe")
        np.copyto(result, left_end(degree), where=at_left & positive, casting="unsafe")
        inside = x[by_form]
        result[by_form] = closed(np.arccos(inside), degree[by_form].astype(x.dtype), inside)
        return result

    return _polynomial(f"{'shifted_' if is_shifted else ''}chebyshev_polynomial_{kind}", computation)


chebyshev_polynomial_t = _chebyshev("t", 6, is_shifted=False)
chebyshev_polynomial_u = _chebyshev("u", 8, is_shifted=False)
chebyshev_polynomial_v = _chebyshev("v", 8, is_shifted=False)
chebyshev_polynomial_w = _chebyshev("w", 8, is_shifted=False)
shifted_chebyshev_polynomial_t = _chebyshev("t", 6, is_shifted=True)
shifted_chebyshev_polynomial_u = _chebyshev("u", 6, is_shifted=True)
shifted_chebyshev_polynomial_v = _chebyshev("v", 6, is_shifted=True)
shifted_chebyshev_polynomial_w = _chebyshev("w", 4, is_shifted=True)


# -------------------- Hermite, Laguerre, Legendre --------------------


def _hermite(op: str, factor: int) -> Any:
    """Factor 2 is the physicist's polynomial, 1 the probabilist's. Above some degree torch has only nan."""

    def following(x: Array, number: int, last: Array, before: Array) -> Array:
        return factor * x * last - (factor * (number - 1)) * before

    def computation(x: Array, degree: Array) -> Array:
        limit = 128 if x.dtype is FLOAT else 512
        result = _recurrence(x, np.minimum(degree, limit), factor * x, following)
        result[degree > limit] = np.nan
        return result

    return _polynomial(op, computation)


def _next_laguerre(x: Array, number: int, last: Array, before: Array) -> Array:
    return ((2 * number - 1 - x) * last - (number - 1) * before) / number


def _next_legendre(x: Array, number: int, last: Array, before: Array) -> Array:
    return ((2 * number - 1) * x * last - (number - 1) * before) / number


def _laguerre(x: Array, degree: Array) -> Array:
    return _recurrence(x, degree, 1 - x, _next_laguerre)


def _legendre(x: Array, degree: Array) -> Array:
    return _recurrence(x, degree, x, _next_legendre)


hermite_polynomial_h = _hermite("hermite_polynomial_h", 2)
hermite_polynomial_he = _hermite("hermite_polynomial_he", 1)
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", _laguerre)
legendre_polynomial_p = _polynomial("legendre_polynomial_p", _legendre)
