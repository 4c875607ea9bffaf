"""Sizes: the classes, the sizes that are drawn anew for each run, and samples made larger."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from math import prod
from typing import Any

from benchmarks.ops.recipes import Numbers, Recipe, numbers_in, seed_of
from codegen.keys import LAYERS

ELEMENTS = {"small": 16, "medium": 4096, "large": 1 << 20}
# Half of the cases get another size than the one above, between these, so that nothing can be tuned to it.
DRAWN = {"small": (8, 64), "medium": (1 << 10, 1 << 14), "large": (1 << 18, 1 << 21)}


def elements_of(name: str, size: str, seed: int) -> int:
    """How many elements the tensors of an op have about, in a run with this seed."""
    draw = random.Random(seed_of(name, size, seed))
    if draw.random() < 0.5:
        return ELEMENTS[size]
    low, high = DRAWN[size]
    return int(low * (high / low) ** draw.random())


def volume(recipe: Recipe) -> int:
    """The elements of the largest tensor that a call is given."""
    sizes = [prod(each.shape) for each in numbers_in([recipe.args, recipe.kwargs])]
    return max(sizes, default=0)


def _dimensions(recipe: Recipe) -> list[int]:
    """The lengths above one that dimensions have, those of the first tensors first."""
    shapes = [each.shape for each in numbers_in([recipe.args, recipe.kwargs])]
    return list(dict.fromkeys(length for length in chain(*shapes) if length > 1))


class Scaling:
    """A way to make a call larger: which lengths grow, and whether numbers among the arguments grow with them.

    `lengths`: those of dimensions; None for all. `sizes`: lists of numbers are sizes and grow, too; `numbers`: so are
    numbers. `indices`: the elements of index tensors reach as far as the tensors do.
    """

    def __init__(self, lengths: set[int] | None, sizes: bool, numbers: bool, indices: bool):
        self.lengths, self.sizes, self.numbers, self.indices = lengths, sizes, numbers, indices

    def __call__(self, recipe: Recipe, factor: int) -> Recipe:
        """The recipe with lengths multiplied by the factor."""
        args, kwargs = self._value(recipe.args, factor), self._value(recipe.kwargs, factor)
        return replace(recipe, args=args, kwargs=kwargs)

    def _length(self, length: int, factor: int) -> int:
        grows = length > 1 and (self.lengths is None or length in self.lengths)
        return length * factor if grows else length

    def _value(self, value: Any, factor: int) -> Any:
        if isinstance(value, Numbers):
            return self._tensor(value, factor)
        if isinstance(value, Mapping):
            return {name: self._value(item, factor) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            if self.sizes and value and all(type(item) is int for item in value):
                return type(value)(self._length(item, factor) for item in value)
            return type(value)(self._value(item, factor) for item in value)
        if self.numbers and type(value) is int:
            return self._length(value, factor)
        return value

    def _tensor(self, numbers: Numbers, factor: int) -> Numbers:
        shape = tuple(self._length(length, factor) for length in numbers.shape)
        reach = self.indices and numbers.dtype == "int64" and not numbers.grad and numbers.low >= 0
        high = (numbers.high + 1) * factor - 1 if reach else numbers.high
        return replace(numbers, shape=shape, high=high)


def scalings(recipe: Recipe) -> Iterator[Scaling]:
    """Ways to try, the ones that change most first; in the families of layers the first dimension alone."""
    lengths = _dimensions(recipe)
    ways: list[set[int] | None] = [None, *({length} for length in lengths)]
    if recipe.family in LAYERS:
        ways = [*ways[1:], None]
    if not lengths:  # a call without tensors, of which only numbers say how large the result is
        yield Scaling(None, True, False, False)
        yield Scaling(None, True, True, False)
        return
    for way in ways:
        for sizes in (False, True):
            for indices in (True, False):
                yield Scaling(way, sizes, False, indices)
