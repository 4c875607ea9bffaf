"""What programs for NPUs are told where there is no NPU, and what of them works all the same."""

import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch as torch

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(torch.npu.is_available(), reason="there is an NPU")
MISSING = r"The npu device is not available: the Ascend libraries \(libascendcl.so, libopapi.so\) were not found."

NEEDS_A_DEVICE = {
    "set_device": lambda: torch.npu.set_device(0),
    "current_device": torch.npu.current_device,
    "synchronize": torch.npu.synchronize,
    "current_stream": torch.npu.current_stream,
    "Stream": torch.npu.Stream,
    "mem_get_info": torch.npu.mem_get_info,
    "get_device_name": torch.npu.get_device_name,
    "get_device_properties": torch.npu.get_device_properties,
    "get_rng_state": torch.npu.get_rng_state,
    "FloatTensor": lambda: torch.npu.FloatTensor(2),
    "factory": lambda: torch.ones(2, device="npu"),
    "Tensor.npu": lambda: torch.ones(2).npu(),
    "Tensor.to": lambda: torch.ones(2).to("npu:1"),
    "Module.npu": lambda: torch.nn.Linear(2, 2).npu(),
    "Module.to": lambda: torch.nn.Linear(2, 2).to("npu"),
}
HARMLESS = {
    "is_available": False,
    "device_count": 0,
    "is_initialized": False,
    "is_bf16_supported": False,
    "is_current_stream_capturing": False,
    "empty_cache": None,
    "empty_host_cache": None,
    "manual_seed_all": None,
    "memory_allocated": 0,
    "max_memory_reserved": 0,
    "memory_snapshot": [],
    "reset_peak_memory_stats": None,
    "get_rng_state_all": [],
    "set_compile_mode": None,
    "get_amp_supported_dtype": [torch.float16, torch.float32],
}
NEEDS_AN_ACCELERATOR = {
    "pin_memory": lambda: torch.ones(2).pin_memory(),
    "storage": lambda: torch.ones(2).untyped_storage().pin_memory(),
    "device": lambda: torch.device(0),
    "to": lambda: torch.ones(2).to(0),
    **{
        name: getattr(torch.accelerator, name)
        for name in (
            "current_device_index current_stream synchronize empty_cache empty_host_cache memory_stats "
            "memory_allocated max_memory_allocated memory_reserved max_memory_reserved reset_peak_memory_stats "
            "reset_accumulated_memory_stats get_memory_info get_device_capability"
        ).split()
    },
    "set_device_index": lambda: torch.accelerator.set_device_index(0),
}


@pytest.mark.parametrize("name", NEEDS_A_DEVICE)
def test_what_needs_a_device(name):
    with pytest.raises(RuntimeError, match=MISSING):
        NEEDS_A_DEVICE[name]()


@pytest.mark.parametrize("name", HARMLESS)
def test_what_does_not(name):
    arguments = (3,) if name == "manual_seed_all" else ()
    assert getattr(torch.npu, name)(*arguments) == HARMLESS[name]


@pytest.mark.parametrize("name", NEEDS_AN_ACCELERATOR)
def test_there_is_no_accelerator(name):
    with pytest.raises(RuntimeError, match="^Cannot access accelerator device when none is available.$"):
        NEEDS_AN_ACCELERATOR[name]()


def test_the_accelerator():
    assert not torch.accelerator.is_available() and torch.accelerator.device_count() == 0
    assert torch.accelerator.current_accelerator() is None
    assert torch.get_device_module() is torch.cpu and torch.get_device_module("npu") is torch.npu
    with torch.accelerator.device_index(None):
        pass


@pytest.mark.parametrize("make", [torch.empty, torch.zeros, torch.arange, torch.randn, torch.tensor])
def test_pinned_factories(make):
    with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA or other accelerator backend"):
        make(3, pin_memory=True)


def test_autocast_leaves_the_cpu_alone():
    x = torch.ones(2, 2)
    with torch.autocast("npu"):
        assert torch.is_autocast_enabled("npu") and (x @ x).dtype is torch.float32
        assert torch.nn.functional.binary_cross_entropy(x, x) == 0
    assert not torch.is_autocast_enabled("npu") and torch.get_autocast_dtype("npu") is torch.float16


def test_graphs_are_refused():
    with pytest.raises(NotImplementedError, match="cannot be captured"):
        torch.npu.NPUGraph()


def test_the_ops_of_torch_npu():
    """In a process of its own: ops and a module of that name stay for the whole process."""
    tests = ROOT / "mindtorch" / "npu" / "package" / "tests"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
