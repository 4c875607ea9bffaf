"""Checkpoints of several processes: PyTorch loads what was saved here, and the other way round."""

import pytest

import mindtorch

torch = pytest.importorskip("torch")

import torch.distributed.checkpoint as theirs  # noqa: E402

import mindtorch.distributed.checkpoint as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def state(T):
    return {
        "model": {"weight": T.arange(6.0).reshape(2, 3), "half": T.ones(3, dtype=T.bfloat16), "none": T.zeros(0, 3)},
        "steps": [T.tensor(3), {"deep": T.tensor([True, False])}],
        "epoch": 4,
        "words": ["a", {"b": (1, 2.5)}],
    }


def blank(T):
    return {
        "model": {"weight": T.zeros(2, 3), "half": T.zeros(3, dtype=T.bfloat16), "none": T.zeros(0, 3)},
        "steps": [T.tensor(0), {"deep": T.tensor([False, False])}],
        "epoch": 0,
        "words": ["", {"b": None}],
    }


def listed(value):
    if isinstance(value, dict):
        return {key: listed(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [listed(each) for each in value]
    return (str(value.dtype), value.tolist()) if hasattr(value, "tolist") else value


@pytest.mark.parametrize("saver, loader", [(ours, theirs), (theirs, ours)], ids=["to torch", "from torch"])
def test_files_are_the_same(tmp_path, saver, loader):
    saving, loading = (mindtorch, torch) if saver is ours else (torch, mindtorch)
    saver.save(state(saving), checkpoint_id=tmp_path)
    loaded = blank(loading)
    loader.load(loaded, checkpoint_id=tmp_path)
    assert listed(loaded) == listed(state(saving))


def test_names_in_the_metadata_are_the_same(tmp_path):
    found = []
    for library, T in ((ours, mindtorch), (theirs, torch)):
        library.save(state(T), checkpoint_id=tmp_path / T.__name__)
        metadata = library.FileSystemReader(tmp_path / T.__name__).read_metadata()
        found.append((sorted(metadata.state_dict_metadata), metadata.planner_data, metadata.version))
    assert found[0] == found[1]
