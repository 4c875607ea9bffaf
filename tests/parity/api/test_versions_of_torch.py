"""`__version__` is that of the PyTorch whose behaviour this is, and compares as its own does."""

import pytest
import torch

import mindtorch
from tests.parity.support.programs import assert_same

OTHERS = [
    "2.13", "2.13.0", "2.13.0+cpu", "2.13.0a0+git", "1.0", "3", "2.9", "2.13.1.dev20250101", "parrot", "",
    (2, 13), (2, 9), [2, 13, 0], (2, "13"), ("a",), (2, 13, "0a0"), 3, None, 2.13,
]  # fmt: skip


def test_the_same_release():
    assert mindtorch.__version__ == torch.__version__.partition("+")[0]
    assert mindtorch.version.git_version == torch.version.git_version
    for name in ("cuda", "hip", "rocm", "xpu", "debug"):
        assert getattr(mindtorch.version, name) == getattr(torch.version, name)


@pytest.mark.parametrize("other", OTHERS, ids=repr)
@pytest.mark.parametrize("operator", ["__lt__", "__le__", "__eq__", "__ne__", "__ge__", "__gt__"])
def test_comparisons(operator, other):
    def program(T):
        version = T.torch_version.TorchVersion("2.13.0")
        return getattr(version, operator)(other), hash(version) == hash("2.13.0"), version.split(".")

    assert_same(program)
