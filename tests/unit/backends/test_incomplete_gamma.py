"""The complement of the incomplete gamma function keeps its digits where it is known from other functions."""

import math

import pytest

import mindtorch


@pytest.mark.parametrize("x", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.05, 1.1, 1.2, 3.0])
def test_half(x):
    found = mindtorch.igammac(mindtorch.tensor(0.5).double(), mindtorch.tensor(x, dtype=mindtorch.float64)).item()
    assert math.isclose(found, math.erfc(math.sqrt(x)), rel_tol=4e-15)
