"""The simulated device, one for the whole run: a process can load its libraries once."""

import os
from functools import cache

import pytest

from tests.npu.client import Client
from tests.npu.helpers import Value
from tests.npu_simulator import build
from tests.npu_simulator.device import Device

REQUIRED = "MINDTORCH_REQUIRE_NPU_SIMULATOR"


def available():
    """Skips where the device cannot be had, or fails if it has to be there."""
    reason = build.unavailable()
    if reason and os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{REQUIRED}=1, but {reason}")
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def toolkit():
    available()
    return build.build()


@cache
def device_of(toolkit):
    """One, whichever tests ask for it: a second one would evaluate the ops of the first."""
    return Device(toolkit)


@pytest.fixture(scope="session")
def device(toolkit):
    return device_of(toolkit)


@pytest.fixture
def client(device):
    """A program that has called aclInit and aclrtSetDevice, and must leave nothing behind."""
    device.reset()
    program = Client(device)
    program.start()
    yield program
    device.core.sim_clear_injections()
    program.stop()
    leaks, violations, failures = device.leaks(), device.violations(), list(device.failures)
    device.reset()
    assert not leaks
    assert not violations
    assert not failures


@pytest.fixture
def value(client):
    """Four numbers in device memory."""
    made = Value(client)
    yield made
    made.close()
