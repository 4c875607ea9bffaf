"""Scalar expressions of ops.yaml, evaluated by NumPy: they are what the kernels compute that were written by hand."""

import ast
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest

from mindtorch.backends.cpu.compiled import choice, expressions
from tests.unit.backends.compiled_loops import DTYPES, extremes, numbers, of_numpy

NUMBERS = {  # the arguments that are no tensors
    "lambd": 0.5, "min_val": -1.0, "max_val": 1.5, "negative_slope": 0.01, "alpha": 1.3, "scale": 1.1,
    "input_scale": 0.7, "min": -0.5, "max": 1.2, "beta": 2.0, "threshold": 20.0, "value": 0.5, "nan": 3.0,
    "posinf": 7.0, "neginf": -7.0,
}  # fmt: skip
WITHIN = {"weight": (0.0, 1.0), "buffer": (0.0, 1.0)}
# Where terms of opposite signs meet, only the first operand, and what is about 1, tell how large an error may be. In
# float32 the kernels with erf that were written by hand have a tanh of a polynomial, which is exact to 1e-7 of it.
MEETING = {
    "gelu": 3e-7,
    "gelu_tanh": 0,
    "gelu_backward": 3e-7,
    "gelu_backward_tanh": 0,
    "erf": 3e-7,
    "logaddexp": 0,
    "logaddexp2": 0,
}


def operands_of(name, dtype):
    found = expressions.expression(name)
    return [
        (
            np.random.default_rng(seed).random(_operand("self", dtype, 0).size) < 0.5
            if each in found.masks
            else _operand(each, dtype, seed)
        )
        for seed, each in enumerate(found.operands)
    ]


def _operand(name, dtype, seed):
    if name in NUMBERS:
        return NUMBERS[name]
    x = numbers(dtype, seed, 500)
    rng = np.random.default_rng(seed + 100)
    ends = [rng.permutation(extremes(dtype)) for _ in range(2)]
    return (
        rng.uniform(*WITHIN[name], x.size).astype(dtype)
        if name in WITHIN
        else np.concatenate([x[: -len(ends[0])], ends[seed % 2]])
    )


@pytest.fixture(scope="module")
def by_hand():
    for family in set(expressions.families().values()):
        package = import_module(f"mindtorch.backends.cpu.{family}")
        for each in iter_modules(package.__path__, f"{package.__name__}."):
            import_module(each.name)
    return choice.numpy_loops()


def test_every_expression_belongs_to_a_kernel(by_hand):
    assert sorted(by_hand) == expressions.names()


@pytest.mark.parametrize("name", expressions.names())
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_expression_is_what_the_kernel_computes(by_hand, name, dtype):
    operands = operands_of(name, dtype)
    with np.errstate(all="ignore"):
        found = np.asarray(expressions.expression(name).of(of_numpy(dtype), *operands))
        expected = by_hand[name][dtype](*operands)
        away = np.abs(found - expected)
        scale = np.abs(expected) + (np.abs(operands[0]) + 1 if name in MEETING else 0)
    assert found.dtype == expected.dtype == dtype
    tolerance = max(8 * np.finfo(dtype).eps, MEETING.get(name, 0) * (dtype.itemsize == 4))
    wrong = ~(
        (found == expected)
        | (np.isnan(found) & np.isnan(expected))
        | (away <= tolerance * scale + np.finfo(dtype).tiny)
    )
    shown = [
        (*[each if np.isscalar(each) else each[place] for each in operands], found[place], expected[place])
        for place in np.flatnonzero(wrong)[:5]
    ]
    assert shown == []


def test_numpy_has_the_functions_of_vector_math():
    path = Path(expressions.__file__).with_name("vector_math.py")
    tree = ast.parse(path.read_text())
    named = {each.name: len(each.args.args) for each in tree.body if isinstance(each, ast.FunctionDef)}
    public = {name: count for name, count in named.items() if not name.startswith("_")}
    own = {name: value for name, value in vars(of_numpy(np.dtype(float))).items() if callable(value)}
    assert public.keys() == own.keys()
    plain = {name: value for name, value in own.items() if not isinstance(value, np.ufunc)}
    assert {name: len(signature(value).parameters) for name, value in plain.items()} == {
        each: public[each] for each in plain
    }
