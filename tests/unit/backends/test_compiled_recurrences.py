"""Compiled loops of polynomials by degree: the values of the NumPy kernels, in all layouts, many elements at once."""

import re
from functools import cache

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="compiled loops need llvmlite")

from mindtorch.backends.cpu.compiled import building, loading, machine  # noqa: E402
from mindtorch.backends.cpu.compiled.choice import CompiledLoop  # noqa: E402
from mindtorch.backends.cpu.compiled.recurrences import RECURRENCES  # noqa: E402
from mindtorch.backends.cpu.special import polynomials  # noqa: E402
from tests.unit.backends.compiled_loops import DTYPES  # noqa: E402

ARGUMENTS = (-1.5, -1, -0.3, -0.0, 0, 0.25, 0.9, 1, 1.5, 3, np.inf, -np.inf, np.nan)
DEGREES = (-np.inf, -2, -0.5, 0, 0.5, 1, 2, 2.7, 3, 4, 5, 6, 7, 8, 9, 20, 127, 128, 129, 513, np.inf, np.nan)


@cache
def compiled(name):
    return loading.as_ufunc(name, building.build(name))


@pytest.fixture
def both(monkeypatch):
    """Calls the kernel without its compiled loop, and with it."""

    def call(name, x, n):
        results = []
        for chosen in (None, compiled(name)):
            with monkeypatch.context() as patch:
                patch.setattr(CompiledLoop, "get", lambda self, chosen=chosen: chosen)
                results.append(getattr(polynomials, name)(x, n))
        return results

    return call


def assert_near(found, expected):
    tolerance = {"float32": 2e-4, "float64": 1e-12}[expected.dtype.name]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    assert found.dtype is expected.dtype and found.strides == expected.strides


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", RECURRENCES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_are_those_of_numpys_kernel(both, name, dtype):
    x, n = np.array(ARGUMENTS, dtype), np.array(DEGREES, dtype)
    pairs = np.broadcast_arrays(np.repeat(x, 30)[:, None], n)
    for pair in (pairs, (pairs[0][::2, ::-1], pairs[1][::2]), (x[:, None], n), (x, np.array(5, dtype)), (0.25, n)):
        expected, found = both(name, *pair)
        assert_near(found, expected)


@pytest.mark.parametrize("name", RECURRENCES)
def test_each_element_has_the_same_bits_wherever_it_is(name):
    loop = compiled(name)
    x, n = np.linspace(-1.2, 1.2, 1000), np.arange(1000.0) % 9
    expected = loop(x, n)
    assert loop(x[::3], n[::3]).tobytes() == expected[::3].tobytes()
    assert b"".join(loop(x[at : at + 1], n[at : at + 1]).tobytes() for at in range(40)) == expected[:40].tobytes()
    assert loop(x, n, x) is x and x.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", RECURRENCES)
def test_steps_are_vectorized(name):
    text = machine.optimized(building.text(name))
    for each in ("float", "double"):
        assert re.search(rf"f(sub|add|mul) [a-z ]*<\d+ x {each}>|fma\.v\d+f|fmuladd\.v\d+f", text)
