"""The npu device: what it says where there is none, and what a backend for it gets."""

import subprocess
import sys

import numpy as np
import pytest

import mindtorch as torch
from mindtorch import npu
from mindtorch.dispatch import keys, registry
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


@pytest.mark.usefixtures("fake_backend")
class TestWithBackend:
    def test_ops_without_a_kernel_say_so(self):
        x = wrap(FakeArray())
        with pytest.raises(NotImplementedError, match="Could not run 'aten::hypot'"):
            torch.hypot(x, x)

    def test_an_op_that_is_promised_has_no_stub_for_a_kernel(self):
        """It would hide that the backend may compute in another way what it has no kernel for."""
        assert FakeArray not in registry.kernel_table("angle")
        assert FakeArray in registry.kernel_table("add.Tensor")

    def test_tensors_know_their_device(self):
        assert wrap(FakeArray()).is_npu and wrap(FakeArray()).device.type == "npu"


class TestModulesOfKernels:
    """Kernels are imported when they are called, each module by itself."""

    @pytest.fixture
    def table(self, fake_backend, monkeypatch, tmp_path):
        (tmp_path / "good_kernels.py").write_text("def double(array, out=None):\n    return 'doubled'\n")
        (tmp_path / "bad_kernels.py").write_text("import a_library_that_is_not_there\n")
        listed = {"good_kernels": {"neg": "double"}, "bad_kernels": {"abs": "absolute"}}
        (tmp_path / "listed_kernels.py").write_text(f"MODULES = {listed}\n")
        monkeypatch.syspath_prepend(tmp_path)
        registry.register_modules_of("NPU", "listed_kernels")
        yield registry.kernel_table
        for name in ("good_kernels", "bad_kernels", "listed_kernels"):
            sys.modules.pop(name, None)

    def test_none_is_imported_before_it_is_needed(self, table):
        assert FakeArray in table("neg") and FakeArray in table("abs")
        assert not {"good_kernels", "bad_kernels"} & sys.modules.keys()

    def test_the_first_call_finds_the_function_and_puts_it_in_its_place(self, table):
        assert table("neg")[FakeArray](FakeArray()) == "doubled"
        assert table("neg")[FakeArray] is sys.modules["good_kernels"].double

    def test_a_module_that_fails_is_no_concern_of_others(self, table):
        with pytest.raises(ModuleNotFoundError, match="a_library_that_is_not_there"):
            table("abs")[FakeArray](FakeArray())
        assert table("neg")[FakeArray](FakeArray()) == "doubled"

    def test_what_is_registered_later_stays(self, table):
        waiting = table("neg")[FakeArray]
        registry.register_kernel("NPU", "neg", len)
        assert waiting(FakeArray()) == "doubled" and table("neg")[FakeArray] is len
