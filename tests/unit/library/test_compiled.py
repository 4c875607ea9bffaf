"""Libraries that are compiled for PyTorch: their operators have names, and refuse when they are called."""

from importlib.metadata import EntryPoint

import pytest

import mindtorch as torch
from mindtorch.library import compiled
from mindtorch.library.table import entry_of


@pytest.fixture
def library_file(tmp_path):
    """A file where torchvision has its library, whatever is in it."""
    folder = tmp_path / "torchvision"
    folder.mkdir()
    path = folder / "_C.so"
    path.write_bytes(b"compiled")
    yield path
    for library in compiled._defined.values():
        library._destroy()
    compiled._defined.clear()
    torch.ops.loaded_libraries.discard(str(path.resolve()))


def test_operators_of_a_compiled_library_refuse_when_they_are_called(library_file):
    torch.ops.load_library(str(library_file))
    torch.ops.load_library(library_file)  # once more
    assert str(library_file.resolve()) in torch.ops.loaded_libraries
    assert torch.ops.torchvision._cuda_version() == -1
    with pytest.raises(NotImplementedError, match="torchvision::nms is compiled for PyTorch, and mindtorch runs no C"):
        torch.ops.torchvision.nms(torch.ones(1, 4), torch.ones(1), 0.5)


def test_they_take_kernels_and_shapes(library_file):
    torch.ops.load_library(library_file)
    with torch.library._scoped_library("torchvision", "FRAGMENT") as lib:
        torch.library.register_fake("torchvision::nms", lambda dets, scores, limit: scores.new_empty(7), lib=lib)
        torch.library.impl("torchvision::nms", "CPU", lambda dets, scores, limit: scores + limit, lib=lib)
        meta = torch.ops.torchvision.nms(torch.ones(1, 4, device="meta"), torch.ones(1, device="meta"), 0.5)
        assert meta.shape == (7,)
        assert torch.ops.torchvision.nms(torch.ones(1, 4), torch.ones(1), 0.5).tolist() == [1.5]


def test_a_package_has_the_operators(library_file, monkeypatch):
    """What an entry point names is imported, and its operators are not defined again."""
    made = []

    def points(group, name):
        return [EntryPoint(f"{name}", "package_with_operators:load", group)]

    def load(point):
        library = torch.library.Library(point.name, "FRAGMENT")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.impl("nms", lambda dets, scores, iou_threshold: dets.sum(1), "CPU")
        made.append(library)

    monkeypatch.setattr(compiled, "entry_points", points)
    monkeypatch.setattr(EntryPoint, "load", load)
    try:
        torch.ops.load_library(library_file)
        assert torch.ops.torchvision.nms(torch.ones(1, 4), torch.ones(1), 0.5).tolist() == [4]
    finally:
        made[0]._destroy()


def test_unknown_and_missing_libraries_cannot_be_loaded(tmp_path):
    (tmp_path / "_C.so").write_bytes(b"compiled")
    for path in (tmp_path / "_C.so", tmp_path / "torchvision" / "_C.so"):
        with pytest.raises(OSError, match="Could not load this library"):
            torch.ops.load_library(path)


def test_schemas_of_the_table_can_be_defined_and_have_their_names_once():
    names = [each.qualname for each in compiled._table()]
    assert len(names) == len(set(names)) and "torchvision::nms" in names
    for each in compiled._table():
        assert entry_of(each.qualname) is None
        compiled._define(each)
    for library in compiled._defined.values():
        library._destroy()
    compiled._defined.clear()
