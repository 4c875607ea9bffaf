"""Modules of hand-written kernels that cannot be imported: only their ops fail, and the error names them."""

import pytest

import mindtorch as torch
from mindtorch.backends.npu.array import NpuArray
from mindtorch.dispatch import registry
from tests.device.conftest import IS_NPU

pytestmark = pytest.mark.skipif(not IS_NPU, reason="about the NPU")


@pytest.fixture(params=["import nothing_of_this_name", "this is no Python", "exp2 = no_such_name"])
def broken(request, tmp_path, monkeypatch):
    """A module with the kernels of two ops that fails when it is imported."""
    (tmp_path / "broken_kernels.py").write_text(f"{request.param}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    torch.empty(0, device="npu")  # the backend is registered when it is first asked for
    for op in ("exp2", "log2"):
        monkeypatch.setitem(registry.kernel_table(op), NpuArray, registry.kernel_table(op)[NpuArray])
    registry._add_modules("NPU", {"broken_kernels": {"exp2": "exp2", "log2": "log2"}})


def test_only_their_ops_fail(broken):
    x = torch.ones(2, device="npu")
    for op in ("exp2", "log2", "exp2"):
        with pytest.raises(ImportError) as failed:
            getattr(torch, op)(x)
        text = str(failed.value)
        assert text.startswith(f"the NPU kernel of '{op}' cannot be imported: ")
        assert text.endswith("broken_kernels has the kernels of exp2, log2")
    assert torch.npu.is_available() and (x + x).tolist() == [2.0, 2.0]
