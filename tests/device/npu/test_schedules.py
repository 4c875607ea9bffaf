"""Programs on several streams have the numbers that they have in order, and no use of memory is left to luck."""

import os
import threading

import pytest

import mindtorch as torch
from mindtorch.backends.npu.runtime import stream
from tests.device.npu.conftest import forget
from tests.device.npu.schedules import Program
from tests.npu import simulator as session

PARTS, EACH = 4, 250 if os.environ.get("MINDTORCH_SAMPLES") == "all" else 100


@pytest.fixture(autouse=True)
def few_streams(simulator, monkeypatch):
    """All streams of the simulated device wake up whenever one has done something."""
    simulator.failures.append("begin anew")
    session.recover()
    monkeypatch.setattr(stream, "_MOST", 3)
    yield
    simulator.core.sim_pause_all(0)
    simulator.failures.append("begin anew")
    session.recover()


def found_in(device, seed, **options):
    """What a program comes to, while a number decides which stream is next."""
    device.core.sim_schedule(seed + 1)
    try:
        problems = Program(seed, device, **options).run()
    finally:
        device.core.sim_pause_all(0)
        device.core.sim_schedule(0)
    return problems + device.violations()


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_in_order(simulator, part):
    """400, and a thousand with MINDTORCH_SAMPLES=all; a third of them with two devices."""
    found = {}
    for seed in range(part * EACH, (part + 1) * EACH):
        problems = found_in(simulator, seed, devices=1 + (seed % 3 == 0))
        if problems:
            found[seed] = problems[:2]
    assert not found
    forget()
    assert {kind: number for kind, number in simulator.leaks().items() if kind != "streams"} == {}


def test_a_wait_that_is_missing_is_found(simulator):
    """Each program without one of its waits, which is chosen by turns."""
    missed, tried = [], 0
    for seed in range(60):
        whole = Program(seed, simulator, quiet=True)
        assert whole.run() == [] and not simulator.violations()
        if whole.waits:
            tried += 1
            found = found_in(simulator, seed, quiet=True, forgets=seed % whole.waits)
            missed += [] if any("nothing orders them" in each for each in found) else [seed]
    assert tried > 30 and not missed


def test_threads(simulator):
    """Each with a program of its own, on streams of the same devices."""
    found = []

    def work(seed):
        for number in range(seed, seed + 10):
            found.extend(Program(number, simulator, devices=2, alone=False).run())

    threads = [threading.Thread(target=work, args=(1000 + 10 * number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    torch.npu.synchronize()
    assert not found and not simulator.violations()
