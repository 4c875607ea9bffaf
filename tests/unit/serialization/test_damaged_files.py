"""Damaged and forged files: each gives what was saved or a clean error, takes little memory, and runs nothing."""

import io
import os
import pickle
import random
import resource
import struct
import zipfile
from collections import OrderedDict

import pytest

import mindtorch as torch
from mindtorch import nn

CLEAN = (RuntimeError, ValueError, EOFError, pickle.UnpicklingError, TypeError)
COUNT = int(os.environ.get("DAMAGED_FILES", 400))  # for each format


def content():
    base = torch.arange(24.0)
    return OrderedDict(
        whole=base, part=base.reshape(4, 6)[1:, ::2], small=torch.arange(5, dtype=torch.uint16), text="text" * 3,
        parameter=nn.Parameter(torch.ones(3, 2)), sparse=torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,)),
        packed=torch.eye(3).to_sparse_csr(), meta=torch.ones(2, device="meta"), numbers=[1, 2.5, None, (3,)],
        buffer=nn.Buffer(torch.zeros(2)), complex=torch.tensor([1 + 2j]),
    )  # fmt: skip


def saved(value, **options):
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def loaded(content, **options):
    return torch.load(io.BytesIO(content), **options)


def same(found, expected):
    if isinstance(expected, torch.Tensor):
        return isinstance(found, torch.Tensor) and repr(found) == repr(expected)
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(same(found[key], expected[key]) for key in expected)
    return found == expected


def within_storage(value):
    """Whether every tensor lies in its storage. (Reading one that does not would be out of bounds.)"""
    if isinstance(value, dict):
        return all(map(within_storage, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(within_storage, value))
    if not isinstance(value, torch.Tensor) or value.is_meta or value.layout is not torch.strided or not value.numel():
        return True
    last = value.storage_offset() + sum((size - 1) * step for size, step in zip(value.shape, value.stride()))
    return value.storage_offset() >= 0 and (last + 1) * value.itemsize <= value.untyped_storage().nbytes()


@pytest.fixture
def little_memory():
    """A forged size of gigabytes is an error here."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


def damaged(content, dice):
    """A file with something wrong: bytes changed, taken out, put in, moved, or the end missing."""
    content = bytearray(content)
    place = dice.randrange(len(content))
    length = dice.choice((1, 1, 2, 4, 8, 30))
    kind = dice.randrange(6)
    if kind < 2:
        for _ in range(dice.choice((1, 1, 3))):
            content[dice.randrange(len(content))] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
    elif kind == 2:
        del content[place : place + length]
    elif kind == 3:
        content[place:place] = dice.randbytes(length)
    elif kind == 4:
        other = dice.randrange(len(content))
        content[place : place + length] = content[other : other + length]
    else:
        del content[place:]
    return bytes(content)


def repacked(content, change):
    """An archive with other records, whose checksums are right."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(result, "w") as after:
        for name in before.namelist():
            changed = change(name, before.read(name))
            if changed is not None:
                after.writestr(name, changed)
    return result.getvalue()


def damaged_pickle(content, dice):
    return repacked(content, lambda name, record: damaged(record, dice) if name.endswith("data.pkl") else record)


def damaged_records(content, dice):
    chosen = dice.randrange(12)
    names = []

    def change(name, record):
        names.append(name)
        if len(names) - 1 != chosen or name.endswith("data.pkl"):
            return record
        return dice.choice((None, record[:-1], record + b"\0", b""))

    return repacked(content, change)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("damage", [damaged, damaged_pickle, damaged_records])
@pytest.mark.parametrize("is_new", [True, False], ids=["zip", "old"])
def test_random_damage(damage, is_new):
    if damage is not damaged and not is_new:
        pytest.skip("the old format has no records")
    dice, before = random.Random(5), content()
    whole = saved(before, _use_new_zipfile_serialization=is_new)
    refused = 0
    for _ in range(COUNT):
        try:
            after = loaded(damage(whole, dice))
        except CLEAN:
            refused += 1
            continue
        assert within_storage(after)
        if damage is not damaged_pickle and is_new:  # a pickle may say something else, and the old format has no checks
            assert same(after, before)
    assert COUNT / 4 < refused


@pytest.mark.parametrize("name", ["os.mkdir", "posix.mkdir", "builtins.eval", "builtins.exec"])
def test_nothing_is_run(name, tmp_path):
    marker = str(tmp_path / "run").encode()
    function = name.replace(".", "\n").encode()
    code = b"\x80\x02c" + function + b"\nX" + struct.pack("<I", len(marker)) + marker + b"\x85R."
    archive = repacked(saved(1), lambda name, record: code if name.endswith("data.pkl") else record)
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {}))
    for file in (archive, head + code + pickle.dumps([], 2)):
        with pytest.raises(pickle.UnpicklingError, match="not an allowed global|is blocked"):
            loaded(file)
    assert torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(archive)) == [name]
    assert not os.path.exists(marker)


# -------------------- forged pickles --------------------


class Name:
    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self):
        raise AssertionError


class Call:
    def __init__(self, function, *arguments):
        self.reduced = function, arguments


class Stored:
    def __init__(self, *identity):
        self.identity = identity


class Pickler(pickle._Pickler):
    dispatch = pickle._Pickler.dispatch.copy()

    def save_name(self, name):
        self.write(f"c{name.module}\n{name.name}\n".encode())

    dispatch[Name] = save_name

    def persistent_id(self, value):
        return value.identity if isinstance(value, Stored) else None

    def reducer_override(self, value):
        return value.reduced if isinstance(value, Call) else NotImplemented


FLOATS = Name("torch", "FloatStorage")
TENSOR = Name("torch._utils", "_rebuild_tensor_v2")
SPARSE = Name("torch._utils", "_rebuild_sparse_tensor")


def forged(value, records=None, order="little"):
    pickled, file = io.BytesIO(), io.BytesIO()
    Pickler(pickled, 2).dump(value)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", pickled.getvalue())
        archive.writestr("a/byteorder", order)
        for name, record in (records or {"data/0": bytes(24)}).items():
            archive.writestr(f"a/{name}", record)
    return file.getvalue()


def tensor(offset=0, size=(2, 3), stride=(3, 1), count=6, kind=FLOATS, key="0", place="cpu", grad=False, more=()):
    return Call(TENSOR, Stored("storage", kind, key, place, count), offset, size, stride, grad, OrderedDict(), *more)


def coo(places, size):
    indices = tensor(0, (1, 2), (2, 1), 2, Name("torch", "LongStorage"), "1")
    layout = Call(Name("torch.serialization", "_get_layout"), "torch.sparse_coo")
    records = {"data/0": bytes(24), "data/1": struct.pack("<2q", *places)}
    return forged(Call(SPARSE, layout, (indices, tensor(0, (2,), (1,)), size, True)), records)


FORGED = {
    "short record": (forged(tensor(), {"data/0": bytes(20)}), RuntimeError, "record size .20 bytes. does not match"),
    "long record": (forged(tensor(), {"data/0": bytes(40)}), RuntimeError, "record size .40 bytes. does not match"),
    "more elements": (forged(tensor(count=7)), RuntimeError, "does not match expected size .28 bytes = 7 elements"),
    "gigabytes": (forged(tensor(count=2**60)), RuntimeError, "record size"),
    "negative count": (forged(tensor(count=-6)), (TypeError, pickle.UnpicklingError), "get_storage_from_record"),
    "float count": (forged(tensor(count=6.0)), (TypeError, pickle.UnpicklingError), "get_storage_from_record"),
    "negative size": (forged(tensor(size=(-2, 3))), RuntimeError, "numel: integer multiplication overflow"),
    "huge size": (forged(tensor(size=(2**62, 3))), RuntimeError, "numel: integer multiplication overflow"),
    "negative stride": (forged(tensor(stride=(-3, 1))), RuntimeError, "Storage size calculation overflowed"),
    "negative offset": (forged(tensor(offset=-1)), RuntimeError, "Tensor: invalid storage offset -1"),
    "offset too far": (forged(tensor(offset=1)), RuntimeError, "Trying to resize storage that is not resizable"),
    "stride too long": (forged(tensor(stride=(4, 1))), RuntimeError, "Trying to resize storage that is not resizable"),
    "too few strides": (forged(tensor(stride=(1,))), RuntimeError, "unequal size length .2. and stride length .1."),
    "float sizes": (forged(tensor(size=(2.0, 3))), (TypeError, pickle.UnpicklingError), "set_"),
    "expanded beyond": (forged(tensor(size=(2**61,), stride=(0,))), RuntimeError, "Storage size calculation overflow"),
    "no record": (forged(tensor(key="9")), RuntimeError, "failed locating file data/9: file not found"),
    "no such place": (forged(tensor(place="foo")), RuntimeError, "don't know how to restore data location of"),
    "cuda": (forged(tensor(place="cuda:0")), RuntimeError, "Attempting to deserialize object on a CUDA device"),
    "order": (forged(tensor(), order="middle"), ValueError, "Unknown endianness type: middle"),
    "conj of reals": (forged(tensor(more=({"conj": True},))), RuntimeError, "only complex tensors"),
    "grad of ints": (
        forged(tensor(grad=True, kind=Name("torch", "IntStorage"))), RuntimeError, "floating point and complex dtype",
    ),
    "index outside": (coo((0, 30), (5,)), RuntimeError, "size is inconsistent with indices: for dim 0, size is 5"),
    "negative index": (coo((0, -3), (5,)), RuntimeError, "found negative index -3 for dim 0"),
    "sparse size": (coo((0, 3), (5, 6)), RuntimeError, "values has incorrect size"),
    "reach inside": (
        forged(Call(Name("torch._tensor", "_rebuild_from_type_v2"), TENSOR, Name("torch", "Tensor"),
                    tensor().reduced[1], {"_mt_array": 3})), RuntimeError, "cannot be given an attribute",
    ),
    "function": (forged(Name("os", "system")), pickle.UnpicklingError, "GLOBAL os.system whose module os is blocked"),
    "bytes": (forged(Call(Name("builtins", "bytearray"), 2**40)), pickle.UnpicklingError, "a bytearray is made of"),
    "calls a dtype": (forged(Call(Name("torch", "float32"), 1)), pickle.UnpicklingError, "unrecognized function"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_forged(name):
    file, error, message = FORGED[name]
    with pytest.raises(error, match=message):
        loaded(file)


def test_two_records_of_one_name():
    file = io.BytesIO(forged(tensor()))
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a/data/0", bytes(24))
    with pytest.raises(RuntimeError, match="two records have one name"):
        loaded(file.getvalue())


def test_the_other_byte_order():
    file = forged(tensor(), {"data/0": struct.pack(">6f", *range(6))}, "big")
    assert loaded(file).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_compressed_records():
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(torch.ones(900)))) as before:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as after:
            for name in before.namelist():
                after.writestr(name, before.read(name))
    assert loaded(file.getvalue()).sum() == 900


def test_old_files_that_end_early():
    whole = saved([torch.ones(3), torch.ones(2)], _use_new_zipfile_serialization=False)
    for length in range(len(whole)):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            loaded(whole[:length])
    at = whole.rindex(struct.pack("<q", 2))
    with pytest.raises(RuntimeError, match="storage has wrong byte size: expected 8"):
        loaded(whole[:at] + struct.pack("<q", 2**40) + whole[at + 8 :])
