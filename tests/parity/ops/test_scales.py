"""Spreads of numbers whose squares are too large or too small for their dtype: they are summed in double precision."""

import numpy as np
import pytest
import torch

import mindtorch

FUNCTIONS = {
    "var": lambda T, x: x.var(-1),
    "var of columns": lambda T, x: x.var(0),
    "std": lambda T, x: x.std(-1),
    "std of columns": lambda T, x: x.std(0, keepdim=True),
    "std of all": lambda T, x: x.std(),
    "var_mean": lambda T, x: T.var_mean(x, -1),
    "std_mean": lambda T, x: T.std_mean(x, 0, correction=0),
    "var of a batch": lambda T, x: x[None].expand(3, *x.shape).var((0, 2)),
    "var of complex numbers": lambda T, x: T.complex(x, x.flip(-1)).var(-1),
}
SCALES = {"float32": (-140, -100, -75, -60, 0, 61, 64, 100, 126), "bfloat16": (-120, -70, 62, 66, 100, 120)}
CASES = [
    (name, dtype, scale)
    for name in FUNCTIONS
    for dtype, scales in SCALES.items()
    for scale in scales
    if "complex" not in name or dtype == "float32"
]


@pytest.mark.parametrize("offset", [0.0, 3.0], ids=["centered", "off"])
@pytest.mark.parametrize(("name", "dtype", "scale"), CASES)
def test_spread(name, dtype, scale, offset):
    function = FUNCTIONS[name]
    numbers = (np.random.default_rng(1).standard_normal((5, 40)) / 4 + offset / 8) * 2.0**scale
    ours, theirs = [T.from_numpy(numbers).to(getattr(T, dtype)) for T in (mindtorch, torch)]
    limits = torch.finfo(theirs.dtype)
    for each, true in zip(parts(function(mindtorch, ours)), parts(function(torch, theirs.double())), strict=True):
        found, wanted = np.array(each.tolist()), np.array(true.tolist())
        finite = np.isfinite(true.to(theirs.dtype).tolist())
        assert np.isfinite(found).tolist() == finite.tolist()
        step = max(limits.eps * np.abs(wanted).max(), limits.smallest_normal * limits.eps)
        assert np.abs(found - wanted)[finite].max(initial=0.0) <= 2 * step


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("shape", [(40_000,), (20_000, 3)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_long_logarithms_of_sums(shape, dtype):
    """Each step adds to a number that is much larger."""
    numbers = (np.random.default_rng(0).random(shape) + 1e4).astype(dtype)
    found, wanted = (T.from_numpy(numbers).logcumsumexp(0).numpy() for T in (mindtorch, torch))
    largest = numbers.real.astype(np.float64).max(0)
    true = largest + np.log(np.cumsum(np.exp(numbers.real.astype(np.float64) - largest), 0))
    limit = max(4 * np.abs(wanted - true).max(), np.finfo(dtype).eps * true.max())
    assert np.abs(found - true).max() <= limit


@pytest.mark.filterwarnings("error:.*encountered:RuntimeWarning", "ignore:.*degrees of freedom:UserWarning")
@pytest.mark.parametrize("name", ["var_mean", "std_mean"])
@pytest.mark.parametrize("numbers", [[], [float("nan"), 1.0], [float("inf"), 1.0], [3e38, 3e38, 3e38]], ids=str)
def test_means_of_what_is_not_finite(name, numbers):
    """NumPy has nothing to say about them."""
    spread, mean = getattr(mindtorch, name)(mindtorch.tensor(numbers))
    assert np.isfinite(mean.item()) == bool(np.isfinite(numbers).all() and numbers)
    assert spread.item() == 0 if np.isfinite(mean.item()) else np.isnan(spread.item())
