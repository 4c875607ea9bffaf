"""Runs a small program with mindtorch and with torch, and compares everything that can be seen of it.

A program is a function of the library. What it returns or raises, and what it warns of, must be the same: values,
dtypes, shapes, strides, `requires_grad`, names of nodes, texts.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

import mindtorch

# Warnings about parts of torch, and of where in its sources a kernel is that another one takes the place of.
_TORCHS_OWN = (
    ".*torch.jit.*",
    "There is a performance drop",
    "Warning only once for all operators",
    ".*when there are global hooks on modules",
)
# torch adds where in its sources a warning came from.
_ORIGIN = re.compile(r" \(Triggered internally at .*\)$", re.DOTALL)
_ADDRESS = re.compile(r"0x[0-9a-f]+")


def sample(T: Any, *shape: int, requires_grad: bool = True, seed: int = 0, dtype: Any = None) -> Any:
    """The same numbers in both libraries."""
    numbers = np.random.RandomState(seed + sum(shape)).randn(*shape).astype(np.float32)
    tensor = T.tensor(numbers.tolist(), dtype=dtype or T.float32)
    return tensor.requires_grad_() if requires_grad else tensor


class Rounded:
    """The elements of a tensor. Fractions equal those that differ from them by rounding only, the others themselves."""

    def __init__(self, tensor: Any, T: Any) -> None:
        is_fraction = tensor.is_floating_point() or tensor.is_complex()
        wide = (T.complex128 if tensor.is_complex() else T.float64) if is_fraction else tensor.dtype
        self.array = np.array(tensor.to(wide).reshape(-1).tolist())
        # A hundred roundings of single precision; halves are rounded to theirs at the end.
        self.tolerance = max(1e-5, T.finfo(tensor.dtype).eps) if is_fraction else None

    def __eq__(self, other: object) -> bool:
        """Called with those of a tensor of the same shape and dtype."""
        assert isinstance(other, Rounded)
        if self.tolerance is None:
            return np.array_equal(self.array, other.array)
        return np.allclose(self.array, other.array, self.tolerance, 1e-5, equal_nan=True)

    __hash__ = None

    def __repr__(self) -> str:
        return str(self.array.tolist())


def _visible(value: Any, T: Any) -> Any:
    """What can be compared of a result."""
    if isinstance(value, T.Tensor):
        plain = value.detach()
        facts = (str(value.dtype), tuple(value.shape), tuple(value.stride()), value.requires_grad)
        return (*facts, Rounded(plain, T))
    if isinstance(value, (list, tuple)):
        return [_visible(each, T) for each in value]
    if isinstance(value, dict):
        return {key: _visible(each, T) for key, each in value.items()}
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _ADDRESS.sub("@", value if isinstance(value, str) else repr(value))


@contextmanager
def every_warning(T: Any) -> Iterator[None]:
    """Also those that come once in a program: otherwise the tests that ran before would decide what is seen."""
    T.set_warn_always(True)
    try:
        yield
    finally:
        T.set_warn_always(False)


def outcome(program: Callable, T: Any) -> tuple:
    """What a program returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught, every_warning(T):
        warnings.simplefilter("always")
        for text in _TORCHS_OWN:
            warnings.filterwarnings("ignore", message=text)
        try:
            result = _visible(program(T), T)
        except (RuntimeError, TypeError, ValueError, LookupError, AssertionError, AttributeError) as error:
            result = f"{type(error).__name__}: {error}"
    return result, [_ORIGIN.sub("", str(warning.message)) for warning in caught]


def assert_same(program: Callable) -> None:
    own, expected = outcome(program, mindtorch), outcome(program, torch)
    assert own == expected, f"\nmindtorch: {own}\ntorch:     {expected}"


def programs(check: Callable = assert_same) -> tuple[Callable, Callable]:
    """A decorator for the programs of a module, and the test that checks each of them."""
    collected = []

    def program(function: Callable) -> Callable:
        collected.append(pytest.param(function, id=function.__name__))
        return function

    @pytest.mark.parametrize("program", collected)
    def test_program(program: Callable) -> None:
        check(program)

    return program, test_program
