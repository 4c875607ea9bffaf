"""The npu device: what it says where there is none, and what a backend for it gets."""

import numpy as np
import pytest

import mindtorch as torch
from mindtorch import npu
from mindtorch.dispatch import keys
from mindtorch.tensor import wrap

MISSING = "The npu device is not available"


class FakeArray:
    """As much of a device array as an op looks at before its kernel runs."""

    shape = (2,)
    ndim = 1
    dtype = np.dtype(np.float32)
    device = torch.device("npu", 0)


@pytest.fixture
def fake_backend(monkeypatch):
    for name in ("_by_name", "_by_class", "_array_classes"):
        monkeypatch.setattr(keys, name, dict(getattr(keys, name)))
    npu.serve(FakeArray)


class TestWithoutDevice:
    def test_there_is_none(self):
        assert not npu.is_available() and npu.device_count() == 0
        assert torch.npu is npu

    def test_asking_for_it_says_what_is_missing(self):
        with pytest.raises(RuntimeError, match=MISSING):
            torch.zeros(2, device="npu")
        with pytest.raises(RuntimeError, match=MISSING):
            torch.zeros(2).to("npu:0")
        with pytest.raises(RuntimeError, match=MISSING):
            npu.synchronize()


@pytest.mark.usefixtures("fake_backend")
class TestWithBackend:
    def test_ops_without_a_kernel_say_what_to_write(self):
        x = wrap(FakeArray())
        with pytest.raises(
            NotImplementedError, match=r"add.Tensor has no NPU kernel: define `def add\(.*npu/pointwise.py"
        ):
            x + x

    def test_factories_find_the_backend(self):
        with pytest.raises(NotImplementedError, match="has no NPU kernel"):
            torch.zeros(2, device="npu")

    def test_tensors_know_their_device(self):
        assert wrap(FakeArray()).is_npu and wrap(FakeArray()).device.type == "npu"
