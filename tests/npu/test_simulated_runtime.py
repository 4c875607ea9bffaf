"""The simulated NPU by itself: memory, threads, streams and events."""

from __future__ import annotations

import ctypes
import threading
import time

import numpy as np
import pytest

from tests.npu.client import Client
from tests.npu.helpers import event, fails, in_a_process, p, size_t, streams, synchronize

# -------------------- memory --------------------


def test_new_memory_is_not_zero(client, device):
    address = client.malloc(100)
    assert device.peek(address, 100) == b"\xa5" * 100
    assert address % 64 == 0
    other = client.made("aclrtMallocAlign32", size_t(4), 0)
    assert other % 32 == 0
    assert device.stats()["bytes"] == 160 + 64
    client.free(address)
    client.free(other)


def test_the_host_cannot_read_device_memory(toolkit):
    result = in_a_process("""
        device = Device(build.build())
        client = Client(device)
        client.start()
        address = client.malloc(64)
        print("before", flush=True)
        ctypes.string_at(address, 1)
        print("after", flush=True)
    """)
    assert result.stdout == "before\n"
    assert result.returncode == -11


def test_wrong_addresses_are_not_freed(client, device):
    address = client.malloc(64)
    assert client.code("aclrtFree", None) == 100000
    assert client.code("aclrtFree", p(address + 32)) == 107000
    client.free(address)
    assert client.code("aclrtFree", p(address)) == 107000
    assert len(device.violations()) == 2
    assert client.code("aclrtMalloc", ctypes.byref(p()), size_t(0), 0) == 100000
    assert client.code("aclrtMallocHost", ctypes.byref(p()), size_t(0)) == 100000


def test_the_device_is_as_large_as_it_is(client, device):
    with device.limited_memory(1024):
        address = client.malloc(900)
        assert "EL0004" in fails(207001, client.malloc, 200)
        free, total = size_t(), size_t()
        client.call("aclrtGetMemInfo", 1, ctypes.byref(free), ctypes.byref(total))
        assert (free.value, total.value) == (1024 - 960, 1024)
        client.call("aclrtGetMemInfo", 0, ctypes.byref(free), ctypes.byref(total))
        assert (free.value, total.value) == (0, 0)
        client.free(address)
        client.free(client.malloc(900))


def test_copies_go_where_their_kind_says(client):
    address, other = client.malloc(16), client.malloc(16)
    host, back = np.arange(4, dtype="f4"), np.zeros(4, "f4")
    there, here = p(address), host.ctypes.data_as(p)
    for to, source, kind in ((there, here, 1), (p(other), there, 3), (back.ctypes.data_as(p), p(other), 2)):
        assert client.copy(to, source, 16, kind) == 0
        for wrong in range(4):
            if wrong != kind:
                assert client.copy(to, source, 16, wrong) == 107000
        assert client.copy(to, source, 16, 4) == 0
    assert back.tolist() == [0, 1, 2, 3]
    assert client.copy(there, here, 0, 1) == 100000
    assert client.copy(there, here, 17, 1) == 107000
    assert client.code("aclrtMemcpy", there, size_t(8), here, size_t(16), 1) == 100000
    client.free(address)
    client.free(other)


def test_copies_of_rows(client):
    host, back = np.arange(12, dtype=np.uint8).reshape(3, 4), np.zeros((3, 2), np.uint8)
    address = client.malloc(3 * 8)
    numbers = [size_t(each) for each in (8, 4, 2, 3)]
    client.call("aclrtMemcpy2d", p(address), numbers[0], host.ctypes.data_as(p), numbers[1], numbers[2], numbers[3], 1)
    client.call("aclrtMemcpy2d", back.ctypes.data_as(p), size_t(2), p(address), size_t(8), size_t(2), size_t(3), 2)
    np.testing.assert_array_equal(back, host[:, :2])
    wrong = client.code(
        "aclrtMemcpy2d", p(address), size_t(1), host.ctypes.data_as(p), size_t(4), size_t(2), size_t(3), 1
    )
    assert wrong == 100000
    client.free(address)


def test_asynchronous_copies_need_pinned_memory(client, device):
    address = client.malloc(16)
    pinned = client.made("aclrtMallocHost", size_t(16))
    (ctypes.c_char * 16).from_address(pinned).value = b"0123456789abcde"
    arguments = (p(address), size_t(16), p(pinned), size_t(16), 1, None)
    with device.paused():
        client.call("aclrtMemcpyAsync", *arguments)
        (ctypes.c_char * 16).from_address(pinned).value = b"changed later.."
    synchronize(client)
    assert device.peek(address, 7) == b"changed"
    assert device.stats()["unpinned_copies"] == 0
    holder = ctypes.create_string_buffer(b"as it was here!!")
    with device.paused():
        client.call("aclrtMemcpyAsync", p(address), size_t(16), holder, size_t(16), 1, None)
        holder.value = b"-"
    synchronize(client)
    assert device.peek(address, 9) == b"as it was" and device.stats()["unpinned_copies"] == 1
    client.call("aclrtMemcpyAsync", holder, size_t(16), p(address), size_t(16), 2, None)
    assert holder.raw[:9] == b"as it was"
    assert client.code("aclrtMemcpyAsync", holder, size_t(4), p(pinned), size_t(4), 0, None) == 207000
    client.call("aclrtFreeHost", p(pinned))
    client.free(address)


def test_a_copy_that_is_not_asynchronous_does_not_wait_for_streams(client, device, value):
    with device.paused():
        value.set(7)
        back = np.zeros(4, "f4")
        assert client.copy(back.ctypes.data_as(p), p(value.address), 16, 2) == 0
        assert back.tolist() == [0] * 4
    synchronize(client)
    assert value.bytes() == b"\7" * 16
    assert "aclrtMemsetAsync and aclrtMemcpy use the same memory" in device.violations()[0]


def test_memory_that_is_still_used_is_noticed(client, device):
    address = client.malloc(64)
    with device.paused():
        client.call("aclrtMemsetAsync", p(address), size_t(64), 1, size_t(64), None)
        client.free(address)
        assert "aclrtMemsetAsync and aclrtFree use the same memory" in device.violations()[0]
    synchronize(client)


def test_devices_have_memory_of_their_own(client, device):
    mine = client.malloc(32)
    client.call("aclrtSetDevice", 1)
    theirs = client.malloc(32)
    tensor = client.tensor((4,), (1,), "f4", mine, 0, 4)
    assert "another device" in fails(161002, client.prepare, "aclnnInplaceZero", [tensor])
    assert client.copy(p(theirs), p(mine), 32, 3) == 107000
    can = ctypes.c_int32()
    client.call("aclrtDeviceCanAccessPeer", ctypes.byref(can), 1, 0)
    assert can.value == 1
    client.call("aclrtDeviceEnablePeerAccess", 0, 0)
    assert client.copy(p(theirs), p(mine), 32, 3) == 0
    client.call("aclDestroyTensor", p(tensor))
    client.free(theirs)
    client.free(mine)
    client.call("aclrtResetDevice", 1)
    client.call("aclrtSetDevice", 0)
    client.call("aclrtResetDevice", 0)


# -------------------- the process --------------------


def test_calls_come_in_order(device):
    device.reset()
    client = Client(device)
    assert client.code("aclrtSetDevice", 0) == 100001
    client.call("aclInit", None)
    assert client.code("aclInit", None) == 100002
    assert client.code("aclrtCreateStream", ctypes.byref(p())) == 107002
    assert client.code("aclrtSetDevice", 2) == 107001
    client.call("aclrtSetDevice", 0)
    client.call("aclrtSetDevice", 0)
    client.call("aclrtResetDevice", 0)
    client.free(client.malloc(1))
    client.call("aclrtResetDevice", 0)
    assert client.code("aclrtMalloc", ctypes.byref(p()), size_t(1), 0) == 107002
    client.call("aclFinalize")
    assert client.code("aclFinalize") == 100037
    assert not device.leaks()


def test_messages_are_returned_once_and_to_their_thread(client):
    client.code("aclrtFree", None)
    client.code("aclrtMemset", None, size_t(1), 0, size_t(1))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(client.message()))
    thread.start()
    thread.join()
    message = client.message()
    assert seen == [""] and message.index("aclrtMemset") < message.index("aclrtFree") and not client.message()
    assert client.code("aclrtPeekAtLastError", 0) == 100000
    assert client.code("aclrtGetLastError", 0) == 100000 and client.code("aclrtGetLastError", 0) == 0


def test_contexts_are_of_threads(client):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(client.code("aclrtMalloc", ctypes.byref(p()), size_t(1), 0)))
    thread.start()
    thread.join()
    assert codes == [107002]
    default = client.made("aclrtGetCurrentContext")
    context = client.made("aclrtCreateContext", 0)
    stream = client.made("aclrtCreateStream")
    client.call("aclrtSetCurrentContext", p(default))
    assert client.code("aclrtSynchronizeStream", p(stream)) == 107003
    assert client.code("aclrtDestroyContext", p(default)) == 107017
    client.call("aclrtSetCurrentContext", p(context))
    client.call("aclrtDestroyStream", p(stream))
    client.call("aclrtDestroyContext", p(context))
    client.call("aclrtSetCurrentContext", p(default))


def test_a_child_of_fork_is_refused(toolkit):
    result = in_a_process("""
        client = Client(Device(build.build()))
        client.start()
        child = os.fork()
        if not child:
            os._exit(client.code("aclrtSynchronizeDevice") == 507899)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
        client.stop()
    """)
    assert result.returncode == 0, result.stderr


def test_small_facts(client, monkeypatch):
    numbers = [ctypes.c_int32() for _ in range(3)]
    client.call("aclrtGetVersion", *map(ctypes.byref, numbers))
    assert numbers[0].value == 1
    name = client.function("aclrtGetSocName")
    name.restype = ctypes.c_char_p
    assert name() == b"Ascend910B1"
    for function in ("aclrtSetOpExecuteTimeOut", "aclrtSetOpWaitTimeout"):
        client.call(function, 5)
    client.call("aclrtSetSysParamOpt", 0, ctypes.c_int64(1))
    assert client.code("aclrtSetSysParamOpt", 3, ctypes.c_int64(1)) == 100000
    available = ctypes.c_uint32()
    client.call("aclrtGetStreamAvailableNum", ctypes.byref(available))
    assert 1900 < available.value <= 1984
    assert client.device.calls("aclrtSetOp*") >= 2


# -------------------- streams --------------------


def test_a_stream_works_in_order_and_later(client, device, value):
    with device.paused():
        for number in range(1, 200):
            value.set(number)
        assert device.pending(None) == 199
        assert value.bytes() == bytes(16)
        status = ctypes.c_int32(-1)
        client.call("aclrtStreamQuery", None, ctypes.byref(status))
        assert status.value == 1
    synchronize(client)
    client.call("aclrtStreamQuery", None, ctypes.byref(status))
    assert status.value == 0 and value.bytes() == bytes([199] * 16)


def test_launches_do_not_wait(client, device, value):
    with device.paused():
        for _ in range(1000):
            client.call("aclrtMemsetAsync", p(value.address), size_t(16), 1, size_t(16), None)
        assert device.pending(None) == 1000
    synchronize(client)


def test_streams_do_not_wait_for_each_other(client, device, value):
    with streams(client, 2) as (one, other):
        with device.paused(one):
            value.set(1, one)
            value.set(2, other)
            synchronize(client, other)
            assert value.bytes() == b"\2" * 16
        synchronize(client, one)
        assert value.bytes() == b"\1" * 16
    assert "on two streams, and nothing orders them" in device.violations()[0]


def test_waiting_has_limits(client, device, value):
    with device.paused():
        value.set(1)
        begin = time.monotonic()
        assert client.code("aclrtSynchronizeStreamWithTimeout", None, 50) == 507046
        assert client.code("aclrtSynchronizeDeviceWithTimeout", 1) == 507046
        assert 0.04 < time.monotonic() - begin < 5
    client.call("aclrtSynchronizeStreamWithTimeout", None, -1)
    client.call("aclrtSynchronizeDevice")


def test_a_delay_makes_an_op_late(client, device, value):
    with device.delayed("aclrtMemset*", 0.05):
        value.set(1)
        assert client.code("aclrtSynchronizeStreamWithTimeout", None, 1) == 507046
        synchronize(client)


@pytest.mark.parametrize(("mode", "later"), [(0, True), (1, False)])
def test_failures_of_a_stream(client, device, value, mode, later):
    """By default what comes after a failed job still runs; with mode 1 it is dropped, and nothing more is taken."""
    with streams(client, 1) as (stream,):
        client.call("aclrtSetStreamFailureMode", p(stream), ctypes.c_uint64(mode))
        with device.injected("aclrtMemsetAsync", 507015, phase=1), device.paused(stream):
            value.set(1, stream)
            value.set(2, stream)
        assert "injected" in fails(507015, synchronize, client, stream)
        assert value.bytes() == (b"\2" if later else b"\0") * 16
        status = ctypes.c_int32()
        assert client.code("aclrtStreamQuery", p(stream), ctypes.byref(status)) == 507015
        code = client.code("aclrtMemsetAsync", p(value.address), size_t(16), 3, size_t(16), p(stream))
        assert code == (0 if later else 507015)
    assert client.code("aclrtSetStreamFailureMode", None, ctypes.c_uint64(1)) == 107000


def test_an_evaluator_that_raises_fails_the_stream(client, device):
    with streams(client, 1):
        x = np.array([1, 5])  # beyond the end: only the values tell
        message = fails(507015, client.run, "aclnnIndexSelect", np.ones(3, "f4"), 0, x, np.ones(2, "f4"))
    assert "IndexError: positions 1 to 5 of 3" in message
    assert "Traceback" in device.failures.pop() and not device.failures


def test_an_aborted_stream_drops_its_jobs(client, device, value):
    with streams(client, 1) as (stream,), device.paused(stream):
        value.set(1, stream)
        codes = []
        default = client.made("aclrtGetCurrentContext")

        def wait():
            client.call("aclrtSetCurrentContext", p(default))
            codes.append(client.code("aclrtSynchronizeStream", p(stream)))

        thread = threading.Thread(target=wait)
        thread.start()
        while device.calls("aclrtSynchronizeStream") < 1:
            time.sleep(0.001)
        time.sleep(0.02)
        client.call("aclrtStreamAbort", p(stream))
        thread.join(10)
        assert codes == [107023] and device.pending(stream) == 0
        value.set(2, stream)
        client.call("aclrtDeviceTaskAbort", 0, 0)
        assert device.pending(stream) == 0
    assert value.bytes() == bytes(16)


def test_destroying_a_stream_waits_for_it(client, device, value):
    stream = client.made("aclrtCreateStreamWithConfig", 0, 3)
    with device.delayed("aclrtMemsetAsync", 0.02):
        value.set(5, stream)
        client.call("aclrtDestroyStream", p(stream))
    assert value.bytes() == b"\5" * 16
    assert client.code("aclrtDestroyStream", p(stream)) == 107017
    assert client.code("aclrtSynchronizeStream", p(stream)) == 107017
    assert len(device.violations()) == 2
    stream = client.made("aclrtCreateStream")
    device.core.sim_pause(p(stream), 1)
    value.set(6, stream)
    client.call("aclrtDestroyStreamForce", p(stream))
    assert value.bytes() == b"\5" * 16


def test_there_are_so_many_streams(client, device):
    device.core.sim_set_stream_limit(4)
    try:
        with streams(client, 3) as made:
            numbers = [ctypes.c_int32() for _ in made]
            for stream, number in zip(made, numbers):
                client.call("aclrtStreamGetId", p(stream), ctypes.byref(number))
            assert len({number.value for number in numbers}) == 3
            synchronize(client)  # which makes the default stream
            assert client.code("aclrtCreateStream", ctypes.byref(p())) == 207008
    finally:
        device.core.sim_set_stream_limit(1984)


def test_callbacks_run_on_the_stream(client, device):
    seen = []
    function = ctypes.CFUNCTYPE(None, p)(lambda data: seen.append((data, threading.get_ident())))
    with device.paused():
        client.call("aclrtLaunchCallback", function, p(7), 1, None)
        assert not seen
    synchronize(client)
    assert seen[0][0] == 7 and seen[0][1] != threading.get_ident()


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_seed_decides_the_order_between_streams(client, device, seed):
    orders = []
    for _ in range(2):
        seen = []
        functions = [ctypes.CFUNCTYPE(None, p)(seen.append) for _ in range(3)]
        with streams(client, 3) as made, device.scheduled(seed):
            for number in range(12):
                own = number % 3
                client.call("aclrtLaunchCallback", functions[own], p(number + 1), 1, p(made[own]))
        assert [each for each in seen if each % 3 == 1] == [1, 4, 7, 10]
        orders.append(seen)
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == list(range(1, 13))


# -------------------- events --------------------


def test_streams_wait_for_events(client, device, value):
    with streams(client, 2) as (one, other), event(client) as mark:
        with device.paused(one):
            value.set(1, one)
            client.call("aclrtRecordEvent", mark, p(one))
            client.call("aclrtStreamWaitEvent", p(other), mark)
            value.set(2, other)
            assert client.code("aclrtSynchronizeStreamWithTimeout", p(other), 20) == 507046
            assert client.code("aclrtSynchronizeEventWithTimeout", mark, 1) == 507047
            assert value.bytes() == bytes(16)
        synchronize(client, other)
        assert value.bytes() == b"\2" * 16


def test_an_event_is_of_its_last_record(client, device, value):
    with streams(client, 2) as (one, other), event(client) as mark:
        status = ctypes.c_int32(-1)
        client.call("aclrtQueryEventStatus", mark, ctypes.byref(status))
        assert status.value == 1  # COMPLETE, as one that was never recorded
        client.call("aclrtRecordEvent", mark, p(other))
        client.call("aclrtSynchronizeEvent", mark)
        with device.paused(one):
            client.call("aclrtRecordEvent", mark, p(one))
            client.call("aclrtQueryEventStatus", mark, ctypes.byref(status))
            assert status.value == 0  # NOT_READY
        client.call("aclrtSynchronizeEvent", mark)
        client.call("aclrtQueryEventStatus", mark, ctypes.byref(status))
        assert status.value == 1
        assert client.code("aclrtQueryEvent", mark, ctypes.byref(status)) == 107000
        assert client.code("aclrtResetEvent", mark, None) == 107000


def test_events_of_the_old_kind(client, device):
    made = p(client.made("aclrtCreateEvent"))
    status = ctypes.c_int32(-1)
    with device.paused():
        client.call("aclrtRecordEvent", made, None)
        client.call("aclrtQueryEvent", made, ctypes.byref(status))
        assert status.value == 1  # NOT_READY: the other way round
    synchronize(client)
    client.call("aclrtQueryEvent", made, ctypes.byref(status))
    assert status.value == 0
    client.call("aclrtResetEvent", made, None)
    synchronize(client)
    client.call("aclrtQueryEvent", made, ctypes.byref(status))
    assert status.value == 1
    client.call("aclrtDestroyEvent", made)
    assert client.code("aclrtDestroyEvent", made) == 107017
    assert device.violations()


def test_events_have_a_time_if_they_are_made_so(client, device, value):
    elapsed = ctypes.c_float()
    with event(client) as start, event(client) as end, event(client, 1) as untimed, event(client, 8) as timer:
        assert client.code("aclrtEventElapsedTime", ctypes.byref(elapsed), start, end) == 107006
        client.call("aclrtRecordEvent", start, None)
        with device.delayed("aclrtMemsetAsync", 0.02):
            value.set(1)
            synchronize(client)
        for each in (end, untimed):
            client.call("aclrtRecordEvent", each, None)
        synchronize(client)
        client.call("aclrtEventElapsedTime", ctypes.byref(elapsed), start, end)
        assert 19 < elapsed.value < 5000
        assert client.code("aclrtEventElapsedTime", ctypes.byref(elapsed), end, start) == 107007
        assert client.code("aclrtEventElapsedTime", ctypes.byref(elapsed), start, untimed) == 107006
        assert client.code("aclrtStreamWaitEvent", None, timer) == 107000


def test_an_event_may_go_while_it_is_awaited(client, device, value):
    with streams(client, 2) as (one, other):
        with device.paused(one):
            with event(client) as mark:
                client.call("aclrtRecordEvent", mark, p(one))
                client.call("aclrtStreamWaitEvent", p(other), mark)
            value.set(3, other)
        synchronize(client, other)
        assert value.bytes() == b"\3" * 16
