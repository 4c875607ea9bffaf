"""Compares programs by the text that they print."""

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import mindtorch
from tests.parity.support.programs import every_warning

# A fraction, which may be the imaginary part of a number; integers are text.
_NUMBER = re.compile(r"((?:(?<![\w.])-?|[+-](?=[\d.e+-]+j))(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+))")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
# torch adds where in its sources a warning came from.
_ORIGIN = re.compile(r" \(Triggered internally at .*\)$", re.DOTALL)
# What torch says of its own parts: the compiler of programs, nested and sparse tensors, the protocol of NumPy.
_TORCHS_OWN = re.compile(
    "`?torch.jit|flex_attention called without|.*enable_nested_tensor|Attempted to insert a get_attr Node|"
    "Sparse invariant checks|__array_",
    re.DOTALL,
)


def _printed(program: Callable, T: Any) -> list[str]:
    """What a program says, and what it is warned of."""
    lines: list[str] = []
    with warnings.catch_warnings(record=True) as caught, every_warning(T):
        warnings.simplefilter("always")
        program(T, lambda *values: lines.append(" ".join(map(str, values))))
    given = [_ORIGIN.sub("", str(each.message)) for each in caught]
    lines += [f"warning: {text}" for text in given if not _TORCHS_OWN.match(text)]
    return [_ADDRESS.sub("@", re.sub(r"mindtorch(\.tensor\b)?", "torch", line)) for line in lines]


def _agree(own: str, expected: str) -> bool:
    """Equal, but for fractions that differ by rounding."""
    own_parts, expected_parts = _NUMBER.split(own), _NUMBER.split(expected)
    if [part.split() for part in own_parts[::2]] != [part.split() for part in expected_parts[::2]]:
        return False
    return all(map(_agree_as_numbers, own_parts[1::2], expected_parts[1::2]))


def _agree_as_numbers(own: str, expected: str) -> bool:
    """Equal but for the last digit, and written alike as far as the last bit does not decide how."""
    is_close = math.isclose(float(own), float(expected), rel_tol=2e-4, abs_tol=1.01e-4)
    return is_close and _written_alike(*(each.partition("e") for each in (own, expected)))


def _written_alike(*parts: tuple[str, str, str]) -> bool:
    """With as many digits, unless one is written with all that it has (0.49999997 and 0.5; 1e-08 and 9.9e-09), or is in
    a tensor of whole numbers, or nearly so (1. and 1.0000)."""
    fewer, more = sorted(len(number.partition(".")[2]) for number, _, _ in parts)
    return fewer == more or more > 4 or any("." not in number for number, _, _ in parts) or (fewer == 0 and more > 1)


def assert_same_text(program: Callable) -> None:
    own, expected = _printed(program, mindtorch), _printed(program, torch)
    differing = [pair for pair in zip(own, expected) if not _agree(*pair)]
    assert not differing, "\n".join(f"mindtorch: {one}\ntorch:     {other}" for one, other in differing[:5])
    assert len(own) == len(expected)


def printing_programs() -> tuple[Callable, Callable]:
    """A decorator for the programs of a module, and the test that compares each of them."""
    collected = []

    def program(function: Callable) -> Callable:
        collected.append(pytest.param(function, id=function.__name__))
        return function

    @pytest.mark.parametrize("program", collected)
    def test_same_text(program: Callable) -> None:
        assert_same_text(program)

    return program, test_same_text
