"""The simulated HCCL by itself: what its collectives compute, in processes of their own, and what it refuses."""

import pytest

from tests.npu import fixtures
from tests.npu.ranks import outputs, start

pytestmark = pytest.mark.usefixtures("toolkit")
toolkit = fixtures.toolkit

REDUCTIONS = """
COUNT = 70_001  # more than one chunk, but for bytes
for name, dtype in CODES.items():
    if dtype > 5:
        continue
    for op, combine in ((SUM, np.add), (PROD, np.multiply), (MAX, np.maximum), (MIN, np.minimum)):
        if op == PROD and name == "i2":
            continue
        draws = np.random.default_rng(dtype)
        every = [draws.integers(-5, 6, COUNT).astype(name) for _ in range(ranks)]
        want = every[0].copy()
        for other in every[1:]:
            want = combine(want, other)
        got = np.zeros_like(want)
        here.run("HcclAllReduce", [every[rank], got], At(0), At(1), u64(COUNT), dtype, op)
        np.testing.assert_array_equal(got, want)
        here.run("HcclAllReduce", [every[rank]], At(0), At(0), u64(COUNT), dtype, op)
        np.testing.assert_array_equal(every[rank], want)
        root = dtype % ranks
        got[:] = 77
        here.run("HcclReduce", [want, got], At(0), At(1), u64(COUNT), dtype, MAX, u32(root))
        np.testing.assert_array_equal(got, want if rank == root else np.full_like(want, 77))
        part = COUNT // ranks
        got = np.zeros(part, name)
        here.run("HcclReduceScatter", [want[: ranks * part].copy(), got], At(0), At(1), u64(part), dtype, MIN)
        np.testing.assert_array_equal(got, want[rank * part : (rank + 1) * part])
"""

ROUNDING = """
numbers = np.arange(1 << 16, dtype="u2").view("f2")
every = [numbers, np.roll(numbers, 1)] + [np.zeros_like(numbers)] * (ranks - 2)
got = np.zeros_like(numbers)
here.run("HcclAllReduce", [every[rank], got], At(0), At(1), u64(numbers.size), CODES["f2"], SUM)
with np.errstate(all="ignore"):
    want = sum((each.astype("f4") for each in every[1:]), every[0].astype("f4")).astype("f2")
np.testing.assert_array_equal(got, want)
"""

PARTS = """
COUNT = 70_001
for name, dtype in CODES.items():
    every = [np.random.default_rng((dtype, each)).integers(0, 100, ranks * COUNT).astype(name) for each in range(ranks)]
    mine = every[rank]
    got = np.zeros(ranks * COUNT, name)
    here.run("HcclAllGather", [mine[:COUNT].copy(), got], At(0), At(1), u64(COUNT), dtype)
    np.testing.assert_array_equal(got, np.concatenate([each[:COUNT] for each in every]))
    root = dtype % ranks
    got = mine.copy()
    here.run("HcclBroadcast", [got], At(0), u64(got.size), dtype, u32(root))
    np.testing.assert_array_equal(got, every[root])
    got = np.zeros(COUNT, name)
    here.run("HcclScatter", [mine, got], At(0), At(1), u64(COUNT), dtype, u32(root))
    np.testing.assert_array_equal(got, every[root][rank * COUNT : (rank + 1) * COUNT])
    got = np.zeros(ranks * COUNT, name)
    here.run("HcclAlltoAll", [mine, got], At(0), u64(COUNT), dtype, At(1), u64(COUNT), dtype)
    np.testing.assert_array_equal(got, np.concatenate([each[rank * COUNT : (rank + 1) * COUNT] for each in every]))
    counts = (u64 * ranks)(*[10 * rank + each for each in range(ranks)])
    starts = (u64 * ranks)(*[each * COUNT for each in range(ranks)])
    taken = (u64 * ranks)(*[10 * each + rank for each in range(ranks)])
    taken_at = (u64 * ranks)(*[each * 100 for each in range(ranks)])
    got = np.zeros(ranks * 100, name)
    here.run("HcclAlltoAllV", [mine, got], At(0), counts, starts, dtype, At(1), taken, taken_at, dtype)
    for each in range(ranks):
        part = every[each][rank * COUNT :][: 10 * each + rank]
        np.testing.assert_array_equal(got[each * 100 :][: part.size], part)
    got = mine.copy()
    if rank == 0:
        here.run("HcclSend", [mine], At(0), u64(mine.size), dtype, u32(ranks - 1))
    elif rank == ranks - 1:
        here.run("HcclRecv", [got], At(0), u64(mine.size), dtype, u32(0))
        np.testing.assert_array_equal(got, every[0])
    here.run("HcclBarrier", [])
"""

SUBGROUPS = """
config = ctypes.create_string_buffer(160)
ctypes.memmove(config, (ctypes.c_uint64 * 1)(160), 8)
ctypes.memmove(ctypes.byref(config, 8), (u32 * 2)(0xF0F0F0F0, 2), 8)
config[32:36] = b"pair"
whole, made = here.comm, ctypes.c_void_p()
if rank != 1:
    members = (u32 * 2)(2, 0)
    own = 0 if rank == 2 else 1
    part = members, u64(5), u32(own), config, ctypes.byref(made)
    here.client.call("HcclCreateSubCommConfig", ctypes.byref(whole), u32(2), *part)
    name, size, place = ctypes.create_string_buffer(128), u32(), u32()
    here.client.call("HcclGetCommName", made, name)
    here.client.call("HcclGetRankSize", made, ctypes.byref(size))
    here.client.call("HcclGetRankId", made, ctypes.byref(place))
    assert (name.value, size.value, place.value) == (b"pair", 2, own)
    here.comm = made
    got = np.zeros(2, "i4")
    here.run("HcclAllGather", [np.full(1, rank, "i4"), got], At(0), At(1), u64(1), CODES["i4"])
    assert got.tolist() == [2, 0]
    here.client.call("HcclCommDestroy", made)
    here.comm = whole
here.run("HcclBarrier", [])
"""

REFUSALS = """
x = p(here.client.upload(np.zeros(16, "f4")))
y = p(x.value + 4)
one, f4 = u64(1), CODES["f4"]
call = lambda name, *arguments: here.code(name, *arguments, here.comm, None)
assert call("HcclAllReduce", x, x, one, CODES["f8"], SUM) == 5  # not reduced
assert call("HcclAllReduce", x, x, one, CODES["u1"], SUM) == 5
assert call("HcclAllReduce", x, x, one, CODES["i2"], PROD) == 5
assert call("HcclAllReduce", x, x, one, f4, 4) == 5
assert call("HcclAllReduce", x, x, u64(17), f4, SUM) == 1  # beyond its block
assert call("HcclAllReduce", p(x.value + 2), x, one, f4, SUM) == 1  # not aligned
assert call("HcclAllReduce", np.zeros(4, "f4").ctypes.data_as(p), x, one, f4, SUM) == 1  # the host's
assert call("HcclBroadcast", x, one, f4, u32(ranks)) == 1
assert call("HcclSend", x, one, f4, u32(rank)) == 1
assert here.code("HcclAllReduce", x, x, one, f4, SUM, p(12345), None) == 2
assert here.code("HcclGetRootInfo", None) == 2
assert here.client.function("HcclGetErrorString")(9) == b"timeout"
with here.device.injected("HcclAllReduce", 4):
    assert call("HcclAllReduce", x, x, one, f4, SUM) == 4
here.client.free(x.value)
here.stop()
"""

MISMATCH = """
x = p(here.client.upload(np.zeros(16, "f4")))
assert here.code("HcclAllReduce", x, x, u64(4 + rank), CODES["f4"], SUM, here.comm, None) == 0
assert here.code("aclrtSynchronizeStream", None) == 507048
assert f"rank {rank} calls HcclAllReduce of {4 + rank} elements" in "".join(here.device.violations())
error = ctypes.c_int()
assert here.code("HcclGetCommAsyncError", here.comm, ctypes.byref(error)) == 0
assert error.value == 21
"""

DEATH = """
x = p(here.client.upload(np.zeros(16, "f4")))
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
assert here.code("HcclAllReduce", x, x, u64(4), CODES["f4"], SUM, here.comm, None) == 0
error = ctypes.c_int()
while not error.value:
    assert here.code("HcclGetCommAsyncError", here.comm, ctypes.byref(error)) == 0
    time.sleep(0.01)
assert error.value == 21
pending = ctypes.c_int()
here.client.call("aclrtStreamQuery", None, ctypes.byref(pending))
assert pending.value == 1  # it waits for what does not come, until it is aborted
here.client.call("aclrtStreamAbort", None)
here.client.call("aclrtSynchronizeDevice")
print("aborted")
"""

LATE = """
x = p(here.client.upload(np.zeros(16, "f4")))
if rank == 0:
    assert here.code("HcclAllReduce", x, x, u64(4), CODES["f4"], SUM, here.comm, None) == 0
    assert here.code("aclrtSynchronizeStream", None) == 507048
else:
    time.sleep(1.0)
"""


@pytest.mark.parametrize("code", [REDUCTIONS + ROUNDING, PARTS + SUBGROUPS], ids=["reductions", "parts"])
def test_collectives_give_what_numpy_gives(tmp_path, code):
    outputs(start(tmp_path, 3, code + "here.stop()"))


def test_refusals(tmp_path):
    outputs(start(tmp_path, 2, REFUSALS))


def test_what_ranks_do_not_agree_on_is_a_violation(tmp_path):
    outputs(start(tmp_path, 2, MISMATCH))


def test_a_dead_process_is_an_asynchronous_error(tmp_path):
    first, second = start(tmp_path, 2, DEATH)
    assert "aborted" in first.communicate(timeout=30)[0]
    second.communicate()
    assert (first.returncode, second.returncode) == (0, -9)


def test_a_late_process_is_a_timeout(tmp_path):
    outputs(start(tmp_path, 2, LATE, HCCL_EXEC_TIMEOUT="0.3"))


def test_who_does_not_come_at_all_is_a_timeout_of_the_connection(tmp_path):
    first, second = start(tmp_path, 2, "", HCCL_CONNECT_TIMEOUT="0.3")
    second.kill()
    second.communicate()
    assert "HcclCommInitRootInfo: 9" in first.communicate(timeout=30)[0]
