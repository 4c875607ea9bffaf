"""Streams, events, descriptors and copies of the runtime: what goes wrong only after a while, or on another thread."""

import gc
import threading
import weakref

import numpy as np
import pytest

import mindtorch as torch
from mindtorch.backends.npu.runtime import api, device, stream
from mindtorch.backends.npu.runtime.api import acl
from tests.npu import simulator as session


@pytest.fixture(autouse=True)
def begin_anew(simulator):
    yield
    simulator.failures.append("begin anew")
    session.recover()


def test_numbers_that_are_kept_outlast_the_calls_that_use_them(simulator):
    """A call may ask for a number that is kept, and then for the one that is one too many."""
    for number in range(2, 4500):
        torch.arange(0, number, number - 1, device="npu")
    assert simulator.violations() == [] and simulator.stats()["scalars"] <= 2 * 2048


def test_streams_come_again(simulator):
    """Programs that make one for each batch would run out of them, and of memory."""
    addresses = set()
    for _ in range(100):
        with torch.npu.stream(torch.npu.Stream()):
            addresses.add(torch.ones(10, device="npu").data_ptr())
    assert simulator.stats()["streams"] == stream._MOST and torch.npu.memory_reserved() <= 33 * 2 * (1 << 20)
    one, other = torch.npu.Stream(), torch.npu.Stream()
    assert one != other and one.npu_stream != other.npu_stream


def test_an_event_may_end_on_a_thread_without_a_device(simulator):
    held = [torch.npu.current_stream().record_event() for _ in range(5)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert simulator.stats()["events"] == 5
    event = torch.npu.current_stream().record_event()
    assert simulator.stats()["events"] == 1 and event.npu_event


def test_events_that_ended_elsewhere_go_with_the_cache(simulator):
    with torch.npu.device(1):
        event = torch.npu.current_stream().record_event()
    with torch.npu.device(0):
        torch.ones(3, device="npu:0")
        del event
        assert simulator.stats()["events"] == 1
        torch.npu.empty_cache()
    assert simulator.stats()["events"] == 0 and torch.npu.current_device() == 0


def test_the_end_of_an_event_does_not_change_the_device(simulator):
    with torch.npu.device(1):
        event = torch.npu.current_stream().record_event()
    device.use(0)
    del event
    assert api.active.index == 0
    x = torch.ones(3, device="npu:0")
    assert x.sum().item() == 3 and simulator.violations() == []


@pytest.mark.parametrize(("mode", "runs"), [(0, True), (1, False)])
def test_what_comes_after_a_failure(simulator, mode, runs):
    """CONTINUE: the stream goes on. STOP: it takes nothing more, and launches say why. Other streams work on."""
    failing = torch.npu.Stream()
    api.check(acl.aclrtSetStreamFailureMode(failing.npu_stream, mode), "aclrtSetStreamFailureMode")
    with torch.npu.stream(failing):
        x = torch.zeros(3, device="npu")
        failing.synchronize()
        with simulator.injected("aclnnInplaceOne", 207003, phase=1), simulator.paused(failing.npu_stream):
            torch.ones(3, device="npu")
            x.add_(5)
        with pytest.raises(torch.AcceleratorError, match="error code is 207003"):
            failing.synchronize()
        if not runs:
            with pytest.raises(torch.AcceleratorError, match="call aclnnAdds failed, error code is 207003"):
                x.add_(1)
    assert bytes(simulator.peek(x.data_ptr(), 4)) == np.float32(5 if runs else 0).tobytes()
    assert torch.ones(3, device="npu").sum().item() == 3


def test_an_error_of_the_device_keeps_no_tensors(simulator):
    def work():
        x = torch.ones(1000, device="npu")
        seen.append(weakref.ref(x))
        with simulator.injected("aclnnTanh", 507015, phase=1):
            x.tanh().cpu()

    seen = []
    with pytest.raises(torch.AcceleratorError) as caught:
        work()
    del caught
    gc.collect()
    assert seen[0]() is None and 0 in api.failed
    with pytest.raises(torch.AcceleratorError, match="cannot be used by this process any more"):
        torch.ones(3, device="npu")
    assert torch.ones(3, device="npu:1").sum().item() == 3  # the other one is well


def test_pinned_memory_is_known_through_views(simulator):
    """Its copies do not wait, whatever the tensor was made with."""
    host = torch.arange(20.0).reshape(4, 5)
    held = torch.empty(4, 5, pin_memory=True).copy_(host)
    for each in (held, held.view(20), held[1:], torch.from_numpy(held.numpy())):
        with simulator.paused():
            there = each.to("npu", non_blocking=True)
        assert there.cpu().tolist() == each.tolist()
    assert simulator.stats()["unpinned_copies"] == 0


@pytest.mark.parametrize("peers", [True, False])
def test_copies_between_devices(simulator, monkeypatch, peers):
    """In the order of the streams of both; by way of the CPU where the devices do not reach each other."""
    monkeypatch.setattr(device, "can_access_peer", lambda index, peer: peers)
    x = torch.arange(12.0, device="npu:0").reshape(3, 4)
    with simulator.delayed("aclnnMuls", 0.02):
        there = (x * 2).to("npu:1")
    back = (there.t() + 1).to("npu:0")
    x.zero_()
    there.zero_()
    assert back.cpu().tolist() == (torch.arange(12.0).reshape(3, 4) * 2 + 1).t().tolist()
    assert simulator.violations() == []


def test_many_threads_begin_at_once(simulator):
    found = []

    def work(number):
        x = torch.full((50,), float(number), device=f"npu:{number % 2}")
        found.append(((x * 2).sum() / 100).item() == number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [True] * 16 and simulator.violations() == []
