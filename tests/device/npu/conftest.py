"""The runtime of the NPU under faults: for these tests a device must be the simulated one."""

import gc

import pytest

from mindtorch import npu
from mindtorch.backends.npu.runtime import descriptors
from tests.device.conftest import IS_NPU
from tests.npu import simulator as session

collect_ignore_glob = [] if IS_NPU else ["test_*.py"]


@pytest.fixture
def simulator():
    """The simulated device, as after the start of the process: no memory, nothing kept, no violations."""
    session.recover()
    device = session.start()
    forget()
    device.violations()
    yield device
    device.core.sim_clear_injections()


@pytest.fixture(scope="package", autouse=True)
def quick_collection():
    """What the tests import is not looked at each time that they collect garbage."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def forget() -> None:
    """Have the library give back what it keeps for later."""
    gc.collect()
    npu.empty_cache()
    for kept in descriptors._kept:
        kept.clear()
