"""Compares the Jacobians that autograd gives with central differences.

Note [Fast mode]: an entry-by-entry comparison calls the function twice for each element of the inputs. In fast mode the
Jacobian J is compared by one number, v^T J u, with random vectors of positive numbers v and u (in forward mode by the
vector J u). The differences give J u from two calls, backward gives v^T J from one.

Note [Complex numbers]: backward differentiates real outputs, so that of complex ones the real and the imaginary parts
are functions of their own; and forward mode takes real directions, so that the parts of complex inputs are inputs of
their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch._core.generator import Generator
from mindtorch._core.interop import from_numpy
from mindtorch.autograd.gradcheck.analytical import ForwardColumns, backward_jacobians, backward_products
from mindtorch.autograd.gradcheck.arguments import (
    as_tuple,
    elements_of,
    is_complex,
    is_float,
    places_of,
    requires_grad,
    sources_of,
    with_all_elements,
)
from mindtorch.autograd.gradcheck.errors import GradcheckError, in_slow_mode, mismatch
from mindtorch.autograd.gradcheck.numerical import Differences, vector_of
from mindtorch.dispatch import ops


@dataclass(frozen=True, slots=True)
class Options:
    """How closely, and how, Jacobians are compared."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool
    fast_mode: bool
    masked: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """A function, its arguments and what it returns. `part` says which part of the `complex_places` it is about."""

    function: Callable
    arguments: tuple
    results: tuple
    part: str = ""
    complex_places: frozenset[int] = frozenset()

    @property
    def sources(self) -> list[Any]:
        return [value for _, value in sources_of(self.arguments)]

    @property
    def outputs(self) -> list[Any]:
        """The results that require grad."""
        return [value for _, value in sources_of(self.results)]

    @property
    def positions(self) -> list[int]:
        """Where they are among the results."""
        return [position for position, _ in sources_of(self.results)]

    def part_of(self, kind: str, place: int) -> str:
        return (
            f"While considering the {self.part} part of complex {kind} only, " if place in self.complex_places else ""
        )


# -------------------- complex functions in parts --------------------


def output_parts(function: Callable, arguments: tuple, results: tuple) -> list[Subject]:
    """The function, or both parts of one with complex outputs. See Note [Complex numbers]."""
    if not any(map(is_complex, results)):
        return [Subject(function, arguments, results)]
    places = frozenset(i for i, output in enumerate(filter(requires_grad, results)) if is_complex(output))
    functions = {part: _part_of_outputs(function, take) for part, take in (("imaginary", ops.imag), ("real", ops.real))}
    return [Subject(own, arguments, own(*arguments), part, places) for part, own in functions.items()]


def _part_of_outputs(function: Callable, take: Callable) -> Callable:
    def taken(*arguments: Any) -> tuple:
        return tuple(take(each) if is_complex(each) else each for each in as_tuple(function(*arguments)))

    return taken


def input_parts(function: Callable, arguments: tuple, results: tuple) -> list[Subject]:
    """The function, or one function of each part of its complex inputs. See Note [Complex numbers]."""
    places = frozenset(i for i, value in enumerate(arguments) if is_complex(value))
    if not places:
        return [Subject(function, arguments, results)]
    subjects = []
    for part, take, join in (
        ("imaginary", ops.imag, lambda value, whole: whole.real + value * 1j),
        ("real", ops.real, lambda value, whole: value + whole.imag * 1j),
    ):
        own = _function_of_part(function, arguments, join)
        values = tuple(take(value) if is_complex(value) else value for value in arguments)
        subjects.append(Subject(own, values, as_tuple(own(*values)), part, places))
    return subjects


def _function_of_part(function: Callable, arguments: tuple, join: Callable) -> Callable:
    """A function of one part of the complex arguments. The other part stays what it is: it may matter."""

    def joined(*values: Any) -> Any:
        pairs = zip(values, arguments, strict=True)
        return function(*[join(value, whole) if is_complex(whole) else value for value, whole in pairs])

    return joined


# -------------------- backward --------------------


def check_backward(subject: Subject, options: Options) -> None:
    if not subject.outputs:
        _check_flat(subject, options)
    elif options.fast_mode:
        _check_backward_products(subject, options)
    else:
        _check_backward_jacobians(subject, options)


def _differences(subject: Subject, outputs: Sequence[int], options: Options) -> Differences:
    arguments = subject.arguments if options.masked else tuple(map(with_all_elements, subject.arguments))
    return Differences(subject.function, arguments, outputs, options.eps)


def _check_flat(subject: Subject, options: Options) -> None:
    """Outputs without gradients must not depend on the inputs."""
    differences = _differences(subject, [i for i, output in enumerate(subject.results) if is_float(output)], options)
    if options.fast_mode:
        found, tolerance = differences.products(_numerical(_directions(subject), subject, options)), options.nondet_tol
    else:
        found, tolerance = differences.jacobians(), 0.0
    if any(np.any(np.abs(matrix) > tolerance) for own in found for matrix in own):
        raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_backward_jacobians(subject: Subject, options: Options) -> None:
    numerical = _differences(subject, subject.positions, options).jacobians()
    for i, output in enumerate(subject.outputs):
        analytical = backward_jacobians(output, subject.sources, options.nondet_tol)
        for j, found in enumerate(analytical):
            expected = numerical[j][i]
            if not np.allclose(found, expected, options.rtol, options.atol):
                raise GradcheckError(_text(found, expected, i, j, "", subject.part_of("outputs", i)))


def _check_backward_products(subject: Subject, options: Options) -> None:
    generator = Generator()
    directions = [_direction(source, generator) for source in subject.sources]
    weights = [_random(output.numel(), output.dtype, output.device, generator) for output in subject.outputs]
    numerical = _differences(subject, subject.positions, options).products(_numerical(directions, subject, options))
    analytical = [
        backward_products(output, subject.sources, weight, options.nondet_tol)
        for output, weight in zip(subject.outputs, weights, strict=True)
    ]
    for j, (source, direction) in enumerate(zip(subject.sources, directions, strict=True)):
        for i, weight in enumerate(weights):
            expected = vector_of(weight) @ numerical[j][i]
            found = _along(analytical[i][j], _in_full(direction, source))
            tolerance = options.atol * _sum(direction) * float(weight.sum())
            if not np.allclose(found, expected, options.rtol, tolerance):
                text = _text(found, expected, i, j, "", subject.part_of("outputs", i))
                raise GradcheckError(text + _backward_in_slow_mode(subject, i, j, options))


def _backward_in_slow_mode(subject: Subject, i: int, j: int, options: Options) -> str:
    numerical = Differences(subject.function, subject.arguments, subject.positions, options.eps).jacobians()[j][i]
    analytical = backward_jacobians(subject.outputs[i], subject.sources, np.inf)[j]
    return _slow_text(numerical, analytical, options)


# -------------------- forward --------------------


def check_forward(subject: Subject, options: Options) -> None:
    if not subject.positions:
        _check_flat(subject, options)
        return
    differences = _differences(subject, subject.positions, options)
    columns = ForwardColumns(subject.function, subject.arguments, subject.positions, options.check_grad_dtypes)
    if not options.fast_mode:
        _compare_forward(
            subject, columns.jacobians(), differences.jacobians(), [options.atol] * len(subject.sources), options
        )
        return
    directions = _directions(subject)
    tolerances = [options.atol * _sum(direction) for direction in directions]
    numerical = differences.products(_numerical(directions, subject, options))
    _compare_forward(subject, columns.products(directions), numerical, tolerances, options)


def _compare_forward(
    subject: Subject, analytical: list, numerical: list, tolerances: list[float], options: Options
) -> None:
    for j, (own, expected_ones, (place, _)) in enumerate(
        zip(analytical, numerical, sources_of(subject.arguments), strict=True)
    ):
        for i, (found, expected) in enumerate(zip(own, expected_ones, strict=True)):
            if not np.allclose(found, expected, options.rtol, tolerances[j]):
                text = _text(found, expected, i, j, "computed with forward mode ", subject.part_of("inputs", place))
                raise GradcheckError(
                    text + (_forward_in_slow_mode(subject, i, j, options) if options.fast_mode else "")
                )


def _forward_in_slow_mode(subject: Subject, i: int, j: int, options: Options) -> str:
    numerical = Differences(subject.function, subject.arguments, subject.positions, options.eps).jacobians()[j][i]
    analytical = ForwardColumns(subject.function, subject.arguments, subject.positions, False).jacobians()[j][i]
    return _slow_text(numerical, analytical, options)


# -------------------- random vectors --------------------


def _directions(subject: Subject) -> list[tuple]:
    generator = Generator()
    return [_direction(source, generator) for source in subject.sources]


def _direction(source: Any, generator: Generator) -> tuple:
    """A vector over the elements that are in memory; one for each part of a complex input."""
    count = elements_of(source).numel()
    dtype = source.real.dtype if source.is_complex() else source.dtype
    return tuple(_random(count, dtype, source.device, generator) for _ in range(2 if source.is_complex() else 1))


def _random(count: int, dtype: Any, device: Any, generator: Generator) -> Any:
    vector = ops.rand((count,), generator=generator, device="cpu").to(device, dtype)
    return vector / vector.norm()


def _numerical(directions: list[tuple], subject: Subject, options: Options) -> list[tuple]:
    """The directions for differences: of a sparse input that is given all its elements, over all of them."""
    if options.masked:
        return directions
    return [_in_full(own, source) for own, source in zip(directions, subject.sources, strict=True)]


def _in_full(direction: tuple, source: Any) -> tuple:
    """The direction over all elements of an input, zero for those that are not in memory."""
    if elements_of(source) is source:
        return direction
    places = places_of(source)
    full = [ops.zeros((source.numel(),), dtype=part.dtype, device=part.device) for part in direction]
    for whole, part in zip(full, direction, strict=True):
        whole[places] = part
    return tuple(full)


def _along(gradient: np.ndarray, direction: tuple) -> Any:
    real, *imaginary = map(vector_of, direction)
    return gradient.real @ real + 1j * (gradient.imag @ imaginary[0]) if imaginary else gradient @ real


def _sum(direction: tuple) -> float:
    return sum(float(part.sum()) for part in direction)


# -------------------- texts --------------------


def _text(found: Any, expected: Any, i: int, j: int, mode: str, part: str) -> str:
    return mismatch(_shown(found), _shown(expected), i, j, mode, part)


def _slow_text(numerical: np.ndarray, analytical: np.ndarray, options: Options) -> str:
    agrees = bool(np.allclose(analytical, numerical, options.rtol, options.atol))
    return in_slow_mode(_shown(numerical), _shown(analytical), np.abs(numerical - analytical).max(), agrees)


def _shown(array: Any) -> Any:
    return from_numpy(np.asarray(array))
