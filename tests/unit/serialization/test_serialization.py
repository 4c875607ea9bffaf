"""Saving and loading, pickling and copying."""

import copy
import io
import pickle
import sys
import zipfile
from collections import OrderedDict

import pytest

import mindtorch as torch
from mindtorch import nn
from mindtorch.serialization import locations


def round_trip(value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(6.0).reshape(2, 3),
        lambda: torch.arange(6).reshape(2, 3).t(),
        lambda: torch.tensor(2.5, dtype=torch.bfloat16),
        lambda: torch.zeros(0, 3),
        lambda: torch.arange(10)[3:7],
        lambda: torch.ones(2, 1).expand(2, 3),
        lambda: torch.tensor([1 + 2j]),
        lambda: torch.ones(2, requires_grad=True),
    ],
)
@pytest.mark.parametrize("copied", [round_trip, lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy])
def test_everything_about_a_tensor_comes_back(make, copied):
    before = make()
    after = copied(before)
    assert torch.equal(after, before)
    for fact in ("dtype", "shape", "requires_grad"):
        assert getattr(after, fact) == getattr(before, fact)
    assert after.stride() == before.stride()
    assert after.storage_offset() == before.storage_offset()
    assert after.numel() == 0 or after.data_ptr() != before.data_ptr()


@pytest.mark.parametrize("copied", [round_trip, lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy])
def test_shared_storage_stays_shared(copied):
    base = torch.arange(4.0)
    whole, part = copied([base, base[2:]])
    whole[3] = 9
    assert part.tolist() == [2.0, 9.0]


def test_containers_and_parameters():
    shape = torch.ones(2, 3).shape
    state = OrderedDict(weight=nn.Parameter(torch.ones(2)), step=3, names=["a", None, 1.5], shape=shape)
    again = round_trip(state)
    assert isinstance(again["weight"], nn.Parameter)
    assert again["weight"].requires_grad
    assert again["shape"] == (2, 3)
    assert (again["step"], again["names"]) == (3, ["a", None, 1.5])


def test_dtypes_and_devices():
    assert round_trip([torch.float16, torch.device("cpu")]) == [torch.float16, torch.device("cpu")]


def test_a_path(tmp_path):
    torch.save({"x": torch.ones(2)}, tmp_path / "model.pt")
    assert torch.load(str(tmp_path / "model.pt"))["x"].tolist() == [1.0, 1.0]


def test_sparse():
    before = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,))
    assert round_trip(before).to_dense().tolist() == [1.0, 0.0, 2.0]


def test_meta():
    after = round_trip(torch.ones(2, 3, device="meta"))
    assert after.is_meta
    assert after.shape == (2, 3)


@pytest.mark.parametrize("location", ["meta", torch.device("meta"), {"cpu": "meta"}])
def test_map_location(location):
    assert round_trip(torch.ones(2), map_location=location).is_meta


def test_map_location_by_function():
    seen = []

    def where(storage, location):
        seen.append((len(storage), location))
        return storage

    assert round_trip(torch.ones(2), map_location=where).device == torch.device("cpu")
    assert seen == [(8, "cpu")]


class Harmful:
    def __reduce__(self):
        return print, ("not to be printed",)


class Settings:
    def __init__(self):
        self.rate = 0.1


def test_loading_is_safe_by_default(capsys):
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        round_trip(Harmful())
    assert capsys.readouterr().out == ""


def test_safe_loading_changes_no_class(tmp_path):
    state = pickle.PROTO + b"\x02ctorch\nSize\nN}X\x05\x00\x00\x00numelcbuiltins\nset\ns\x86b."
    with zipfile.ZipFile(tmp_path / "bad.pt", "w") as archive:
        archive.writestr("bad/data.pkl", state)
    with pytest.raises(pickle.UnpicklingError, match="Can only build Tensor, Parameter, OrderedDict"):
        torch.load(tmp_path / "bad.pt")


def test_more_can_be_allowed():
    with pytest.raises(pickle.UnpicklingError, match="Settings"):
        round_trip(Settings())
    assert round_trip(Settings(), weights_only=False).rate == 0.1
    torch.serialization.add_safe_globals([Settings])
    try:
        assert round_trip(Settings()).rate == 0.1
    finally:
        torch.serialization.clear_safe_globals()


def test_not_a_file_of_ours():
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(io.BytesIO(b"no zip"))
    with pytest.raises(RuntimeError, match="Invalid magic number; corrupt file"):
        torch.load(io.BytesIO(pickle.dumps(5, 2)))


def test_only_leaves_are_deep_copied():
    leaf = torch.ones(2, requires_grad=True)
    leaf.sum().backward()
    assert copy.deepcopy(leaf).grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(leaf * 2)


def test_modules_are_saved_whole_when_trusted():
    model = nn.Linear(2, 3)
    again = round_trip(model, weights_only=False)
    assert torch.equal(again.weight, model.weight)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_the_size_of_a_storage_is_counted():
    for kind in (torch.UntypedStorage, torch.FloatStorage):
        more = sys.getsizeof(kind(10)) - sys.getsizeof(kind(0))
        assert more == 10 * kind(0).element_size()


def test_without_data():
    with torch.serialization.skip_data():
        file = io.BytesIO()
        torch.save(torch.ones(3), file)
        assert torch.load(io.BytesIO(file.getvalue())).shape == (3,)
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True"):
            torch.save(torch.ones(3), file, _use_new_zipfile_serialization=False)
    assert torch.load(io.BytesIO(file.getvalue())).tolist() == [0.0, 0.0, 0.0]


def test_without_checksums():
    torch.serialization.set_crc32_options(False)
    try:
        assert round_trip(torch.ones(3)).tolist() == [1.0, 1.0, 1.0]
    finally:
        torch.serialization.set_crc32_options(True)


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}])
def test_meta_keeps_shared_storages(options):
    base = torch.arange(6.0)
    file = io.BytesIO()
    torch.save([base, base.reshape(2, 3).t()], file, **options)
    whole, part = torch.load(io.BytesIO(file.getvalue()), map_location="meta")
    assert whole.untyped_storage() == part.untyped_storage()
    assert (part.stride(), part.is_meta) == ((1, 3), True)


def test_devices_of_ones_own():
    moved = []

    def restore(storage, location):
        if location.startswith("tape"):
            moved.append(location)
            return storage
        return None

    torch.serialization.register_package(5, lambda storage: "tape:1", restore)
    try:
        assert round_trip(torch.ones(1)).tolist() == [1.0]
    finally:
        del locations._packages[0]
    assert moved == ["tape:1"]


def test_settings_under_the_name_of_torch(tmp_path, monkeypatch):
    torch.save(torch.ones(2), tmp_path / "file.pt")
    monkeypatch.setattr(torch.utils.serialization.config.load, "mmap", True)
    assert torch.load(tmp_path / "file.pt").tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        round_trip(1)
