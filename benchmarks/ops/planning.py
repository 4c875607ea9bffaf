"""From the table to cases: the first sample of an op that can be called, made as large as a size class says.

How large a call is shows when it is called: with tensors that grow fourfold, until inputs or results have as many
elements as they should, or until the call takes too long. mindtorch is asked, which refuses what does not fit together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

import mindtorch
from benchmarks.ops import layers
from benchmarks.ops.recipes import FORWARD, Dtype, Numbers, Recipe, is_float, replaced
from benchmarks.ops.side import Side, refusal, tensors_in
from benchmarks.ops.sizes import Scaling, scalings, volume
from tests.harness import dtypes_of, sampled_ops, samples_of, specs_in, variant
from tests.samples import DtypeOf, Sample, TensorSpec

LONGEST = 0.06  # seconds of one call: a larger one is not timed
DTYPES = ("float32", "complex64", "int64", "bool")
NAMESPACES = ("special", "linalg", "fft")


# -------------------- recipes from samples --------------------


def recipes_of_op(op: Any) -> Iterator[Recipe]:
    """The samples of an op as calls that programs make, of the most usual dtype."""
    places = list(places_of(op.schema.name))
    inplace, out = variant(op, "inplace"), variant(op, "out")
    method = inplace.schema.name if inplace and hasattr(mindtorch.Tensor, inplace.schema.name) else ""
    dtype = next((each for each in DTYPES if each in dtypes_of(op)), None)
    for sample in samples_of(op, dtype) if dtype and places else ():
        if is_plain(sample):
            args, kwargs = recipe_value(sample.args), recipe_value(sample.kwargs)
            for place in places:
                yield Recipe(op.name, op.family, place, args, kwargs, method, out is not None)


def places_of(name: str) -> Iterator[str]:
    """Where programs find an op, by its name in the schema."""
    if name.startswith("_") or name.endswith("_backward"):
        return
    namespace, _, short = name.partition("_")
    if namespace in NAMESPACES and hasattr(getattr(mindtorch, namespace), short):
        yield f"{namespace}.{short}"
    for place, holder in (("", mindtorch), ("nn.functional.", mindtorch.nn.functional), ("Tensor.", mindtorch.Tensor)):
        if hasattr(holder, name):
            yield place + name


def is_plain(sample: Sample) -> bool:
    """Whether a sample is a usual call: contiguous tensors with elements, all of them finite, and not refused."""
    specs = specs_in(sample)
    if sample.refusal or any(spec.layout != "plain" or not spec.data.size for spec in specs):
        return False
    return (not specs or max(spec.data.ndim for spec in specs) > 0) and all(
        np.isfinite(spec.data).all() for spec in specs
    )


def recipe_value(value: Any) -> Any:
    return replaced(value, _described)


def _described(value: Any) -> Any:
    if isinstance(value, DtypeOf):
        return Dtype(value.name)
    return described(value) if isinstance(value, TensorSpec) else value


def described(spec: TensorSpec) -> Numbers:
    """A sample's tensor by its shape and the bounds of its elements."""
    values = spec.data.real if np.iscomplexobj(spec.data) else spec.data
    numbers = Numbers(spec.data.shape, spec.dtype, float(values.min()), float(values.max()), kind_of(spec))
    return replace(numbers, grad=spec.differentiable and is_float(numbers))


def kind_of(spec: TensorSpec) -> str:
    data = spec.data
    if spec.domain:
        return spec.domain
    is_sorted = data.ndim == 1 and data.size > 3 and not np.iscomplexobj(data) and bool((data[1:] >= data[:-1]).all())
    return "sorted" if is_sorted else "uniform"


# -------------------- growing --------------------


@dataclass(frozen=True)
class Grower:
    """Recipes of one op by a number that they grow with, and how they began."""

    recipe: Recipe
    scaling: Scaling | None = None

    def at(self, factor: int) -> Recipe:
        """Layers grow with the number of elements, samples by a factor of lengths."""
        if self.scaling is None:
            return replace(self.recipe, elements=factor)
        return self.scaling(self.recipe, factor)


class Planner:
    """Finds how to make the ops' calls large, with a library that says whether they can be made."""

    def __init__(self) -> None:
        self.side = Side(mindtorch)
        self.sources = sources()
        self.growers: dict[str, Grower | None] = {}

    def grower(self, name: str) -> Grower | None:
        """The first recipe and way that work; None for an op that has none."""
        if name not in self.growers:
            self.growers[name] = next(filter(self._grows, self.sources[name].growers()), None)
        return self.growers[name]

    def _grows(self, grower: Grower) -> bool:
        """Whether a call can be made at once, and with more elements."""
        if grower.scaling is None:
            return True
        if refusal(self.side, grower.at(1), FORWARD):
            return False
        small = self._elements(grower.at(1))
        return refusal(self.side, grower.at(3), FORWARD) is None and self._elements(grower.at(3)) > small

    def _elements(self, recipe: Recipe) -> int:
        results = tensors_in(mindtorch, self.side.work())
        return int(max([volume(recipe), *(each.numel() for each in results)]))

    def sized(self, grower: Grower, elements: int) -> tuple[Recipe, int] | None:
        """The recipe with about so many elements, and how many they are."""
        if grower.scaling is None:
            return grower.at(elements), elements
        factor, reached, power = 1, 0, 1.0
        while True:
            if refusal(self.side, grower.at(factor), FORWARD):
                return None
            before, reached = reached, self._elements(grower.at(factor))
            if before:
                power = max(power, growth(before, reached))
            larger = next_factor(factor, reached, elements, power)
            if larger == factor or self._takes_long((larger / factor) ** power):
                return grower.at(factor), reached
            factor = larger

    def _takes_long(self, times: float) -> bool:
        """Whether a call on so many times as many elements would; asked again, as anything may have disturbed it."""
        return all(self.side.seconds() * times > LONGEST for _ in range(3))


def growth(before: int, after: int) -> float:
    """The power of the factor with which elements grow, when it became four times as large."""
    return float(np.log2(after / before) / 2)


def next_factor(factor: int, reached: int, wanted: int, power: float) -> int:
    """Four times as much, or as much as is missing; the same factor again when it is enough."""
    missing = (wanted / reached) ** (1 / power)
    return int(max(factor, min(4 * factor, ceil(factor * missing - 0.25))))


# -------------------- all ops --------------------


@dataclass(frozen=True)
class Source:
    """An op, layer, loss or optimizer: its family, and the ways of growing its calls."""

    family: str
    growers: Callable[[], Iterator[Grower]]


def sources() -> dict[str, Source]:
    """All of them, by name."""
    ops = [op for op in sampled_ops() if next(places_of(op.schema.name), None)]
    found = {op.name: Source(op.family, partial(_growers_of_op, op)) for op in ops}
    for name, family in layers.FAMILIES.items():
        recipe = Recipe(f"{family}/{name}", family, f"layers.{name}")
        found[recipe.name] = Source(family, partial(iter, [Grower(recipe)]))
    return found


def _growers_of_op(op: Any) -> Iterator[Grower]:
    for recipe in recipes_of_op(op):
        for scaling in scalings(recipe):
            yield Grower(recipe, scaling)
