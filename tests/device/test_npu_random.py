"""Random numbers that NPU kernels make of uniform and normal ones: their distributions, seeds and refusals."""

import math

import numpy as np
import pytest

import mindtorch as torch
from mindtorch.backends.npu import fallback
from tests.device.conftest import IS_NPU

pytestmark = pytest.mark.skipif(not IS_NPU, reason="about the NPU")

COUNT = 20_000
# Each op, and its distribution function.
DRAWN = {
    "exponential_": ((2.0,), lambda x: 1 - np.exp(-2 * x)),
    "cauchy_": ((1.0, 0.5), lambda x: np.arctan((x - 1) / 0.5) / math.pi + 0.5),
    "log_normal_": ((0.5, 0.75), lambda x: 0.5 * (1 + np.vectorize(math.erf)((np.log(x) - 0.5) / 0.75 / math.sqrt(2)))),
    "geometric_": ((0.3,), None),
}


def drawn(name, dtype, seed, count=COUNT):
    x = torch.empty(count, dtype=dtype, device="npu")
    generator = torch.Generator("npu").manual_seed(seed)
    assert getattr(x, name)(*DRAWN[name][0], generator=generator) is x
    return x.cpu().to(torch.float64).numpy()


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_distributions(name, dtype):
    fallback.used.clear()
    values = np.sort(drawn(name, dtype, 5))
    assert not fallback.used
    parameters, below = DRAWN[name]
    if below is None:
        assert values[0] == 1
        for place in range(1, 8):
            assert abs(np.mean(values == place) - 0.3 * 0.7 ** (place - 1)) < 0.02
    else:
        values = values[np.isfinite(values)]
        expected = (np.arange(len(values)) + 0.5) / len(values)
        assert np.abs(below(values) - expected).max() < (0.02 if dtype in (torch.float32, torch.float64) else 0.03)


@pytest.mark.parametrize("name", DRAWN)
def test_seeds(name):
    first = drawn(name, torch.float32, 5, 100)
    assert np.array_equal(drawn(name, torch.float32, 5, 100), first)
    assert not np.array_equal(drawn(name, torch.float32, 6, 100), first)


def test_whole_numbers():
    x = torch.empty(COUNT, dtype=torch.int64, device="npu").geometric_(0.5)
    assert x.min() == 1 and abs(x.double().mean().item() - 2) < 0.1


REFUSED = [
    (lambda x: x.exponential_(-1.0), "exponential_ expects lambda > 0.0"),
    (lambda x: x.cauchy_(0, 0), "cauchy_ expects sigma > 0.0"),
    (lambda x: x.log_normal_(0, -1), "log_normal_ expects std > 0.0"),
    (lambda x: x.geometric_(1.5), r"geometric_ expects p to be in \(0, 1\)"),
    (lambda x: x.random_(4, 4), "random_ expects 'from' to be less than 'to'"),
    (lambda x: x.char().random_(0, 200), "to - 1 is out of bounds for signed char"),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_refusals(call, text):
    for device in ("cpu", "npu"):
        with pytest.raises(RuntimeError, match=text):
            call(torch.ones(3, device=device))


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32])
def test_bounds_of_integers(dtype):
    x = torch.empty(COUNT, dtype=dtype, device="npu").random_(3, 9).cpu()
    assert sorted(set(x.tolist())) == [3, 4, 5, 6, 7, 8]
    wide = torch.empty(COUNT, dtype=dtype, device="npu").random_(1, None).cpu().double()
    host = torch.empty(COUNT, dtype=dtype).random_(1, None).double()
    assert wide.min() >= 1 and abs(wide.mean().item() / host.mean().item() - 1) < 0.05
