"""The first use of a device, with each call of it failing once: an error says why; then it works or is refused."""

import os

import pytest

import mindtorch as torch
from mindtorch.backends.npu.runtime import api
from mindtorch.backends.npu.runtime import device as runtime
from tests.device.npu.test_injection import MEMORY, PASSING, STICKY, about_error, is_answered, raised_by
from tests.npu import simulator as session

USES = {
    "an op": lambda: (torch.ones(3, device="npu") + 1).sum().item(),
    "a copy": lambda: torch.arange(3).npu().cpu(),
    "pinned memory": lambda: torch.empty(3, pin_memory=True),
    "choosing a device": lambda: torch.npu.set_device(1),
    "waiting": torch.npu.synchronize,
    "an event": lambda: torch.npu.Event().record(),
    "a stream": torch.npu.Stream,
    "free memory": torch.npu.mem_get_info,
    "the name": torch.npu.get_device_name,
    "properties": lambda: torch.npu.get_device_properties(0),
    "a peer": lambda: torch.npu.can_device_access_peer(0, 1),
    "random numbers": lambda: torch.rand(3, device="npu").cpu(),
    "a generator": lambda: torch.Generator("npu").manual_seed(3),
    "init": torch.npu.init,
}
CODES = (*PASSING, *MEMORY, *STICKY)
ANSWERS = ("aclrtGetSocName",)  # whose failure is one: "unknown"


def anew(device):
    """As in a new process."""
    device.failures.append("begin anew")
    session.recover()
    runtime._state["count"] = None
    runtime._thread.wanted = 0


@pytest.fixture(autouse=True)
def begin_anew(simulator):
    anew(simulator)
    yield
    anew(simulator)


def calls_of(device, use):
    with device.journal() as calls:
        use()
    anew(device)
    return list(dict.fromkeys(calls))


def check(device, use, name, code):
    """What is wrong with what comes of it."""
    phase, name = (0, name.removesuffix("GetWorkspaceSize")) if name.endswith("GetWorkspaceSize") else (2, name)
    device.core.sim_inject(name.encode(), 1, code, phase)
    error = raised_by(use)
    if not device.core.sim_clear_injections():
        return ["never came to pass"]
    problems = about_error(error, name, phase, code)
    if error is None and not is_answered(name, code) and not name.startswith((*ANSWERS, "aclDestroy", "aclrtDestroy")):
        problems.append("was not noticed")
    again = raised_by(use)
    if api.failed:
        if again is None or "cannot be used by this process any more" not in str(again) or str(code) not in str(again):
            problems.append(f"the device is not marked as unusable: {again}")
    elif again is not None:
        problems.append(f"the next use fails: {again}")
    return problems + device.violations()


@pytest.mark.filterwarnings("ignore:.*will fall back to run on the CPU")
@pytest.mark.parametrize("name", USES)
def test_each_call_of_the_first_use_fails_once(simulator, name):
    """With one code for each call; with MINDTORCH_SAMPLES=all, with all of them."""
    calls = calls_of(simulator, USES[name])
    problems = {}
    for turn, call in enumerate(calls):
        codes = CODES if os.environ.get("MINDTORCH_SAMPLES") == "all" else (CODES[turn % 7], STICKY[turn % 2])
        for code in codes:
            found = check(simulator, USES[name], call, code)
            anew(simulator)
            if found:
                problems[call, code] = found
    assert not problems
    assert "aclInit" in calls or name == "a generator"


@pytest.mark.parametrize("lacks", [set(), {"drvGetDevNum"}])
def test_devices_that_could_not_be_counted_are_counted_again(monkeypatch, lacks):
    found = runtime.optional

    def failing(name):
        return None if name in lacks else lambda address: 507899

    monkeypatch.setattr(runtime, "optional", failing)
    assert torch.npu.device_count() == 0 and not torch.npu.is_available()
    monkeypatch.setattr(runtime, "optional", found)
    assert torch.npu.device_count() == 2 and torch.ones(3, device="npu").sum().item() == 3
