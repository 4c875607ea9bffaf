"""Operands in random layouts, and what a call on them did: for the tests that compare two ways to the same result."""

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mindtorch._core import geometry

# -------------------- operands --------------------


@dataclass(frozen=True)
class Layout:
    """A view of a one-dimensional buffer; strides and offset in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    offset: int = 0

    def values(self, at_least: int = 1) -> np.ndarray:
        """A buffer with room for all elements."""
        last = sum((size - 1) * stride for size, stride in zip(self.shape, self.strides) if size)
        return (np.arange(max(self.offset + last + 1, at_least)) % 5).astype(self.dtype)

    def of(self, buffer: Any) -> Any:
        """The view of a tensor of either library."""
        return buffer.as_strided(self.shape, self.strides, self.offset)

    def array(self) -> np.ndarray:
        """The view of a new buffer."""
        return self.of_array(self.values())

    def of_array(self, buffer: np.ndarray) -> np.ndarray:
        strides = [stride * buffer.itemsize for stride in self.strides]
        return np.ndarray(self.shape, buffer.dtype, buffer, self.offset * buffer.itemsize, strides)


def random_shape(rng: random.Random) -> tuple[int, ...]:
    sizes = rng.choice([(2, 3, 4), (1, 2, 3), (1, 1, 4), (0, 1, 2, 3), (2, 2, 2)])
    return tuple(rng.choice(sizes) for _ in range(rng.choice([0, 1, 2, 3, 3, 4, 4, 4])))


def random_layout(rng: random.Random, shape: tuple[int, ...], dtype: str, expands: bool = True) -> Layout:
    """Any order of the dimensions, steps and gaps in some, strides of 0 in some.

    But no strides of 0 without elements: NumPy writes nothing else for an array that has none, so they say nothing.
    """
    strides, unit, is_plain = [0] * len(shape), 1, rng.random() < 0.5
    order = rng.choice([range(len(shape))[::-1], rng.sample(range(len(shape)), len(shape)), _channels_last(len(shape))])
    for dim in order:
        if expands and not is_plain and 0 not in shape and rng.random() < 0.15:
            continue
        step = 1 if is_plain else rng.choice([1, 1, 1, 2])
        strides[dim] = unit * step
        unit *= max(shape[dim], 1) * step + (0 if is_plain else rng.choice([0, 0, 0, 1]))
    return Layout(shape, tuple(strides), dtype, 0 if is_plain else rng.choice([0, 0, 3]))


def _channels_last(ndim: int) -> list[int]:
    """The dimensions in the order of an image batch whose channels lie next to each other, innermost first."""
    return [1, *range(ndim - 1, 1, -1), 0] if ndim > 2 else list(range(ndim))


def part_of(rng: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that is expanded to this one."""
    kept = shape[rng.choice([0, 0, 0, rng.randint(0, len(shape))]) :]
    return tuple(1 if rng.random() < 0.15 else size for size in kept)


# -------------------- outcomes --------------------


@dataclass
class Outcome:
    """What a call did: its error, or its warnings and its result."""

    error: str | None = None
    warnings: set[str] = field(default_factory=set)
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    dtype: str = ""
    values: Any = field(default=None, compare=False)

    def assert_equals(self, expected: "Outcome", case: Any) -> None:
        assert self == expected, case
        if expected.error is None:
            np.testing.assert_array_equal(self.values, expected.values, str(case))


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Outcome:
    """Of a call that gives an array or a tensor."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args, **kwargs)
        except RuntimeError as error:
            return Outcome(str(error).partition("\n")[0])
    # torch says it again when a temporary array of another dtype is resized, too
    texts = {str(each.message).partition(" (Triggered internally")[0] for each in caught}
    strides = geometry.strides_of(result) if isinstance(result, np.ndarray) else result.stride()
    return Outcome(None, texts, tuple(result.shape), strides, str(result.dtype).split(".")[-1], result.tolist())
