"""Process groups of NPUs, on the simulated device."""

import os

import pytest

from tests.distributed.launch import PROGRAMS, launch, needs_mpi
from tests.npu import fixtures
from tests.npu_simulator import build

pytestmark = [
    needs_mpi,
    pytest.mark.skipif(
        bool(build.unavailable()) and os.environ.get(fixtures.REQUIRED) != "1", reason=str(build.unavailable())
    ),
]


@pytest.mark.parametrize("ranks", [2, 3])
def test_collectives_on_devices_give_what_they_give_on_the_cpu(ranks):
    printed = launch(f"--nproc-per-node={ranks}", str(PROGRAMS / "devices.py"))
    assert printed.count("done") == ranks


@pytest.mark.parametrize("how", ["killed", "late"])
def test_a_device_whose_peer_does_not_come_gives_no_wrong_numbers(how):
    assert "refused" in launch("--keep-going", "--nproc-per-node=2", str(PROGRAMS / "device_faults.py"), how)


def test_a_process_that_is_alone():
    assert launch(str(PROGRAMS / "devices.py"), "alone").count("done") == 1


def test_each_call_that_fails_says_so_and_the_next_one_works():
    assert launch("--nproc-per-node=2", str(PROGRAMS / "device_injection.py")).count("swept") == 2
