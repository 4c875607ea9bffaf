"""Checkpoints of several processes: PyTorch loads what was saved here, and the other way round."""

import dataclasses

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


def places(library, log):
    """A writer and a reader that keep checkpoints in memory, and note how they and the planners are called."""
    kept = {}

    class Writer(library.StorageWriter):
        def reset(self, checkpoint_id=None):
            log.append(("reset", str(checkpoint_id)))

        def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
            log.append(("set_up_storage_writer", is_coordinator, kwargs.get("rank")))

        def prepare_local_plan(self, plan):
            log.append(("prepare_local_plan", len(plan.items)))
            return plan

        def prepare_global_plan(self, plans):
            log.append(("prepare_global_plan", [len(each.items) for each in plans]))
            return [dataclasses.replace(each, storage_data="mine") for each in plans]

        def write_data(self, plan, planner):
            log.append(("write_data", plan.storage_data))
            results = []
            for item in plan.items:
                kept[item.index] = data = planner.resolve_data(item)
                is_bytes = item.type.name == "BYTE_IO"
                log.append((item.index.fqn, item.type.name, type(data).__name__))
                size = len(data.getvalue()) if is_bytes else data.nbytes
                results.append(library.filesystem.WriteResult(item.index, 0 if is_bytes else size, "here"))
            return done(results)

        def finish(self, metadata, results):
            log.append(("finish", [[(each.index.fqn, each.size_in_bytes) for each in those] for those in results]))
            kept["metadata"] = metadata

        @classmethod
        def validate_checkpoint_id(cls, checkpoint_id):
            return True

    class Reader(library.StorageReader):
        def reset(self, checkpoint_id=None):
            log.append(("reset", str(checkpoint_id)))

        def read_metadata(self):
            return kept["metadata"]

        def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
            log.append(("set_up_storage_reader", metadata is kept["metadata"], is_coordinator, kwargs.get("rank")))

        def prepare_local_plan(self, plan):
            log.append(("prepare_local_plan", len(plan.items)))
            return plan

        def prepare_global_plan(self, plans):
            log.append(("prepare_global_plan", len(plans)))
            return plans

        def read_data(self, plan, planner):
            for item in sorted(plan.items, key=lambda each: each.storage_index.fqn):
                log.append((item.storage_index.fqn, item.type.name, *map(tuple, (item.dest_offsets, item.lengths))))
                saved = kept[item.storage_index]
                if item.type.name == "BYTE_IO":
                    saved.seek(0)
                    planner.load_bytes(item, saved)
                    continue
                for dim, (start, count) in enumerate(zip(item.storage_offsets, item.lengths, strict=True)):
                    saved = saved.narrow(dim, start, count)
                target = planner.resolve_tensor(item).detach()
                target.copy_(saved)
                planner.commit_tensor(item, target)
            return done(None)

        @classmethod
        def validate_checkpoint_id(cls, checkpoint_id):
            return True

    def done(value):
        future = (mindtorch if library is ours else torch).futures.Future()
        future.set_result(value)
        return future

    return Writer(), Reader()


def planners(library, log):
    """Planners that leave something out, and write another thing than what there is."""

    class Saving(library.DefaultSavePlanner):
        def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
            log.append(("set_up_planner", storage_meta is None, is_coordinator))
            super().set_up_planner(state_dict, storage_meta, is_coordinator)

        def finish_plan(self, new_plan):
            log.append(("finish_plan", len(new_plan.items)))
            return super().finish_plan(new_plan)

        def resolve_data(self, write_item):
            found = super().resolve_data(write_item)
            return found + 1 if write_item.index.fqn == "model.weight" else found

    class Loading(library.DefaultLoadPlanner):
        def commit_tensor(self, read_item, tensor):
            log.append(("commit_tensor", tensor.tolist()))
            super().commit_tensor(read_item, tensor)

    return Saving(), Loading()


def test_storage_and_planners_of_a_program_are_called_as_by_pytorch():
    found = []
    for library, T in ((ours, mindtorch), (theirs, torch)):
        log = []
        writer, reader = places(library, log)
        saving, loading = planners(library, log)
        library.save(state(T), storage_writer=writer, planner=saving, no_dist=True)
        loaded = blank(T)
        library.load(loaded, storage_reader=reader, planner=loading, no_dist=True)
        found.append((log, listed(loaded)))
    for one, other in zip(*(log for log, _ in found), strict=True):
        assert one == other
    assert found[0][1] == found[1][1]
    assert found[0][1]["model"]["weight"][1] == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("name", ["StorageWriter", "StorageReader", "SavePlanner", "LoadPlanner"])
def test_what_is_missing_in_a_class_of_a_program_is_refused_alike(name):
    missing = [getattr(getattr(library, name), "__abstractmethods__", frozenset()) for library in (ours, theirs)]
    assert missing[0] == missing[1]
