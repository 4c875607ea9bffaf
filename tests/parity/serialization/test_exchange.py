"""Files of PyTorch read here, and files from here read by PyTorch: every dtype, layout and format, many at once."""

import copy
import io
import itertools
import pickle
import struct
import sys
import tarfile
import warnings
from collections import Counter, OrderedDict

import numpy as np
import pytest
import torch

import mindtorch
from mindtorch.serialization.names import torch_name

DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
).split()
FORMATS = {"zip": {}, "old": {"_use_new_zipfile_serialization": False}}
DIRECTIONS = {"read": (torch, mindtorch), "write": (mindtorch, torch)}

both_directions = pytest.mark.parametrize(("writer", "reader"), DIRECTIONS.values(), ids=DIRECTIONS)
both_formats = pytest.mark.parametrize("options", FORMATS.values(), ids=FORMATS)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def base(library, dtype):
    numbers = np.random.default_rng(3).integers(0, 2 if dtype == "bool" else 100, 24)
    made = library.from_numpy(numbers.astype(np.float64)).to(getattr(library, dtype))
    return made * (1 + 2j) if made.is_complex() else made


LAYOUTS = {
    "row-major": lambda x: x.reshape(2, 3, 4),
    "transposed": lambda x: x.reshape(2, 3, 4).transpose(0, 2),
    "steps": lambda x: x[3:20:2],
    "offset": lambda x: x.reshape(4, 6)[1:, 2:5],
    "expanded": lambda x: x[5:6].expand(3, 4),
    "diagonal": lambda x: x.reshape(4, 6).diagonal(),
    "single": lambda x: x[7],
    "empty": lambda x: x[3:3].reshape(0, 1),
    "overlapping": lambda x: x.as_strided((3, 4), (2, 1), 5),
}


def tensors(library):
    """By name. Those of one dtype share their storage."""
    found = {}
    for dtype in DTYPES:
        storage = base(library, dtype)
        found.update({f"{dtype} {name}": lay_out(storage) for name, lay_out in LAYOUTS.items()})
        if dtype.startswith(("float", "complex", "bfloat")):
            found[f"{dtype} grad"] = base(library, dtype).requires_grad_()
            found[f"{dtype} parameter"] = library.nn.Parameter(base(library, dtype))
    return found


def facts(x):
    """Everything that two libraries can agree on about a tensor."""
    found = [str(x.dtype), tuple(x.shape), x.requires_grad, type(x).__name__, str(x.layout), x.device.type]
    if str(x.layout) != "torch.strided":
        return found + [facts(part) for part in parts_of(x)]
    found += [x.stride(), x.storage_offset()]
    return found if x.device.type == "meta" else [*found, bits(x)]


def parts_of(x):
    if x.layout in (torch.sparse_coo, mindtorch.sparse_coo):
        return [x._indices(), x._values()]
    by_rows = str(x.layout).endswith(("csr", "bsr"))
    return [*((x.crow_indices(), x.col_indices()) if by_rows else (x.ccol_indices(), x.row_indices())), x.values()]


def bits(x):
    x = x.detach().resolve_conj().resolve_neg().contiguous()
    wide = {"torch.bfloat16": "float32"}.get(str(x.dtype))
    return (x.to(getattr(torch if isinstance(x, torch.Tensor) else mindtorch, wide)) if wide else x).numpy().tobytes()


def exchanged(writer, reader, value, options=None, **more):
    file = io.BytesIO()
    writer.save(value, file, **(options or {}))
    file.seek(0)
    return reader.load(file, **more)


def storage_groups(found):
    """Which tensors share their memory."""
    first = {}
    return [first.setdefault(x.untyped_storage().data_ptr(), name) for name, x in found.items()]


@both_directions
@both_formats
@pytest.mark.parametrize("weights_only", [True, False])
def test_dense(writer, reader, options, weights_only):
    written = tensors(writer)
    if writer is torch and options:  # it cannot read these either
        written = {name: x for name, x in written.items() if not name.startswith(("uint16", "uint32", "uint64"))}
    read = exchanged(writer, reader, written, options, weights_only=weights_only)
    assert [(name, facts(x)) for name, x in read.items()] == [(name, facts(x)) for name, x in written.items()]
    assert storage_groups(read) == storage_groups(written)


@both_directions
def test_mapped(writer, reader, tmp_path):
    written = tensors(writer)
    writer.save(written, tmp_path / "file.pt")
    before = (tmp_path / "file.pt").read_bytes()
    read = reader.load(tmp_path / "file.pt", mmap=True)
    assert [facts(x) for x in read.values()] == [facts(x) for x in written.values()]
    read["float32 row-major"].zero_()
    assert (tmp_path / "file.pt").read_bytes() == before


def bit_cases():
    """Tensors with the conjugate bit, the negative bit and both, of all layouts."""
    for dtype, (name, lay_out) in itertools.product(("complex64", "complex128"), LAYOUTS.items()):
        yield f"{dtype} {name} conj", lay_out(base(torch, dtype)).conj()
        yield f"{dtype} {name} neg", lay_out(base(torch, dtype)).conj().imag
        yield f"{dtype} {name} both", torch._neg_view(lay_out(base(torch, dtype)).conj())
        yield f"{dtype} {name} grad", lay_out(base(torch, dtype)).conj().requires_grad_()


@both_formats
@pytest.mark.parametrize("weights_only", [True, False])
def test_conjugate_and_negative_bit(options, weights_only):
    written = dict(bit_cases())
    assert any(x.is_conj() for x in written.values())
    assert any(x.is_neg() for x in written.values())
    read = exchanged(torch, mindtorch, list(written.values()), options, weights_only=weights_only)
    for (name, x), y in zip(written.items(), read, strict=True):
        assert bits(x) == bits(y), name
        assert (tuple(y.shape), y.stride(), y.requires_grad) == (tuple(x.shape), x.stride(), x.requires_grad), name
    parameter = torch.nn.Parameter(base(torch, "complex64").conj())
    assert bits(exchanged(torch, mindtorch, parameter)) == bits(parameter)


OTHERS = {
    "coo": lambda T: T.sparse_coo_tensor([[0, 2], [1, 0]], [1.0, 2.0], (3, 2)),
    "coalesced": lambda T: T.sparse_coo_tensor([[2, 0, 2]], [1.0, 2.0, 3.0], (3,)).coalesce(),
    "hybrid": lambda T: T.sparse_coo_tensor([[0, 2]], [[1.0, 2.0], [3.0, 4.0]], (3, 2)),
    "csr": lambda T: T.eye(3).to_sparse_csr(),
    "csc": lambda T: T.eye(3).to_sparse_csc(),
    "bsr": lambda T: T.eye(4).to_sparse_bsr((2, 2)),
    "meta": lambda T: T.empty_strided((2, 3), (1, 2), device="meta", dtype=T.float64),
    "buffer": lambda T: T.nn.Buffer(T.ones(2)),
}


@both_directions
@both_formats
def test_sparse_and_meta(writer, reader, options):
    written = {name: make(writer) for name, make in OTHERS.items()}
    written["buffer"] = writer.ones(2) if options else written["buffer"]
    read = exchanged(writer, reader, written, options)
    for name, x in written.items():
        expected = facts(x)
        expected[3] = "Tensor"
        assert facts(read[name]) == expected, name
    assert read["coalesced"].is_coalesced()
    assert not read["coo"].is_coalesced()


def with_attributes(library):
    plain, parameter = library.ones(2), library.nn.Parameter(library.zeros(2))
    plain.note, parameter.note = "plain", {"deep": [1, 2]}
    return [plain, parameter]


@both_directions
@both_formats
def test_attributes(writer, reader, options):
    plain, parameter = exchanged(writer, reader, with_attributes(writer), options)
    assert (plain.note, type(plain)) == ("plain", reader.Tensor)
    assert (parameter.note, type(parameter)) == ({"deep": [1, 2]}, reader.nn.Parameter)


class Own(torch.Tensor):
    pass


class OwnHere(mindtorch.Tensor):
    pass


@both_directions
def test_subclasses(writer, reader):
    classes = {torch: Own, mindtorch: OwnHere}
    written = writer.arange(3.0).as_subclass(classes[writer])
    written.note = 5
    name = f"{__name__}.{classes[writer].__name__}"
    with reader.serialization.safe_globals([(classes[reader], name)]):
        read = exchanged(writer, reader, written)
    assert (type(read), read.note, read.tolist()) == (classes[reader], 5, [0.0, 1.0, 2.0])
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global: GLOBAL .*Own"):
        exchanged(writer, reader, written)


@both_directions
@both_formats
def test_values_of_other_types(writer, reader, options):
    def make(T):
        return OrderedDict(
            size=T.Size([2, 3]), dtypes=[getattr(T, name) for name in [*DTYPES, "complex32", "float8_e5m2"]],
            devices=[T.device("cpu"), T.device("cuda", 1)], layouts=[T.strided, T.sparse_coo, T.sparse_csr],
            numbers=[1, -(2**70), 2.5, 1j, True, None], text=["ä", b"bytes", bytearray(b"more")],
            sets={1, 2}, counter=Counter("hello"), nested=[(1, (2,)), {"a": [()]}],
        )  # fmt: skip

    read = exchanged(writer, reader, make(writer), options)
    assert read == make(reader)
    assert type(read["size"]) is reader.Size


@both_directions
def test_storages(writer, reader):
    for storage in (writer.arange(3.0).untyped_storage(), writer.arange(3.0).storage()):
        read = exchanged(writer, reader, [storage])[0]
        assert type(read) is reader.TypedStorage
        assert bytes(read.untyped().tolist()) == bytes(writer.arange(3.0).untyped_storage().tolist())
    assert exchanged(writer, reader, writer.arange(3).storage(), FORMATS["old"]).tolist() == [0, 1, 2]


@both_directions
def test_generators_and_named_results(writer, reader):
    generator = writer.Generator().manual_seed(7)
    writer.rand(5, generator=generator)
    state = exchanged(writer, reader, generator.get_state())
    again, largest = exchanged(writer, reader, [generator, writer.arange(4.0).max(0)], weights_only=False)
    expected = writer.rand(9, generator=generator).tolist()
    assert reader.rand(9, generator=again).tolist() == expected
    assert reader.rand(9, generator=reader.Generator().set_state(state)).tolist() == expected
    assert (largest.values.item(), largest.indices.item()) == (3.0, 3)
    assert type(largest).__name__ == "max"


def models(T):
    nn = T.nn
    T.manual_seed(3)
    layers = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.FractionalMaxPool2d(2, output_size=3), nn.Flatten(),
        nn.LazyLinear(6), nn.LayerNorm(6), nn.GELU(),
    )  # fmt: skip
    layers.eval()
    layers(T.ones(2, 1, 8, 8))
    yield layers[:3], T.ones(2, 1, 8, 8)
    yield layers[4:], T.ones(2, 36)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    yield nn.Sequential(nn.Embedding(5, 4), layer).eval(), T.tensor([[1]])
    yield nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), T.ones(1, 2, 3)
    yield nn.ModuleDict({"loss": nn.HuberLoss()})["loss"], T.ones(2), T.zeros(2)


@pytest.mark.parametrize("package", ["nn", "optim", "optim.lr_scheduler", "nn.functional", "return_types"])
def test_names_in_files(package):
    """Whatever both have can be loaded by torch from a file that was written here."""
    own, expected = mindtorch, torch
    for part in package.split("."):
        own, expected = getattr(own, part), getattr(expected, part)
    wrong = []
    for name, thing in vars(expected).items():
        found = getattr(own, name, None)
        if name.startswith("_") or not callable(thing) or getattr(found, "__qualname__", None) != name:
            continue  # nothing that pickles could find
        place, called = torch_name(found) or (found.__module__, name)
        if getattr(sys.modules.get(place), called, None) is not thing:
            wrong.append((name, place, called))
    assert wrong == []


@both_directions
@both_formats
def test_whole_modules(writer, reader, options):
    for model, *inputs in models(writer):
        again = exchanged(writer, reader, model, options, weights_only=False)
        assert type(again).__module__.partition(".")[0] == reader.__name__
        expected, found = model(*inputs), again(*[reader.from_numpy(x.numpy()) for x in inputs])
        if isinstance(expected, tuple):
            expected, found = expected[0], found[0]
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)


@both_directions
def test_whole_optimizers_and_schedules(writer, reader):
    parameter = writer.nn.Parameter(writer.ones(2))
    optimizer = writer.optim.AdamW([parameter], lr=0.1)
    schedule = writer.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    parameter.sum().backward()
    optimizer.step()
    schedule.step()
    again, again_schedule = exchanged(writer, reader, [optimizer, schedule.state_dict()], weights_only=False)
    for each in (optimizer, again):
        each.param_groups[0]["params"][0].grad = None
        each.param_groups[0]["params"][0].sum().backward()
        each.step()
    assert type(again) is reader.optim.AdamW
    assert again_schedule["last_epoch"] == 1
    np.testing.assert_allclose(again.param_groups[0]["params"][0].tolist(), parameter.tolist(), rtol=1e-6)


@both_directions
def test_views_of_other_dtypes(writer, reader):
    """torch refuses to write them; what is written here has the right dtype there, too."""
    x = writer.arange(4.0)
    if writer is torch:
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            exchanged(writer, reader, [x, x.view(writer.int32)])
        return
    for options in FORMATS.values():
        read = exchanged(writer, reader, [x, x.view(writer.int32), x.view(writer.uint16)], options)
        assert [str(y.dtype) for y in read] == ["torch.float32", "torch.int32", "torch.uint16"]
        read[0].zero_()
        assert read[1].tolist() == [0] * 4
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            exchanged(writer, reader, [x, x.untyped_storage()], options)


FOREIGN = {
    "complex32": lambda: torch.zeros(2, dtype=torch.complex32),
    "float8_e5m2": lambda: torch.ones(2).to(torch.float8_e5m2),
    "qint8": lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2)]),
    "uint3": lambda: torch.uint3,
}


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", FOREIGN)
def test_what_there_is_only_in_torch(name, weights_only):
    with pytest.raises(RuntimeError, match=f"mindtorch has no .*({name}|quantized)"):
        exchanged(torch, mindtorch, [torch.ones(1), FOREIGN[name]()], weights_only=weights_only)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_are_like_files(copied):
    written = tensors(mindtorch)
    read = copied(written)
    assert [facts(x) for x in read.values()] == [facts(x) for x in written.values()]
    assert storage_groups(read) == storage_groups(written)


def test_records_are_aligned_as_torch_aligns_them():
    file = io.BytesIO()
    mindtorch.save([mindtorch.ones(1), mindtorch.ones(3, dtype=mindtorch.complex128)], file)
    reader = torch._C.PyTorchFileReader(io.BytesIO(file.getvalue()))
    assert [reader.get_record_offset(name) % 64 for name in reader.get_all_records()] == [0] * 5
    torch.load(io.BytesIO(file.getvalue()), map_location="meta")


def test_the_first_format_of_all(tmp_path):
    """A tar archive; torch reads it, and no longer writes it."""

    def member(archive, name, content):
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))

    def dump(*values):
        return b"".join(pickle.dumps(value, 2) for value in values)

    storage = b"ctorch\nFloatStorage\n"
    kind = pickle.PROTO + b"\x02K\x07X\x03\x00\x00\x00cpu" + storage + b"\x87."
    storages = dump(1) + kind + struct.pack("<q4f", 4, 1, 2, 3, 4) + dump([(8, 7, 1, 2)])
    tensor = pickle.PROTO + b"\x02K\x01K\x08ctorch\nFloatTensor\n\x87."
    places = dump(1) + tensor + struct.pack("<2i2q2qq", 2, 0, 1, 2, 2, 1, 0)
    with tarfile.open(tmp_path / "file.tar", "w") as archive:
        member(archive, "storages", storages)
        member(archive, "tensors", places)
        member(archive, "pickle", b"\x80\x02]X\x01\x00\x00\x001Qa.")
    for library in (torch, mindtorch):
        with pytest.raises(RuntimeError, match="Cannot use ``weights_only=True`` with files saved in the legacy .tar"):
            library.load(tmp_path / "file.tar")
    assert mindtorch.load(tmp_path / "file.tar", weights_only=False)[0].tolist() == [[2.0, 3.0]]


ENVIRONMENTS = [
    {"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "yes"},
    {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"},
    {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "0", "TORCH_FORCE_WEIGHTS_ONLY_LOAD": "n"},
    {"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "TRUE", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "y"},
]
ARGUMENTS = [{}, {"weights_only": True}, {"weights_only": False}, {"pickle_module": pickle}]


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=str)
@pytest.mark.parametrize(
    "arguments", [{}, {"weights_only": True}, {"weights_only": False}, {"pickle_module": pickle}], ids=str
)
def test_environment(environment, arguments, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    outcomes = []
    for library in (torch, mindtorch):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                outcome = exchanged(library, library, [complex(1), slice(2)], None, **arguments)
            except (RuntimeError, pickle.UnpicklingError) as error:
                outcome = type(error), str(error)[:26]
        outcomes.append((outcome, [str(each.message) for each in warned]))
    assert outcomes[0] == outcomes[1]
