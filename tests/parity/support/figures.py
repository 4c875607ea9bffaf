"""Compares programs by their figures: losses, metrics, shapes, texts, nested as they like."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import mindtorch


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def _agree(own: Any, expected: Any) -> bool:
    """Equal, or numbers that differ by rounding."""
    if type(own) is not type(expected):
        return False
    if isinstance(own, float):
        return math.isclose(own, expected, rel_tol=2e-4, abs_tol=2e-5) or (math.isnan(own) and math.isnan(expected))
    return own == expected


def assert_same_figures(program: Callable) -> None:
    own, expected = list(_flat(program(mindtorch))), list(_flat(program(torch)))
    differing = [(place, *pair) for place, pair in enumerate(zip(own, expected)) if not _agree(*pair)]
    assert not differing, f"place, mindtorch, torch: {differing[:5]}"
    assert len(own) == len(expected)


def figures() -> tuple[Callable, Callable]:
    """A decorator for the programs of a module, and the test that compares each of them."""
    collected = []

    def program(function: Callable) -> Callable:
        collected.append(pytest.param(function, id=function.__name__))
        return function

    @pytest.mark.parametrize("program", collected)
    @pytest.mark.filterwarnings("ignore")  # such programs also call what torch has deprecated
    def test_same_figures(program: Callable) -> None:
        assert_same_figures(program)

    return program, test_same_figures
