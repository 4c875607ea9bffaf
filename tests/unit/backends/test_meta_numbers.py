"""Numbers in the first place of a call on meta, where the CPU's kernel is asked about the dtypes."""

import pytest

import mindtorch as torch

CALLS = {
    "mul": lambda x: torch.mul(3, x),
    "rsub": lambda x: 2 - x,
    "rpow": lambda x: 2**x,
    "where": lambda x: torch.where(x > 0, 1, x),
    "remainder": lambda x: torch.remainder(2, x),
    "comparison": lambda x: 3 > x,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_number_first(call):
    x = torch.ones(2, 3)
    found, expected = CALLS[call](x.to("meta")), CALLS[call](x)
    assert (found.shape, found.dtype, found.device.type) == (expected.shape, expected.dtype, "meta")
