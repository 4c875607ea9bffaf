"""The simulated NPU by itself: what it is made of, its libraries, arguments, and the two phases of an op."""

from __future__ import annotations

import ast
import ctypes
import re
import sys

import numpy as np
import pytest

from tests.npu import fixtures
from tests.npu.client import Failed
from tests.npu.helpers import ROOT, Value, fails, in_a_process, p, size_t, synchronize
from tests.npu_simulator import build
from tests.npu_simulator.evaluate import CONTIGUOUS_ONLY, EVALUATORS
from tests.npu_simulator.evaluate.contract import BFLOAT16
from tests.npu_simulator.generate import C_TYPES, custom_signatures, signatures

SIMULATOR = ROOT / "tests" / "npu_simulator"


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
    assert keys & signatures().keys() - EVALUATORS.keys() == set()
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
