"""Checkpoints of one process: what is saved, and what is left when saving is interrupted."""

import warnings

import pytest

import mindtorch as torch
import mindtorch.distributed.checkpoint as dcp
from mindtorch.distributed.checkpoint import filesystem
from mindtorch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def state():
    return {
        "model": {"weight": torch.arange(6.0).view(2, 3), "half": torch.ones(3, dtype=torch.bfloat16)},
        "list": [torch.zeros(2), {"deep": torch.tensor(3)}],
        "numbers": [1, 2, (3,)],
        "step": 7,
        "view": torch.arange(100.0)[10:12],
    }


def blank():
    return {
        "model": {"weight": torch.zeros(2, 3), "half": torch.zeros(3, dtype=torch.bfloat16)},
        "list": [torch.ones(2), {"deep": torch.tensor(0)}],
        "numbers": None,
        "step": 0,
        "view": torch.zeros(2),
    }


def equal(found, wanted):
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(equal(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(equal, found, wanted))
    return torch.equal(found, wanted) if isinstance(wanted, torch.Tensor) else found == wanted


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("files", [True, False])
def test_what_was_saved_is_loaded(tmp_path, flat, files):
    writer = dcp.FileSystemWriter(tmp_path, single_file_per_rank=files)
    given = state() if flat else {"a": torch.ones(3), "b": {"c": [1, 2]}}
    wanted = blank() if flat else {"a": torch.zeros(3), "b": None}
    dcp.save(given, storage_writer=writer, planner=dcp.DefaultSavePlanner(flatten_state_dict=flat))
    dcp.load(wanted, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(flatten_state_dict=flat))
    assert equal(wanted, given)
    assert len(list(tmp_path.glob("*.distcp"))) > 1 or files


def test_tensors_are_filled_in_place(tmp_path):
    dcp.save(state(), checkpoint_id=tmp_path)
    wanted = blank()
    weight = wanted["model"]["weight"]
    dcp.load(wanted, checkpoint_id=str(tmp_path))
    assert wanted["model"]["weight"] is weight and weight[1, 2] == 5


def test_what_does_not_fit_is_refused(tmp_path):
    dcp.save({"a": torch.ones(3), "b": 1}, checkpoint_id=tmp_path)
    for wanted, text in (
        ({"missing": torch.ones(3)}, "Missing key in checkpoint state_dict: missing."),
        ({"a": torch.ones(4)}, "Size mismatch between saved torch.Size([3]) and current: torch.Size([4]) for a"),
        ({"a": 3}, "Invalid checkpoint metadata for a"),
        ({"b": torch.ones(3)}, "Invalid checkpoint metadata for b"),
    ):
        with pytest.raises(dcp.CheckpointException) as caught:
            dcp.load(wanted, checkpoint_id=tmp_path)
        assert text in str(caught.value.failures[0])
    partial = {"a": torch.zeros(3), "missing": 5}
    dcp.load(partial, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert partial["a"].tolist() == [1, 1, 1] and partial["missing"] == 5
    with pytest.raises(RuntimeError, match="`checkpoint_id` must be specified"):
        dcp.save({})


@pytest.mark.parametrize("at", ["data", "metadata", "rename"])
def test_an_interrupted_save_leaves_the_old_checkpoint(tmp_path, monkeypatch, at):
    dcp.save({"a": torch.ones(3), "b": torch.ones(2)}, checkpoint_id=tmp_path)

    def stop(*args, **kwargs):
        raise OSError("No space left on device")

    original = filesystem._written
    with monkeypatch.context() as patch:
        if at == "data":
            patch.setattr(filesystem, "_written", lambda *args: original(*args) if args[2].fqn == "a" else stop())
        elif at == "metadata":
            patch.setattr(filesystem, "pickler", stop)
        else:
            patch.setattr(filesystem.Path, "replace", stop)
        with pytest.raises(dcp.CheckpointException, match="No space left"):
            dcp.save({"a": torch.zeros(3), "b": torch.zeros(2)}, checkpoint_id=tmp_path)
    wanted = {"a": torch.zeros(3), "b": torch.zeros(2)}
    dcp.load(wanted, checkpoint_id=tmp_path)
    assert wanted["a"].tolist() == [1, 1, 1] and wanted["b"].tolist() == [1, 1]
    dcp.save({"a": torch.full((3,), 2.0)}, checkpoint_id=tmp_path)
    assert len(list(tmp_path.glob("*.distcp"))) == 1, "files of no use are left"
    dcp.load(wanted, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert wanted["a"].tolist() == [2, 2, 2]


def test_an_unfinished_first_save_is_no_checkpoint(tmp_path):
    dcp.save({"a": torch.ones(3)}, checkpoint_id=tmp_path)
    (tmp_path / ".metadata").unlink()
    with pytest.raises(dcp.CheckpointException, match=r"No such file.*\.metadata"):
        dcp.load({"a": torch.ones(3)}, checkpoint_id=tmp_path)


def test_overwriting_can_be_forbidden(tmp_path):
    dcp.save({"a": torch.ones(3)}, checkpoint_id=tmp_path)
    with pytest.raises(dcp.CheckpointException, match="already exists"):
        dcp.save({"a": torch.ones(3)}, storage_writer=dcp.FileSystemWriter(tmp_path, overwrite=False))


def test_async_save_saves_what_was_there_when_it_was_called(tmp_path):
    tensor = torch.ones(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        future = dcp.async_save({"a": tensor}, checkpoint_id=tmp_path)
    tensor.zero_()
    future.result()
    dcp.load(loaded := {"a": torch.zeros(1000)}, checkpoint_id=tmp_path)
    assert loaded["a"].sum() == 1000


class Counting:
    def __init__(self):
        self.steps = torch.tensor(0)

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, state_dict):
        self.steps = state_dict["steps"].clone()


def test_objects_with_states(tmp_path):
    counting = Counting()
    counting.steps += 5
    dcp.save({"counting": counting, "model": torch.nn.Linear(2, 2)}, checkpoint_id=tmp_path)
    dcp.load({"counting": (fresh := Counting())}, checkpoint_id=tmp_path)
    assert fresh.steps == 5


def trained(steps):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.AdamW(
        [{"params": model[0].parameters(), "lr": 0.1}, {"params": model[1].parameters()}], lr=0.2
    )
    for _ in range(steps):
        step(model, optimizer)
    return model, optimizer


def step(model, optimizer):
    optimizer.zero_grad()
    loss = model(torch.arange(6.0).view(2, 3)).square().sum()
    loss.backward()
    optimizer.step()
    return loss.item()


@pytest.mark.parametrize("flat", [False, True])
def test_training_goes_on_from_state_dicts(tmp_path, flat):
    options = StateDictOptions(flatten_optimizer_state_dict=flat)
    model, optimizer = trained(3)
    saved = get_state_dict(model, optimizer, options=options)
    assert saved[0].keys() == model.state_dict().keys()
    assert flat or saved[1]["param_groups"][1]["params"] == ["1.weight", "1.bias"]
    assert not flat or "state.1.weight.exp_avg" in saved[1] and saved[1]["param_groups.0.bias.lr"] == 0.1
    dcp.save({"model": saved[0], "optimizer": saved[1]}, checkpoint_id=tmp_path)
    other, fresh = trained(0)
    states = dict(zip(("model", "optimizer"), get_state_dict(other, fresh, options=options), strict=True))
    dcp.load(states, checkpoint_id=tmp_path)
    set_state_dict(
        other, fresh, model_state_dict=states["model"], optim_state_dict=states["optimizer"], options=options
    )
    assert [step(other, fresh) for _ in range(3)] == [step(model, optimizer) for _ in range(3)]
    assert [group["lr"] for group in fresh.param_groups] == [0.1, 0.2]


def test_wrong_options_of_state_dicts():
    model, optimizer = trained(1)
    with pytest.raises(ValueError, match="full_state_dict must be True"):
        get_state_dict(model, optimizer, options=StateDictOptions(broadcast_from_rank0=True))
    with pytest.raises(RuntimeError, match="no group of parameters"):
        set_optimizer_state_dict(model, optimizer, {"state": {}, "param_groups": []})
