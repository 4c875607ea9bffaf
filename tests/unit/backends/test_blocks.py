"""Computations in blocks give the bits that they give for a few elements at a time."""

import numpy as np
import pytest

import mindtorch as torch

OPS = {
    "lerp": lambda x, y, z: torch.lerp(x, y, z),
    "lerp of one end": lambda x, y, z: torch.lerp(x, x, z),
    "lerp in place": lambda x, y, z: x.clone().lerp_(y, z),
    "lerp into its weight": lambda x, y, z: torch.lerp(x, y, w := z.clone(), out=w),
    "threshold": lambda x, y, z: torch.nn.functional.threshold(x, 0.25, 2.5),
    "threshold in place": lambda x, y, z: torch.nn.functional.threshold_(x.clone(), 0.25, -0.0),
    "smooth_l1_loss": lambda x, y, z: torch.nn.functional.smooth_l1_loss(x, y, reduction="none", beta=0.7),
    "huber_loss": lambda x, y, z: torch.nn.functional.huber_loss(x, y, reduction="none", delta=0.7),
}
SIZES = [(1 << 15) - 1, 1 << 15, (1 << 15) + 1, 70000]
PART = 500


def operands(count, dtype):
    values = np.random.default_rng(count).standard_normal((3, count))
    values[:, ::97], values[1, ::89] = np.inf, np.nan
    return [torch.from_numpy(each).to(dtype) for each in values]


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_any_number_of_elements(name, dtype):
    for count in SIZES:
        tensors = operands(count, dtype)
        parts = [OPS[name](*[each[start : start + PART] for each in tensors]) for start in range(0, count, PART)]
        expected = torch.cat(parts).float().numpy()
        np.testing.assert_array_equal(OPS[name](*tensors).float().numpy(), expected)
        doubled = [torch.stack([each, each], 1)[:, 0] for each in tensors]
        np.testing.assert_array_equal(OPS[name](*doubled).float().numpy(), expected)
