"""Kernels of the orthogonal polynomials: Chebyshev's four kinds, these shifted to 0..1, Hermite, Laguerre, Legendre.

A polynomial of degree n follows from those of degrees n - 1 and n - 2. Where torch has a closed form, at the ends of
the interval and inside of it for high degrees, so have we: the results differ in their last digits.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mindtorch._core.promotion import BFLOAT16, COMPLEX, HALF, int_to_float
from mindtorch._support.numpy_functions import broadcast_to, is_all, is_any, is_within, largest
from mindtorch.backends.cpu.common.computing import FLOATS, Op, compute, loops
from mindtorch.backends.cpu.common.unsupported_dtypes import not_implemented
from mindtorch.backends.cpu.compiled.choice import IS_ON, CompiledLoop
from mindtorch.backends.cpu.compiled.recurrences import CLOSED_ABOVE, NAN_ABOVE
from mindtorch.iterator import broadcast_shapes
from mindtorch.iterator.constants import CONSTANTS

Array = np.ndarray
Step = Callable[[Array, Any, int, Array, Array, Array, Array], None]
Closed = Callable[[Array, Array, Array], Array]
Table = Callable[[Array, int], Array | None]
Fill = Callable[[Array, Array, Array], None]

_BLOCK = 1 << 12  # elements: of so many, a table stays in the cache
_ROWS = 16  # degrees of which a table has the values

# The functions here take flat arrays of x and of degrees, either of which can be of one element.


def _recurrence(x: Array, degree: Array, linear: Array, step: Step) -> Array:
    """The values for each element's degree, of which those below 0 have none: 0. A table has those for all degrees.

    `step(x, constants, number, last, before, spare, out)` writes the polynomial of a degree; `out` can be `before`.
    """
    spare, constants = np.empty(linear.size, linear.dtype), CONSTANTS[int][linear.dtype]
    if degree.size == 1:
        return _of_one_degree(x, int(degree[0]), linear, partial(step, x, constants), spare)
    result = np.zeros(max(linear.size, degree.size), linear.dtype)
    highest = int(largest(degree))
    table = np.empty((max(min(highest + 1, _ROWS), 0), linear.size), linear.dtype)
    places = np.arange(linear.size) if linear.size > 1 else 0
    before = last = linear
    for start in range(0, highest + 1, _ROWS):
        rows = table[: highest + 1 - start]
        for number, row in enumerate(rows, start):
            if number > 1:
                step(x, constants, number, last, before, spare, row)
            else:
                row[...] = linear if number else 1
            before, last = last, row
        _look_up(rows, degree - start, places, result)
    return result


def _rows(x: Array, linear: Array, step: Step, highest: int) -> Array:
    """A table of the values of all degrees up to the highest, and of those below 0 in the last row."""
    spare, constants = np.empty(linear.size, linear.dtype), CONSTANTS[int][linear.dtype]
    table = np.empty((highest + 2, linear.size), linear.dtype)
    table[0] = 1
    if highest:
        table[1] = linear
    for number in range(2, highest + 1):
        step(x, constants, number, table[number - 1], table[number - 2], spare, table[number])
    table[-1] = 0
    return table


def _look_up(table: Array, row: Array, places: Any, result: Array) -> None:
    """Writes the values of the elements that are in the table; the others are of a lower or a higher degree."""
    index = row * table.shape[1] if table.shape[1] > 1 else row.copy()
    index += places
    if is_within(row, 0, len(table)):
        table.take(index, out=result, mode="clip")
    else:
        inside = (row >= 0) & (row < len(table))
        result[inside] = table.take(index[inside])


def _of_one_degree(x: Array, degree: int, linear: Array, step: Callable[..., None], spare: Array) -> Array:
    if degree < 1:
        return np.full_like(linear, 1 if degree == 0 else 0)
    before, last = np.empty(linear.size, linear.dtype), linear.copy()
    before[...] = 1
    for number in range(2, degree + 1):
        step(number, last, before, spare, before)
        before, last = last, before
    return last


def _flat(array: Array, shape: tuple[int, ...]) -> Array:
    """All elements in a row; one, if that stands for all."""
    if array.ndim == 0:
        return array.reshape(1)
    if array.size == 1 or not any(array.strides):
        return array[(slice(1),) * array.ndim].reshape(1)
    return broadcast_to(array, shape).reshape(-1)


def _by_degree(computation: Callable[[Array, Array], Array], x: Array, degree: Array) -> Array:
    """Of one x, the values for all degrees are computed once, if the elements are several times as many."""
    highest = int(largest(degree))
    if x.size > 1 or degree.size == 1 or not 0 <= 4 * highest < degree.size:
        return computation(x, degree)
    values = computation(x, np.arange(highest + 1)).take(np.maximum(degree, 0))
    values[degree < 0] = 0
    return values


def _few(table: Table, x: Array, n: Array) -> Any:
    """The values for few elements of low degrees, from a table for each x: it is as long as x is, before it is
    broadcast. None if that is not what they are."""
    degree = n.astype(np.int64)
    highest = max(int(largest(degree)), 0)
    if highest >= _ROWS or not x.flags.c_contiguous or (rows := table(x.reshape(-1), highest)) is None:
        return None
    if not is_within(degree, 0, _ROWS):
        degree = np.maximum(degree, -1)
    if x.size == 1:
        return rows.take(degree, mode="wrap").reshape(broadcast_shapes(x.shape, n.shape))
    if n.size == 1:
        return rows[max(degree.item(), -1)].reshape(x.shape)
    return rows[degree, np.arange(x.size).reshape(x.shape)]


def _polynomial(
    op: str, computation: Callable[[Array, Array], Array], table: Table, closed_form: Fill | None = None
) -> Any:
    """A kernel of arrays or numbers; the degree is a whole number, in the dtype that it has in common with x. The table
    has the values for low degrees. Those that a compiled loop leaves out are filled in by the closed form."""
    compiled = CompiledLoop(op)

    def loop(x: Array, n: Array, out: Array | None = None) -> Array:
        if out is None:
            out = np.empty(broadcast_shapes(x.shape, n.shape), x.dtype)
        if out.size == 0:
            return out
        if IS_ON and (compiled_loop := compiled.get()) is not None:
            compiled_loop(x, n, out)
            if closed_form is not None:
                closed_form(x, n, out)
            return out
        if out.size <= _BLOCK and (result := _few(table, x, n)) is not None:
            out[...] = result
            return out
        values, degrees = _flat(x, out.shape), _flat(n, out.shape)
        result = out.reshape(-1) if out.flags.c_contiguous else np.empty(out.size, out.dtype)
        for start in range(0, out.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            pair = [each if each.size == 1 else each[part] for each in (values, degrees)]
            result[part] = _by_degree(computation, pair[0], pair[1].astype(np.int64))
        if not out.flags.c_contiguous:
            np.copyto(out, result.reshape(out.shape))
        return out

    unsupported = not_implemented(f"{op}_cpu", HALF, BFLOAT16, *COMPLEX)
    op = Op(loops(loop, FLOATS), int_to_float, unsupported=unsupported)

    def kernel(x: Any, n: Any, out: Array | None = None) -> Array:
        return compute(op, (x, n), out)

    return kernel


# -------------------- Chebyshev --------------------


def _times_two_x(
    two_x: Array, constants: Any, number: int, last: Array, before: Array, spare: Array, out: Array
) -> None:
    np.multiply(two_x, last, spare)
    np.subtract(spare, before, out)


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

# By kind: the polynomial of degree 1, given x and a one, the values at 1 and at -1 by degree, and the closed form
# between them.
_KINDS: dict[str, tuple[Callable[[Array, Array], Array], OfOne, OfOne, Closed]] = {
    "t": (lambda x, one: x, np.ones_like, _sign, _first_kind),
    "u": (lambda x, one: x + x, lambda degree: degree + 1, lambda degree: _sign(degree) * (degree + 1), _second_kind),
    "v": (lambda x, one: x + x - one, np.ones_like, lambda degree: _sign(degree) * (2 * degree + 1), _third_kind),
    "w": (lambda x, one: x + x + one, lambda degree: 2 * degree + 1, _sign, _fourth_kind),
}


def _chebyshev(kind: str, is_shifted: bool) -> Any:
    """Degrees that are higher than `closed_above` are computed by the closed form inside of the interval."""
    closed_above = CLOSED_ABOVE[kind, is_shifted]
    linear, right_end, left_end, closed = _KINDS[kind]

    def computation(given: Array, degree: Array) -> Array:
        number = CONSTANTS[int][given.dtype]
        x = given + given - number[1] if is_shifted else given
        at_left, at_right = np.equal(given, number[0 if is_shifted else -1]), np.equal(given, number[1])
        at_end = np.logical_or(at_left, at_right)
        if largest(degree) <= closed_above:
            result = _recurrence(x + x, degree, linear(x, number[1]), _times_two_x)
        else:
            result = inner(x, degree, at_end)
        if is_any(at_end):
            at_left, at_right, degree = [broadcast_to(each, result.shape) for each in (at_left, at_right, degree)]
            positive = degree > 0
            np.copyto(result, right_end(degree), where=at_right & positive, casting="unsafe")
            np.copyto(result, left_end(degree), where=at_left & positive, casting="unsafe")
        return result

    def inner(x: Array, degree: Array, at_end: Array) -> Array:
        """The values where some degree is higher; at the ends those of degrees up to 0 only."""
        x, degree, at_end = np.broadcast_arrays(x, degree, at_end)
        result = np.empty(x.size, x.dtype)
        by_form = write_closed(x, degree, at_end, result)
        if not is_all(by_form):
            others, low = x[~by_form], np.where(at_end, np.minimum(degree, 0), degree)[~by_form]
            first = linear(others, CONSTANTS[int][x.dtype][1])
            result[~by_form] = _recurrence(others + others, low, first, _times_two_x)
        return result

    def write_closed(x: Array, degree: Array, at_end: Array, result: Array) -> Array:
        """Writes the values that the closed form has, and tells which these are."""
        by_form = (degree > closed_above) & (np.abs(x) < 1) & ~at_end
        result[by_form] = closed(np.arccos(x[by_form]), degree[by_form].astype(x.dtype), x[by_form])
        return by_form

    def closed_form(given: Array, n: Array, out: Array) -> None:
        if largest(n) <= closed_above:
            return
        number = CONSTANTS[int][given.dtype]
        x = given + given - number[1] if is_shifted else given
        at_end = np.equal(given, number[0 if is_shifted else -1]) | np.equal(given, number[1])
        write_closed(*np.broadcast_arrays(x, n.astype(np.int64), at_end), out)

    def table(given: Array, highest: int) -> Array | None:
        if highest > closed_above:
            return None
        number = CONSTANTS[int][given.dtype]
        x = given + given - number[1] if is_shifted else given
        rows = _rows(x + x, linear(x, number[1]), _times_two_x, highest)
        for end, values in ((1, right_end), (0 if is_shifted else -1, left_end)):
            at_end = np.equal(given, number[end])
            if highest and is_any(at_end):
                degrees = np.arange(1, highest + 1)[:, None]
                np.copyto(rows[1:-1], values(degrees), where=at_end, casting="unsafe")
        return rows

    name = f"{'shifted_' if is_shifted else ''}chebyshev_polynomial_{kind}"
    return _polynomial(name, computation, table, closed_form)


chebyshev_polynomial_t = _chebyshev("t", is_shifted=False)
chebyshev_polynomial_u = _chebyshev("u", is_shifted=False)
chebyshev_polynomial_v = _chebyshev("v", is_shifted=False)
chebyshev_polynomial_w = _chebyshev("w", is_shifted=False)
shifted_chebyshev_polynomial_t = _chebyshev("t", is_shifted=True)
shifted_chebyshev_polynomial_u = _chebyshev("u", is_shifted=True)
shifted_chebyshev_polynomial_v = _chebyshev("v", is_shifted=True)
shifted_chebyshev_polynomial_w = _chebyshev("w", is_shifted=True)


# -------------------- Hermite, Laguerre, Legendre --------------------


def _hermite(op: str, factor: int) -> Any:
    """Factor 2 is the physicist's polynomial, 1 the probabilist's. Above some degree torch has only nan."""

    def step(x: Array, constants: Any, number: int, last: Array, before: Array, spare: Array, out: Array) -> None:
        np.multiply(x, last, spare)
        np.multiply(before, constants[factor * (number - 1)], out)
        np.subtract(spare, out, out)

    def computation(x: Array, degree: Array) -> Array:
        limit = NAN_ABOVE[x.dtype.name]
        linear = np.multiply(CONSTANTS[int][x.dtype][factor], x)
        if largest(degree) <= limit:
            return _recurrence(linear, degree, linear, step)
        result = _recurrence(linear, np.minimum(degree, limit), linear, step)
        np.copyto(result, np.nan, where=degree > limit)
        return result

    def table(x: Array, highest: int) -> Array:
        linear = np.multiply(CONSTANTS[int][x.dtype][factor], x)
        return _rows(linear, linear, step, highest)

    return _polynomial(op, computation, table)


def _next_laguerre(x: Array, constants: Any, number: int, last: Array, before: Array, spare: Array, out: Array) -> None:
    np.subtract(constants[2 * number - 1], x, spare)
    np.multiply(spare, last, spare)
    np.multiply(before, constants[number - 1], out)
    np.subtract(spare, out, out)
    np.divide(out, constants[number], out)


def _next_legendre(x: Array, constants: Any, number: int, last: Array, before: Array, spare: Array, out: Array) -> None:
    np.multiply(x, constants[2 * number - 1], spare)
    np.multiply(spare, last, spare)
    np.multiply(before, constants[number - 1], out)
    np.subtract(spare, out, out)
    np.divide(out, constants[number], out)


def _laguerre(x: Array, degree: Array) -> Array:
    return _recurrence(x, degree, np.subtract(CONSTANTS[int][x.dtype][1], x), _next_laguerre)


def _legendre(x: Array, degree: Array) -> Array:
    return _recurrence(x, degree, x, _next_legendre)


def _laguerre_table(x: Array, highest: int) -> Array:
    return _rows(x, np.subtract(CONSTANTS[int][x.dtype][1], x), _next_laguerre, highest)


def _legendre_table(x: Array, highest: int) -> Array:
    return _rows(x, x, _next_legendre, highest)


hermite_polynomial_h = _hermite("hermite_polynomial_h", 2)
hermite_polynomial_he = _hermite("hermite_polynomial_he", 1)
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", _laguerre, _laguerre_table)
legendre_polynomial_p = _polynomial("legendre_polynomial_p", _legendre, _legendre_table)
