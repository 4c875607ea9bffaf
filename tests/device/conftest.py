"""The tests here need a device besides the CPU, for the whole process: MINDTORCH_DEVICE names it.

`tests/unit/tools/test_other_devices.py` runs them with the device of `tests.device.foreign`, `make test-npu` on the
simulated NPU.
"""

import os
from pathlib import Path

import pytest

from tests.npu.fixtures import available
from tests.npu_simulator.build import unavailable

DEVICE = os.environ.get("MINDTORCH_DEVICE", "")
IS_NPU = DEVICE == "npu" and not unavailable()
HERE = Path(__file__).parent
collect_ignore_glob = [] if DEVICE else ["test_*.py"]


def pytest_configure(config):
    """Files that are given by name are collected, whatever is ignored."""
    given = (config.invocation_params.dir / each.partition("::")[0] for each in config.args)
    if not DEVICE and any(path.resolve().is_relative_to(HERE) for path in given):
        raise pytest.UsageError(
            "tests/device needs a device in MINDTORCH_DEVICE: MINDTORCH_DEVICE=npu python -m pytest ..."
        )


if DEVICE == "privateuseone":
    from tests.device import foreign

    foreign.register()

if IS_NPU:
    from tests.npu import simulator

    simulator.start()


@pytest.fixture
def device() -> str:
    return DEVICE


@pytest.fixture(autouse=True)
def usable_device():
    """A device that a test has broken is as new for the next one."""
    if DEVICE == "npu":
        available()
        simulator.recover()
