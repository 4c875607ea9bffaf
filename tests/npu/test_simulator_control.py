"""The simulated NPU by itself: what it notes, and what tests can have it do."""

from __future__ import annotations

import ctypes
import threading
import time

import numpy as np
import pytest

from tests.npu.client import Failed, int64s
from tests.npu.helpers import Value, event, fails, p, size_t, streams, synchronize
from tests.npu_simulator.generate import Signature, stubs

# -------------------- order --------------------


@pytest.fixture
def neg(client):
    """Three tensors, and what negates one of them into another on a stream."""
    values = [Value(client, number) for number in range(3)]
    rooms = []

    def launch(source, target, stream):
        rooms.append(client.enqueue("aclnnNeg", [values[source].handle, values[target].handle], stream))

    launch.values = values
    yield launch
    synchronize(client)
    client.call("aclrtSynchronizeDevice")
    for room in filter(None, rooms):
        client.free(room)
    for each in values:
        each.close()


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [((0, 1), (0, 2), False), ((0, 1), (1, 2), True), ((0, 1), (2, 0), True), ((0, 1), (2, 1), True)],
)
@pytest.mark.parametrize("by", ["nothing", "event", "host", "query", "event query"])
def test_uses_of_the_same_memory_have_an_order(client, device, neg, first, second, conflict, by):
    """Reads need none. What orders two streams is an event, or the host that has waited for the first."""
    with streams(client, 2) as (one, other), event(client) as mark:
        neg(*first, one)
        if by == "host":
            synchronize(client, one)
        elif by == "query":
            complete(client, "aclrtStreamQuery", p(one), 0)
        elif by != "nothing":
            client.call("aclrtRecordEvent", mark, p(one))
            complete(client, "aclrtQueryEventStatus", mark, 1) if by == "event query" else None
            client.call("aclrtStreamWaitEvent", p(other), mark)
        neg(*second, other)
        synchronize(client, one)
        synchronize(client, other)
    assert len(device.violations()) == (conflict and by == "nothing")


def complete(client, function, handle, expected):
    """Asks until it is done."""
    status = ctypes.c_int32(-1)
    while status.value != expected:
        client.call(function, handle, ctypes.byref(status))


def test_a_record_before_the_use_orders_nothing(client, device, neg):
    with streams(client, 2) as (one, other), event(client) as mark:
        client.call("aclrtRecordEvent", mark, p(one))
        neg(0, 1, one)
        client.call("aclrtStreamWaitEvent", p(other), mark)
        neg(1, 2, other)
        client.call("aclrtSynchronizeDevice")
    assert len(device.violations()) == 1


def test_reading_a_result_needs_to_wait_for_it(client, device, neg):
    neg(1, 2, None)
    time.sleep(0.05)  # it is done by then, but the host does not know
    back = np.zeros(4, "f4")
    assert client.copy(back.ctypes.data_as(p), p(neg.values[2].address), 16, 2) == 0
    assert len(device.violations()) == 1
    synchronize(client)
    assert client.copy(back.ctypes.data_as(p), p(neg.values[2].address), 16, 2) == 0
    assert back.tolist() == [-1] * 4


# -------------------- control --------------------


@pytest.mark.parametrize("phase", [0, 2, 1])
def test_errors_are_injected_in_every_phase(client, device, phase):
    x, out = np.ones(2, "f4"), np.zeros(2, "f4")
    with device.injected("aclnnNeg", 507014, phase=phase, nth=2):
        client.run("aclnnNeg", x, out)
        before = device.calls("*")
        assert "njected" in fails(507014, client.run, "aclnnNeg", x, out)
        assert device.calls("*") > before
    if phase != 1:
        client.run("aclnnNeg", x, out)


@pytest.mark.parametrize(
    "name", ["aclrtMalloc", "aclrtMemcpy", "aclCreateTensor", "aclrtSynchronizeStream", "aclDestroyTensor"]
)
def test_errors_are_injected_into_every_function(client, device, name):
    with device.injected(name, 500000):
        if name == "aclCreateTensor":
            assert not client.tensor((), (), "f4", None)
        elif name == "aclrtMemcpy":
            assert client.copy(p(1), p(1), 1, 0) == 500000
        elif name == "aclrtSynchronizeStream":
            fails(500000, synchronize, client)
        elif name == "aclDestroyTensor":
            assert client.code(name, None) == 500000
        else:
            fails(500000, client.malloc, 8)


def test_leaks_are_counted(client, device):
    address = client.malloc(100)
    handles = [client.tensor((4,), (1,), "f4", address, 0, 4), client.scalar(1.0), client.array("I", (1, 2))]
    stream, made = client.made("aclrtCreateStream"), client.made("aclrtCreateEvent")
    pinned = client.made("aclrtMallocHost", size_t(3))
    _, executor = client.prepare("aclnnInplaceNeg", [handles[0]])
    expected = {
        "tensors": 1,
        "scalars": 1,
        "arrays": 1,
        "executors": 1,
        "streams": 1,
        "events": 1,
        "blocks": 1,
        "host_blocks": 1,
        "bytes": 160,
    }
    assert device.leaks() == expected
    client.call("aclSetAclOpExecutorRepeatable", p(executor))
    client.call("aclDestroyAclOpExecutor", p(executor))
    for name, handle in zip(("Tensor", "Scalar", "IntArray"), handles):
        client.call(f"aclDestroy{name}", p(handle))
    client.call("aclrtDestroyEvent", p(made))
    client.call("aclrtDestroyStream", p(stream))
    client.call("aclrtFreeHost", p(pinned))
    client.free(address)


def test_the_log_has_launches_with_their_arguments(client, device, value):
    with device.log() as log:
        client.run("aclnnMuls", np.ones((2, 3), "f2"), 2, np.ones((2, 3), "f2"))
        client.run("aclnnCat", [np.ones(1, "f4"), np.ones(2, "f4")], 0, np.ones(3, "f4"))
    names = [each.name for each in log]
    assert names.count("aclrtMemcpy") == 10 and [name for name in names if "nn" in name] == ["aclnnMuls", "aclnnCat"]
    launches = {each.name: each.arguments for each in log}
    assert launches["aclnnMuls"] == "float16[2,3], S, float16[2,3]"
    assert launches["aclnnCat"] == "(float32[1], float32[2]), l, float32[3]"
    assert not [each for each in log if each.stream < 0 and "nn" in each.name]


def test_sizes_that_depend_on_the_data(client):
    out = np.full((4, 2), -1)
    shapes = client.run("aclnnNonzero", np.array([[1, 0], [1, 1]], "i4"), out)
    assert (
        shapes[1] == (3, 2) and out.reshape(-1)[:6].tolist() == [0, 0, 1, 0, 1, 1] and (out.reshape(-1)[6:] == -1).all()
    )
    assert "room for 4" in fails(161002, client.run, "aclnnNonzero", np.ones((2, 2), "i4"), np.ones((2, 2), "i8"))


def test_stubs_are_plain_c():
    text = stubs([Signature("aclnnX", "Tfc", ("a", "b", "c"), "ops-nn")])
    assert "int aclnnXGetWorkspaceSize(void *a0, float a1, int8_t a2, uint64_t *size, void **executor)" in text
    assert "{.p = a0}, {.d = a1}, {.i = a2}" in text


def test_int64s():
    assert list(int64s((1, -2))) == [1, -2]


def test_many_threads_launch_at_once(client, device):
    """Each with a stream and memory of its own, in the same context."""
    context = client.made("aclrtGetCurrentContext")
    errors = []

    def work(number):
        client.call("aclrtSetCurrentContext", p(context))
        try:
            with streams(client, 1) as (stream,):
                mine = Value(client, number)
                rooms = [client.enqueue("aclnnInplaceNeg", [mine.handle], stream) for _ in range(25)]
                synchronize(client, stream)
                assert np.frombuffer(mine.bytes(), "f4").tolist() == [-number] * 4
                for room in filter(None, rooms):
                    client.free(room)
                mine.close()
        except (AssertionError, Failed) as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(float(number),)) for number in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors
    assert device.leaks() == {}


@pytest.mark.parametrize("seed", range(3))
def test_any_call_may_fail_and_nothing_breaks(client, device, seed):
    """Errors at places that a number chooses: each is reported with its code, and the device goes on."""
    source = np.random.default_rng(seed)
    x, out = np.ones(4, "f4"), np.zeros(4, "f4")
    for _ in range(20):
        phase, nth = int(source.integers(3)), int(source.integers(1, 3))
        with device.injected("aclnn*", 507000, phase=phase, nth=nth):
            codes = [code_of(client, "aclnnNeg", x, out) for _ in range(2)]
        assert codes.count(507000) == 1 or (phase == 1 and codes[-1] == 507000)
        device.reset()
        client.start()


def code_of(client, name, *arguments):
    """Of an op, from whichever of its calls."""
    try:
        client.run(name, *arguments)
    except Failed as error:
        return error.code
    return 0
