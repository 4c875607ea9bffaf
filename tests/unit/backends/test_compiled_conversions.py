"""Compiled conversions of 16-bit numbers: the bits that NumPy and ml_dtypes give, in every layout."""

import re

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="compiled loops need llvmlite")

from mindtorch.backends.cpu.compiled import building, loading, machine  # noqa: E402
from mindtorch.backends.cpu.compiled.conversions import CONVERSIONS  # noqa: E402
from tests.unit.backends.test_halves import ALL, layouts, singles  # noqa: E402

DTYPES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16), "float32": np.dtype(np.float32)}


@pytest.fixture(scope="module")
def compiled():
    return {name: loading.as_ufunc(name, building.build(name)) for name in CONVERSIONS}


def any_singles():
    """With random bits, and quiet nan of both signs; of other nan the bits are not the same everywhere."""
    random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 18, dtype=np.uint32).view(np.float32)
    middles = (np.arange(1 << 17, dtype=np.uint32) << 15).view(np.float32)  # exact for bfloat16, and half-way
    numbers = np.concatenate([singles(), random, middles])
    special = np.array([np.nan, -np.nan, np.inf, -np.inf], np.float32)
    return np.concatenate([numbers[~np.isnan(numbers)], special])


def numbers_of(name):
    source, target = [DTYPES[each] for each in name.split("_to_")]
    return (any_singles() if source.itemsize == 4 else ALL.view(source)), target


def bits(array):
    return array if array.itemsize == 4 and array.dtype.kind == "f" else array.view(np.uint16)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_have_the_bits_of_numpy(compiled, name):
    numbers, target = numbers_of(name)
    with np.errstate(all="ignore"):
        expected = numbers.astype(target)
        found = compiled[name](bits(numbers)).view(target)
    integers = np.uint32 if target.itemsize == 4 else np.uint16
    wrong = np.flatnonzero(found.view(integers) != expected.view(integers))
    assert not wrong.size, (numbers[wrong][:5], found[wrong][:5], expected[wrong][:5])


@pytest.mark.parametrize("name", CONVERSIONS)
@pytest.mark.parametrize("layout", list(layouts(ALL)))
def test_conversions_of_every_layout(compiled, name, layout):
    numbers = bits(numbers_of(name)[0])[: 1 << 16]
    array = layouts(numbers)[layout]
    found = compiled[name](array)
    assert found.tobytes() == compiled[name](array.copy()).tobytes()
    out = np.zeros((*array.shape, 2), found.dtype)
    compiled[name](array, out[..., 1])
    assert out[..., 1].tobytes() == found.tobytes() and not out[..., 0].any()


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_are_vectorized(name):
    text = machine.optimized(building.text(name))
    assert re.search(r"<\d+ x i32>", text)
    called = set(re.findall(r"call [^\n]*@([\w.]+)\(", text))
    assert not [each for each in called if not each.startswith("llvm.")]
