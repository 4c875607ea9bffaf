"""Ranges and filled tensors: bounds, steps, dtypes, errors."""

import warnings

import pytest
import torch

import mindtorch
from tests.parity.ops.calls import operands
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same
from tests.parity.support.roundings import agree

RANGES = [
    (0, 5, 1),
    (0, 5, 0.3),
    (5, 0, -1),
    (1.5, -7.25, -0.7),
    (0, 100, 0.1),
    (-2.5, 2.5, 1),
    (5, 0, 1),
    (0, 5, 0),
    (3, 3, 1),
]


@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int64", "int32", "uint8"])
def test_ranges(dtype):
    for bounds in RANGES:
        for make in MAKERS:
            own, expected = (_made(make, T, dtype, bounds) for T in (mindtorch, torch))
            same = agree(own, expected, 1) if isinstance(expected, torch.Tensor) else own == expected
            assert same, (bounds, own, expected)


def _made(make, T, dtype, bounds):
    try:
        return make(T, dtype and getattr(T, dtype), *bounds)
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)


MAKERS = (
    lambda T, dtype, start, end, step: T.arange(start, end, step, dtype=dtype),
    lambda T, dtype, start, end, step: T.linspace(start, end, 17, dtype=dtype),
    lambda T, dtype, start, end, step: T.full((2, 2), end, dtype=dtype),
)


# Each is called with the library, its `tensor`, and the operands.
CALLS = {
    "linspace": lambda T, t, m: [
        lambda: T.linspace(t([0.0, 1]), 2, 3),
        lambda: T.linspace(0, t(2), 3),
        lambda: T.linspace(t(0.0), t([2]), 3),
    ],
    "logspace": lambda T, t, m: [
        lambda: T.logspace(0, 2, 3),
        lambda: T.logspace(0, 2, 5, base=2),
        lambda: T.logspace(0, 2, -1),
        lambda: T.logspace(0, 2, 3, dtype=T.int64),
        lambda: T.logspace(t(0.0), 2, 3),
        lambda: T.logspace(0, 2, 1),
        lambda: T.logspace(0, 1j, 3),
    ],
    "range": lambda T, t, m: [
        lambda: T.range(0, 3),
        lambda: T.range(0, 3, 0.5),
        lambda: T.range(3, 0),
        lambda: T.range(0, 3, 0),
        lambda: T.range(0, 3, dtype=T.int64),
        lambda: T.range(3, 0, -1),
        lambda: T.range(0, float("nan")),
        lambda: T.range(0, float("inf")),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_errors(name):
    def program(T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [tried(call) for call in CALLS[name](T, T.tensor, operands(T))]

    assert_same(program)


@pytest.mark.parametrize("op", ["tril_indices", "triu_indices"])
def test_places_of_a_triangle(op):
    def program(T):
        make = getattr(T, op)
        sizes = [(0, 3), (3, 0), (1, 1), (3, 4), (5, 2), (-1, 3), (3, -2)]
        results = [tried(make, *size, offset) for size in sizes for offset in (-9, -2, -1, 0, 1, 3, 9)]
        return results + [tried(make, 3, 3, dtype=getattr(T, name)) for name in ("int32", "int16", "float32", "bool")]

    assert_same(program)
