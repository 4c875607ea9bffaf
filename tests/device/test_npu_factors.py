"""Inverses and Cholesky factors on the NPU of matrices that have none: `info`, and errors where they are asked for."""

import re

import pytest

import mindtorch as torch
from tests.device.conftest import IS_NPU

pytestmark = [
    pytest.mark.skipif(not IS_NPU, reason="about the NPU"),
    pytest.mark.filterwarnings("ignore:CAUTION"),
]

GOOD = [[2.0, 1.0], [1.0, 2.0]]
CASES = {"cholesky": [[1.0, 2.0], [2.0, 1.0]], "inv": [[1.0, 2.0], [2.0, 4.0]]}


@pytest.mark.parametrize("name", CASES)
def test_failures_are_told(name):
    matrices = torch.tensor([GOOD, CASES[name], GOOD])
    result, info = getattr(torch.linalg, f"{name}_ex")(matrices.to("npu"))
    expected, counts = getattr(torch.linalg, f"{name}_ex")(matrices)
    assert info.cpu().bool().equal(counts.bool()) and info.dtype == counts.dtype
    assert torch.allclose(result.cpu()[::2], expected[::2])


@pytest.mark.parametrize("name", CASES)
def test_errors(name):
    """The text of the CPU but for the place, which ACLNN does not tell; the device goes on."""
    function, matrix = getattr(torch.linalg, name), torch.tensor(CASES[name])
    texts = []
    for device in ("cpu", "npu"):
        with pytest.raises(torch.linalg.LinAlgError) as failed:
            function(matrix.to(device))
        texts.append(re.sub(r"\d+", "1", str(failed.value)))
    assert texts[0] == texts[1]
    assert torch.allclose(function(torch.tensor(GOOD, device="npu")).cpu(), function(torch.tensor(GOOD)))


def test_errors_of_the_fallback():
    """`info` is looked at on every device."""
    with pytest.raises(torch.linalg.LinAlgError, match="torch.linalg.solve: The solver failed"):
        torch.linalg.solve(torch.zeros(2, 2, device="npu"), torch.ones(2, device="npu"))
