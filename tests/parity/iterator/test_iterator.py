"""TensorIterator: strides, dtypes, values, warnings and errors of results are torch's, for operands of any layout."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import mindtorch
from mindtorch.iterator import TensorIterator, TensorIteratorConfig
from tests.random_layouts import Layout, outcome, part_of, random_layout, random_shape

CASES = 1500
DTYPES = ("bool", "uint8", "int32", "int64", "float32", "float64", "complex64")


# -------------------- ops and their iterators --------------------


def with_operands(out: Any, *inputs: Any) -> TensorIteratorConfig:
    config = TensorIteratorConfig().add_output(out)
    for each in inputs:
        config.add_input(each)
    return config


def arithmetic(config: TensorIteratorConfig) -> TensorIteratorConfig:
    promoted = config.promote_inputs_to_common_dtype(True).cast_common_dtype_to_outputs(True)
    return promoted.enforce_safe_casting_to_output(True)


def floating(config: TensorIteratorConfig) -> TensorIteratorConfig:
    return arithmetic(config).promote_integer_inputs_to_float(True)


def comparison(config: TensorIteratorConfig) -> TensorIteratorConfig:
    return config.promote_inputs_to_common_dtype(True).declare_static_dtype(np.dtype(bool))


def of_one_dtype(config: TensorIteratorConfig) -> TensorIteratorConfig:
    return config


@dataclass(frozen=True)
class Op:
    name: str
    inputs: int
    configure: Callable[[TensorIteratorConfig], TensorIteratorConfig]
    loop: np.ufunc
    dtypes: tuple[str, ...] = DTYPES
    out_dtypes: tuple[str, ...] | None = None

    def iterator(self, out: Any, *inputs: Any) -> TensorIterator:
        arrays = [each._mt_array for each in inputs]
        return self.configure(with_operands(None if out is None else out._mt_array, *arrays)).build()

    def iterate(self, out: Any, *inputs: Any) -> np.ndarray:
        iterator = self.iterator(out, *inputs)
        with np.errstate(all="ignore"):
            iterator.run(lambda target, *operands: self.loop(*operands, out=target, casting="unsafe"))
        return iterator.output()


OPS = [
    Op("add", 2, arithmetic, np.add),
    Op("true_divide", 2, floating, np.true_divide, ("uint8", "int64", "float64")),
    Op("eq", 2, comparison, np.equal, out_dtypes=("bool",)),
    Op("bitwise_not", 1, of_one_dtype, np.invert, ("int32", "int64")),
    Op("sqrt", 1, floating, np.sqrt, ("bool", "int32", "float64")),
]


# -------------------- the tests --------------------


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_new_results(op):
    rng = random.Random(op.name)
    for _ in range(CASES):
        layouts = random_inputs(rng, op, random_shape(rng))
        theirs, ours = [[each.of(storage(library, each)) for each in layouts] for library in (torch, mindtorch)]
        expected = outcome(getattr(torch, op.name), *theirs)
        outcome(op.iterate, None, *ours).assert_equals(expected, layouts)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_given_outputs(op):
    """Of any layout, also expanded, of another shape or dtype, or over the memory of an input."""
    rng = random.Random(op.name)
    for _ in range(CASES):
        shape = random_shape(rng)
        inputs, target = random_inputs(rng, op, shape), random_output(rng, op, shape)
        shares = rng.random() < 0.2 and inputs[0].dtype == target.dtype
        theirs, ours = [operands(library, inputs, target, shares) for library in (torch, mindtorch)]
        expected = outcome(getattr(torch, op.name), *theirs[1:], out=theirs[0])
        found = outcome(op.iterate, *ours)
        if shares and inputs[0] != target:  # which elements are read before they are written is anybody's choice
            found.values = expected.values
        found.assert_equals(expected, (inputs, target, shares))


def random_inputs(rng: random.Random, op: Op, shape: tuple[int, ...]) -> list[Layout]:
    return [random_layout(rng, part_of(rng, shape), rng.choice(op.dtypes)) for _ in range(op.inputs)]


def random_output(rng: random.Random, op: Op, shape: tuple[int, ...]) -> Layout:
    own = rng.choice([shape, shape, random_shape(rng)])
    return random_layout(rng, own, rng.choice(op.out_dtypes or op.dtypes), expands=rng.random() < 0.1)


def operands(library: Any, inputs: list[Layout], target: Layout, shares: bool) -> list[Any]:
    """The output, in the memory of the first input if they share it, and the inputs."""
    storages = [storage(library, each, len(target.values()) if shares else 1) for each in inputs]
    out = target.of(storages[0] if shares else storage(library, target))
    return [out, *[each.of(own) for each, own in zip(inputs, storages)]]


def storage(library: Any, layout: Layout, at_least: int = 1) -> Any:
    return library.tensor(layout.values(at_least).tolist(), dtype=getattr(library, layout.dtype))
