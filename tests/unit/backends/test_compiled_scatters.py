"""The compiled loop that adds rows to those that an index means: the bits of one addition after the other."""

import re

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="compiled loops need llvmlite")

from mindtorch.backends.cpu.compiled import building, loading, machine  # noqa: E402
from mindtorch.backends.cpu.compiled.scatters import ADD_ROWS  # noqa: E402
from tests.unit.backends.compiled_loops import DTYPES  # noqa: E402


@pytest.fixture(scope="module")
def add_rows():
    return loading.as_ufunc(ADD_ROWS, building.build(ADD_ROWS))


def expected_of(index, source, target):
    result = target.copy()
    for place, row in zip(index, source):
        result[place] += row
    return result


def spread(x):
    return np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3]


@pytest.mark.parametrize("length", [1, 2, 7, 16, 100])
@pytest.mark.parametrize("layout", [np.array, np.asfortranarray, spread, lambda x: x[::-1].copy()[::-1]])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_are_added_one_after_the_other(add_rows, dtype, layout, length):
    rng = np.random.default_rng(length)
    index = rng.integers(0, 9, 200)
    source, target = [rng.normal(size=(count, length)).astype(dtype) for count in (200, 9)]
    expected = expected_of(index, source, target)
    for laid in (target.copy(), layout(target)):
        found = add_rows(index, layout(source), laid)
        assert found is laid and found.tobytes() == expected.tobytes()


def test_many_at_once_and_an_index_with_gaps(add_rows):
    rng = np.random.default_rng(0)
    source, target, index = rng.normal(size=(4, 30, 5)), rng.normal(size=(4, 6, 5)), rng.integers(0, 6, 60)[::2]
    expected = np.stack([expected_of(index, *each) for each in zip(source, target)])
    assert add_rows(index, source, target).tobytes() == expected.tobytes()


def test_nothing_is_added(add_rows):
    target = np.ones((3, 2))
    assert add_rows(np.zeros(0, np.int64), np.zeros((0, 2)), target).tolist() == [[1, 1]] * 3


def test_long_rows_are_vectorized():
    text = machine.optimized(building.text(ADD_ROWS))
    for each, format in (("float", "float32"), ("double", "float64")):
        (body,) = re.findall(rf'define internal [^\n]*@"?{format}\.dense"?\(.*?\n}}', text, re.S)
        assert re.search(rf"fadd <\d+ x {each}>", body)
