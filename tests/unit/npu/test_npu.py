"""The npu device: what it says where there is none."""

import subprocess
import sys

import pytest

import mindtorch as torch
from mindtorch import npu
from mindtorch.npu import absent

MISSING = "The npu device is not available"


class TestWithoutDevice:
    def test_there_is_none(self):
        assert not npu.is_available() and npu.device_count() == 0
        assert torch.npu is npu

    def test_its_kernels_are_not_imported(self):
        """They need the Ascend libraries, and importing them takes time."""
        script = (
            "import sys, mindtorch; print([name for name in sys.modules if '.npu.' in name or 'npu_kernels' in name])"
        )
        assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"

    def test_asking_for_it_says_what_is_missing(self):
        with pytest.raises(RuntimeError, match=MISSING):
            torch.zeros(2, device="npu")
        with pytest.raises(RuntimeError, match=MISSING):
            torch.zeros(2).to("npu:0")
        with pytest.raises(RuntimeError, match=MISSING):
            npu.synchronize()


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name, value in vars(absent).items()
        if getattr(value, "__doc__", "") and str(value.__doc__).startswith("Refused: ")
    ),
)
def test_what_is_absent_says_why(name):
    with pytest.raises(NotImplementedError, match=rf"^torch\.npu\.{name} is not available: \w"):
        getattr(torch.npu, name)("some", more=1)
