"""The tests here need a device besides the CPU, for the whole process: MINDTORCH_DEVICE names it.

`tests/unit/test_other_devices.py` runs them with the device of `tests.device.foreign`, `make test-npu` on the simulated
NPU.
"""

import os

import pytest

from tests.npu.fixtures import available
from tests.npu_simulator.build import unavailable

DEVICE = os.environ.get("MINDTORCH_DEVICE", "")
IS_NPU = DEVICE == "npu" and not unavailable()
collect_ignore_glob = [] if DEVICE else ["test_*.py"]

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
