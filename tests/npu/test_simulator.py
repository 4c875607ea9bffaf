"""The simulated NPU by itself, through its C interface: what the backend's tests can rely on."""

from __future__ import annotations

import ast
import ctypes
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.npu import fixtures
from tests.npu.client import Client, Failed, int64s
from tests.npu_simulator import build
from tests.npu_simulator.evaluate import CONTIGUOUS_ONLY, EVALUATORS
from tests.npu_simulator.evaluate.contract import BFLOAT16
from tests.npu_simulator.generate import C_TYPES, Signature, custom_signatures, signatures, stubs

ROOT = Path(__file__).parent.parent.parent
SIMULATOR = ROOT / "tests" / "npu_simulator"
p = ctypes.c_void_p
size_t = ctypes.c_size_t


def fails(code, function, *arguments):
    """The call fails with that code; its message."""
    with pytest.raises(Failed) as caught:
        function(*arguments)
    assert caught.value.code == code, caught.value
    return caught.value.message


@contextmanager
def streams(client, count):
    """Streams that are destroyed at the end."""
    made = [client.made("aclrtCreateStream") for _ in range(count)]
    try:
        yield made
    finally:
        for stream in made:
            client.call("aclrtDestroyStream", p(stream))


@contextmanager
def event(client, flags=9):
    """An event: by default one to wait for (1) that has a time (8)."""
    made = client.made("aclrtCreateEventExWithFlag", flags)
    try:
        yield p(made)
    finally:
        client.call("aclrtDestroyEvent", p(made))


class Value:
    """Four float32 in device memory with a descriptor: ops on them show in which order they ran."""

    def __init__(self, client, value=0.0):
        self.client = client
        self.address = client.upload(np.full(4, value, "f4"))
        self.handle = client.tensor((4,), (1,), "f4", self.address, 0, 4)

    def set(self, value, stream=None):
        """By aclrtMemsetAsync: each byte."""
        self.client.call("aclrtMemsetAsync", p(self.address), size_t(16), value, size_t(16), p(stream))

    def bytes(self):
        return self.client.device.peek(self.address, 16)

    def close(self):
        self.client.call("aclDestroyTensor", p(self.handle))
        self.client.free(self.address)


@pytest.fixture
def value(client):
    made = Value(client)
    yield made
    made.close()


def synchronize(client, stream=None):
    client.call("aclrtSynchronizeStream", p(stream))


# -------------------- what it is made of --------------------


def test_nothing_of_it_knows_the_library_or_its_ops():
    allowed = {"numpy", "scipy", "ml_dtypes", "tests.npu_simulator", *sys.stdlib_module_names}
    for path in SIMULATOR.rglob("*.py"):
        text = path.read_text()
        assert "ops.yaml" not in text.replace("never ops.yaml", ""), path
        for node in ast.walk(ast.parse(text)):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in getattr(node, "names", ())]
            for name in names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                assert any(name == each or name.startswith(each + ".") for each in allowed), f"{path} imports {name}"


def test_the_table_has_known_kinds_and_a_source_for_what_is_in_no_header():
    for each in signatures().values():
        assert set(each.kinds) <= set(C_TYPES) and len(each.kinds) == len(each.parameters), each
        assert each.repository in build.VARIANTS["split"]
        assert bool(each.source) or each.repository in ("ops-math", "ops-nn"), each


def test_each_evaluator_takes_the_arguments_of_its_header():
    table = signatures() | {each.name: each for each in custom_signatures()}
    for name, evaluator in EVALUATORS.items():
        signature = table[name]
        arguments = evaluator.__code__
        count, variadic = arguments.co_argcount, bool(arguments.co_flags & 4)
        required = count - len(evaluator.__defaults__ or ())
        assert len(signature.kinds) >= required if variadic else len(signature.kinds) == count, name


def test_every_op_that_is_promised_can_be_evaluated():
    """Of the op table, by text: what has an `aclnn:` key there, but for names that no header has."""
    keys = set(re.findall(r"^ +aclnn: (aclnn\w+)", (ROOT / "ops.yaml").read_text(), re.MULTILINE))
    assert keys & signatures().keys() <= EVALUATORS.keys()
    assert EVALUATORS.keys() - {"aclnnAddCustom"} <= signatures().keys()
    assert set(CONTIGUOUS_ONLY) <= EVALUATORS.keys()


def test_without_a_compiler_it_says_so(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "needs a C compiler" in build.unavailable()
    with pytest.raises(RuntimeError, match="needs a C compiler"):
        build.build()


@pytest.mark.parametrize(("required", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_the_skip_becomes_a_failure_where_the_device_is_required(monkeypatch, required, outcome):
    monkeypatch.setenv(fixtures.REQUIRED, required)
    monkeypatch.setattr(build, "unavailable", lambda: "no compiler")
    with pytest.raises(outcome, match="no compiler"):
        fixtures.available()


def test_a_mistake_in_the_sources_is_reported(toolkit, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "_cache", lambda: tmp_path)
    monkeypatch.setattr(build, "_sources", lambda *_: {"lib64/" + build.CORE: {"ops.c": "no C at all"}})
    with pytest.raises(RuntimeError, match="does not compile"):
        build.build()
    assert not list(tmp_path.iterdir())


# -------------------- libraries --------------------


def in_a_process(code, **environment):
    """Runs code after imports that it needs; libraries can be loaded once in a process."""
    prelude = "import ctypes, os, sys\nimport numpy as np\nfrom tests.npu_simulator import build\n"
    prelude += "from tests.npu_simulator.device import Device\nfrom tests.npu.client import Client, Failed\n"
    own = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-c", prelude + textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=own, cwd=ROOT)


def test_variants_of_the_toolkit(toolkit):
    result = in_a_process("""
        toolkit = build.build("split", without=["aclnnTopk"])
        device = Device(toolkit)
        client = Client(device)
        client.start()
        out = np.zeros(3, "f4")
        client.run("aclnnAdd", np.ones(3, "f4"), np.ones(3, "f4"), 1, out)
        math, nn = (device.library(f"libopapi_{name}.so") for name in ("math", "nn"))
        assert out.tolist() == [2, 2, 2]
        assert hasattr(math, "aclnnAdd") and not hasattr(nn, "aclnnAdd") and hasattr(nn, "aclnnGatherGetWorkspaceSize")
        assert not hasattr(nn, "aclnnTopk") and not hasattr(nn, "aclnnTopkGetWorkspaceSize")
        assert not (toolkit.libraries / "libopapi.so").exists()
        acl = device.library("libascendcl.so")
        assert not hasattr(acl, "aclnnAdd") and not hasattr(acl, "aclCreateTensor")
        own = ctypes.CDLL(str(toolkit.custom / "op_api/lib/libcust_opapi.so"))
        assert hasattr(own, "aclnnAddCustom")
        assert toolkit.environment(custom=True)["ASCEND_CUSTOM_OPP_PATH"] == str(toolkit.custom)
        client.stop()
        assert not device.leaks()
    """)
    assert result.returncode == 0, result.stderr


def test_the_driver_counts_devices_without_initialization(device):
    count = ctypes.c_uint32()
    assert device.library("libascend_hal.so").drvGetDevNum(ctypes.byref(count)) == 0
    assert count.value == 2


@pytest.mark.parametrize(
    ("listed", "count"), [("0,1", 2), ("1", 1), ("1,0", 0), ("0,0", 0), ("0,7", 0), ("x", 0), ("", 0)]
)
def test_visible_devices_must_ascend(client, monkeypatch, listed, count):
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", listed)
    found = ctypes.c_uint32()
    libc = ctypes.CDLL(None)  # os.environ of Python is not what getenv of C sees in every version
    libc.setenv(b"ASCEND_RT_VISIBLE_DEVICES", listed.encode(), 1)
    try:
        client.call("aclrtGetDeviceCount", ctypes.byref(found))
    finally:
        libc.unsetenv(b"ASCEND_RT_VISIBLE_DEVICES")
    assert found.value == count


# -------------------- arguments --------------------

SAMPLES = {
    "z": b"text", "d": 9, "b": True, "c": -3, "h": -300, "i": -70000, "u": 4000000000, "l": -(2**40), "q": 2**63 + 5,
    "g": 1.1, "f": np.float32(1.1),
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(set("".join(each.kinds for each in signatures().values())) & set(SAMPLES)))
def test_each_kind_of_number_arrives(client, device, kind):
    """By way of the real calling convention, at every place of the longest lists of arguments."""
    ops = sorted((each for each in signatures().values() if kind in each.kinds), key=lambda each: -len(each.kinds))[:3]
    for op in ops:
        seen = []

        def evaluator(*arguments, seen=seen):
            seen.append(arguments)

        device.forget_checks()
        device.evaluators[op.name] = evaluator
        try:
            client.prepare_and_drop(op.name, [None if k in "TLSRIFB" else SAMPLES.get(k) for k in op.kinds])
        finally:
            device.evaluators.pop(op.name)
            device.evaluators |= {op.name: EVALUATORS[op.name]} if op.name in EVALUATORS else {}
        expected = {"z": "text", "d": np.dtype("int64")} | {k: v for k, v in SAMPLES.items() if k not in "zd"}
        for got, own in zip(seen[0], op.kinds, strict=True):
            assert got is None if own in "TLSRIFB" else got == expected[own], (op.name, own, got)


@pytest.mark.parametrize("number", [True, -(2**62), 0.1, 3 + 4j])
def test_scalars_of_every_category_arrive(client, device, number):
    seen = arguments_seen(client, device, "aclnnMuls", np.ones(2, "f4"), number, np.ones(2, "f4"))
    assert seen[1] == number and type(seen[1]) is type(number)


def arguments_seen(client, device, name, *arguments):
    """What the evaluator gets."""
    seen = []
    own = device.evaluators[name]
    device.forget_checks()
    device.evaluators[name] = lambda *found: seen.append(found)
    try:
        client.run(name, *arguments)
    finally:
        device.evaluators[name] = own
        device.forget_checks()
    return seen[-1]


@pytest.mark.parametrize("code", [1, 27, 0])
def test_scalars_may_be_narrow(client, device, code):
    dtype = {1: np.float16, 27: BFLOAT16, 0: np.float32}[code]
    for number in (1.5, -0.09375, 6e4 if code != 27 else 2.0**100, 6e-8 if code == 1 else 0.0, float("inf")):
        holder = np.array(number, dtype)
        handle = client.function("aclCreateScalar")(holder.ctypes.data_as(p), code)
        made = client.tensor((0,), (1,), "f4", None)
        seen = []
        own, device.evaluators["aclnnInplaceFillScalar"] = (
            device.evaluators["aclnnInplaceFillScalar"],
            lambda *a, s=seen: s.append(a),
        )
        device.forget_checks()
        try:
            client.prepare_and_drop("aclnnInplaceFillScalar", [made, handle])
        finally:
            device.evaluators["aclnnInplaceFillScalar"] = own
        assert seen[0][1] == float(holder)
        client.call("aclDestroyScalar", p(handle))
        client.call("aclDestroyTensor", p(made))


def test_arrays_and_lists_arrive(client, device):
    seen = arguments_seen(client, device, "aclnnCat", [np.ones(2, "f4"), np.zeros((3, 2), "i8")], -1, np.ones(2, "f4"))
    assert [each.shape for each in seen[0]] == [(2,), (3, 2)] and seen[0][1].dtype == np.int64
    x = np.ones((2, 2), "f4")
    seen = arguments_seen(
        client, device, "aclnnLayerNormBackward", x, x, (2,), x, x, None, None, (True, False, True), x, None, x
    )
    assert seen[2] == (2,) and seen[7] == (True, False, True) and seen[5] is None
    seen = arguments_seen(client, device, "aclnnForeachAddScalarList", [x, x], [1, 2.5], [x, x])
    assert seen[1] == [1, 2.5]


@pytest.mark.parametrize("change", ["transposed", "sliced", "negative", "expanded", "empty", "scalar"])
def test_views_arrive(client, device, change):
    base = np.arange(24.0, dtype="f4").reshape(4, 6)
    view = {
        "transposed": base.T,
        "sliced": base[1:, 2::2],
        "negative": base[::-1],
        "empty": base[:0],
        "scalar": base[2, 3:4].reshape(()),
        "expanded": np.broadcast_to(base[:, :1], (4, 6)),
    }[change]
    out = np.empty(view.shape, "f4")
    client.run("aclnnNeg", view, out)
    np.testing.assert_array_equal(out, -view)


# -------------------- descriptors --------------------


def test_a_descriptor_tells_what_it_was_made_of(client):
    address = client.malloc(400)
    tensor = client.tensor((2, 3), (6, 2), "i8", address, 5, 50)
    for name, expected in (("ViewShape", [2, 3]), ("ViewStrides", [6, 2]), ("StorageShape", [50])):
        values, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        client.call(f"aclGet{name}", p(tensor), ctypes.byref(values), ctypes.byref(count))
        assert values[: count.value] == expected
        ctypes.CDLL(None).free(values)
    for name, kind, expected in (
        ("ViewOffset", ctypes.c_int64, 5),
        ("DataType", ctypes.c_int32, 9),
        ("Format", ctypes.c_int32, 2),
    ):
        value = kind()
        client.call(f"aclGet{name}", p(tensor), ctypes.byref(value))
        assert value.value == expected
    found = p()
    client.call("aclGetRawTensorAddr", p(tensor), ctypes.byref(found))
    assert found.value == address
    client.call("aclDestroyTensor", p(tensor))
    client.free(address)


def test_descriptors_that_cannot_be(client):
    address = client.malloc(100)
    assert not client.tensor((1,) * 9, (1,) * 9, "f4", address, 0, 25)
    assert not client.tensor((1,), (1,), "f4", address + 4, 0, 24)
    assert "not aligned to 32" in client.message()
    assert not client.function("aclCreateScalar")(None, 0)
    client.free(address)


def refused(client, device, **change):
    """aclnnNeg of a descriptor with something wrong; the code, and the message."""
    good = {"shape": (4,), "strides": (1,), "dtype": "f4", "address": client.malloc(16), "offset": 0, "storage": 4}
    mine = good["address"]
    bad = client.tensor(**{**good, **change})
    out = client.tensor(**good)
    with pytest.raises(Failed) as caught:
        client.prepare("aclnnNeg", [bad, out])
    for handle in (bad, out):
        client.call("aclDestroyTensor", p(handle))
    client.free(mine)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"offset": 1}, "beyond its storage"),
        ({"strides": (2,)}, "beyond its storage"),
        ({"strides": (-1,)}, "before its storage"),
        ({"storage": 400, "shape": (100,)}, "not in memory of a device"),
    ],
)
def test_views_beyond_their_memory_are_refused(client, device, change, text):
    code, message = refused(client, device, **change)
    assert code == 161002 and text in message


def test_memory_of_the_host_is_refused(client, device):
    holder = np.zeros(24, "f4")
    aligned = (holder.ctypes.data + 31) // 32 * 32
    code, message = refused(client, device, address=aligned)
    assert code == 161002 and "not in memory of a device" in message


def test_what_was_destroyed_is_not_used_again(client, device, value):
    stale = client.tensor((4,), (1,), "f4", value.address, 0, 4)
    client.call("aclDestroyTensor", p(stale))
    assert fails(561103, client.prepare, "aclnnNeg", [stale, value.handle])
    assert client.code("aclDestroyTensor", p(stale)) == 161002
    assert fails(561103, client.prepare, "aclnnNeg", [value.address, value.handle])
    scalar = client.scalar(1.0)
    assert fails(561103, client.prepare, "aclnnNeg", [scalar, value.handle])
    client.call("aclDestroyScalar", p(scalar))
    assert len(device.violations()) == 4


def test_a_list_owns_its_members(client, device, value):
    tensors = [client.tensor((4,), (1,), "f4", value.address, 0, 4) for _ in range(2)]
    made = client.list_of("L", tensors)
    client.call("aclDestroyTensorList", p(made))
    assert device.stats()["tensors"] == 1
    assert client.code("aclDestroyTensor", p(tensors[0])) == 161002
    assert device.violations()


@pytest.mark.parametrize("missing", [0, 1])
def test_what_is_required_is_not_null(client, value, missing):
    handles = [value.handle, value.handle]
    handles[missing] = None
    with pytest.raises(Failed) as caught:
        client.prepare("aclnnNeg", handles)
    assert caught.value.code in (161001, 161002) and "null" in caught.value.message


def test_outputs_are_checked_in_the_first_phase(client):
    x = np.ones((2, 3), "f4")
    for out, text in (
        (np.empty((2, 1), "f4"), "shape"),
        (np.empty((1, 2, 3), "f4"), "shape"),
        (np.empty((2, 3), "f2"), "dtype"),
    ):
        assert text in fails(161002, client.run, "aclnnSilu", x, out)
    assert "can't be cast" in fails(161002, client.run, "aclnnNeg", x, np.empty((2, 3), "i4"))
    assert "dtypes differ" in fails(161002, client.run, "aclnnMm", x, np.ones((3, 2), "f2"), np.empty((2, 2), "f4"), 0)


@pytest.mark.parametrize("name", ["aclnnErfinv"])
def test_some_ops_take_no_strided_tensors(client, name):
    x = np.full((2, 3), 0.5, "f4")
    assert "not contiguous" in fails(161002, client.run, name, x.T, np.empty((3, 2), "f4"))
    client.run(name, x, np.empty((2, 3), "f4"))


def test_an_op_that_is_not_evaluated_has_no_kernel(client):
    assert "aclnnNpuFormatCast" not in EVALUATORS
    assert "no evaluator" in fails(561003, client.run, "aclnnNpuFormatCast", np.ones(2, "f4"), np.ones(2, "f4"))


# -------------------- two phases --------------------


def test_an_executor_is_used_once(client, device, value):
    workspace, executor = client.prepare("aclnnInplaceNeg", [value.handle])
    room = client.malloc(workspace) if workspace else None
    client.launch("aclnnInplaceNeg", room, workspace, executor)
    assert "used up" in fails(561103, client.launch, "aclnnInplaceNeg", room, workspace, executor)
    assert client.code("aclDestroyAclOpExecutor", p(executor)) == 561103
    synchronize(client)
    assert len(device.violations()) == 2
    if room:
        client.free(room)


def test_an_executor_is_of_its_op(client, device, value):
    _, executor = client.prepare("aclnnInplaceNeg", [value.handle])
    fails(561103, client.launch, "aclnnInplaceZero", None, 0, executor)
    assert device.stats()["executors"] == 1
    assert device.violations()
    client.call("aclSetAclOpExecutorRepeatable", p(executor))
    client.call("aclDestroyAclOpExecutor", p(executor))


def test_a_repeatable_executor_belongs_to_the_caller(client, device):
    one, other = np.full(4, 2, "f4"), np.full(4, 3, "f4")
    first, second = client.upload(one), client.upload(other)
    tensor = client.tensor((4,), (1,), "f4", first, 0, 4)
    size, executor = client.prepare("aclnnInplaceNeg", [tensor])
    room = client.malloc(size) if size else None
    assert client.code("aclDestroyAclOpExecutor", p(executor)) == 561102
    client.call("aclSetAclOpExecutorRepeatable", p(executor))
    client.launch("aclnnInplaceNeg", room, size, executor)
    client.call("aclSetTensorAddr", p(executor), size_t(0), p(tensor), p(second))
    client.launch("aclnnInplaceNeg", room, size, executor)
    client.launch("aclnnInplaceNeg", room, size, executor)
    for address, array in ((first, one), (second, other)):
        client.download(address, array)
        client.free(address)
    assert one[0] == -2 and other[0] == 3
    client.call("aclDestroyAclOpExecutor", p(executor))
    client.call("aclDestroyTensor", p(tensor))
    if room:
        client.free(room)


def test_descriptors_may_go_when_the_second_phase_is_over(client, device, value):
    holder = Value(client, 5.0)
    with device.paused():
        workspace = client.enqueue("aclnnInplaceNeg", [holder.handle])
        client.call("aclDestroyTensor", p(holder.handle))
        assert device.pending(None) == 1
    synchronize(client)
    assert np.frombuffer(holder.bytes(), "f4").tolist() == [-5] * 4
    for address in filter(None, (holder.address, workspace)):
        client.free(address)


def op_with_workspace(client, value):
    for name in ("aclnnInplaceNeg", "aclnnInplaceZero", "aclnnInplaceOne", "aclnnInplaceExp", "aclnnInplaceSin"):
        size, executor = client.prepare(name, [value.handle])
        if size:
            return name, size, executor
        client.launch(name, None, 0, executor)
    raise AssertionError("no op with a workspace")


def test_the_workspace_is_device_memory_of_that_size(client, value):
    name, size, executor = op_with_workspace(client, value)
    room = client.malloc(size)
    holder = np.zeros(size, np.uint8)
    assert "bytes" in fails(161002, client.launch, name, room, size - 1, executor)
    assert "not in memory" in fails(161002, client.launch, name, holder.ctypes.data, size, executor)
    assert "not in memory" in fails(161002, client.launch, name, room + 32, size, executor)
    client.launch(name, room, size, executor)
    synchronize(client)
    assert client.device.peek(room, size) == b"\x5c" * size
    client.free(room)


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
