"""Checkpoints as folders: a file of each process that has written something, and `.metadata`, which comes last.

The files are PyTorch's: it loads what is saved here, and the other way round.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from mindtorch._core.tensor import Tensor
from mindtorch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from mindtorch.distributed.checkpoint.planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    SavePlan,
    SavePlanner,
    block_of,
)
from mindtorch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from mindtorch.futures import Future
from mindtorch.serialization import load, save
from mindtorch.serialization.pickler import pickler
from mindtorch.serialization.unpickler import full_unpickler

_METADATA = ".metadata"
_SUFFIX = ".distcp"
_VERSION = "1.0.0"


@dataclass
class _StorageInfo:
    """Where in the files something is."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass
class _StoragePrefix:
    """What the files of a process are called by."""

    prefix: str
    mark: str


class _Folder:
    """Where a checkpoint is."""

    path: Path

    @property
    def checkpoint_id(self) -> Path:
        """The folder."""
        return self.path


class FileSystemWriter(_Folder, StorageWriter):
    """Saves checkpoints in a folder.

    A checkpoint that is there already stays whole until the new one is: its files are removed last.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
    ) -> None:
        self.path = Path(path)
        self.single_file_per_rank = single_file_per_rank
        self.sync_files = sync_files
        self.overwrite = overwrite
        self.save_id = str(uuid.uuid4())

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        """Begin another checkpoint, in another folder if one is given."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self.save_id = str(uuid.uuid4())

    def storage_meta(self) -> StorageMeta:
        """Where the checkpoint is, and which one of those that were there."""
        return StorageMeta(str(self.path), self.save_id)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """There is nothing to set up."""

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """The plan as it is."""
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Make the folder, and say what the files of each process are called."""
        self.path.mkdir(parents=True, exist_ok=True)
        is_there = (self.path / _METADATA).exists()
        if is_there and not self.overwrite:
            raise RuntimeError("Checkpoint already exists and self.overwrite=False.")
        mark = f"_{uuid.uuid4()}" if is_there else ""  # no file of the checkpoint that is there is written
        return [replace(plan, storage_data=_StoragePrefix(f"__{rank}_", mark)) for rank, plan in enumerate(plans)]

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future:
        """Write what the plan says, in one file or in one for each thing."""
        groups = [plan.items] if self.single_file_per_rank else [[item] for item in plan.items]
        results: list[WriteResult] = []
        for number, items in enumerate(groups):
            if items:
                name = f"{plan.storage_data.prefix}{number}{plan.storage_data.mark}{_SUFFIX}"
                with (self.path / name).open("wb") as file:
                    results += [_written(file, name, item.index, planner.resolve_data(item)) for item in items]
                    self._sync(file)
        return _done(results)

    def finish(self, metadata: Metadata, results: Sequence[Sequence[WriteResult]]) -> None:
        """Write the metadata, which makes the files a checkpoint."""
        metadata.version = _VERSION
        metadata.storage_data = {each.index: each.storage_data for those in results for each in those}
        metadata.storage_meta = self.storage_meta()
        whole = self.path / f"{_METADATA}.tmp"
        with whole.open("wb") as file:
            pickler(file, pickle, 2, None).dump(metadata)
            self._sync(file)
        whole.replace(self.path / _METADATA)
        self._sync_folder()
        used = {each.relative_path for each in metadata.storage_data.values()}
        for old in self.path.glob(f"__*{_SUFFIX}"):
            if old.name not in used:
                old.unlink()

    def _sync(self, file: BinaryIO) -> None:
        if self.sync_files:
            file.flush()
            os.fsync(file.fileno())

    def _sync_folder(self) -> None:
        """Have the new name on the disk before the old files go."""
        if self.sync_files and os.name == "posix":
            folder = os.open(self.path, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        """Whether it can be a folder."""
        return isinstance(checkpoint_id, os.PathLike) or "://" not in str(checkpoint_id)


def _written(file: BinaryIO, name: str, index: MetadataIndex, value: Tensor | BytesIO) -> WriteResult:
    start = file.tell()
    content = value
    if isinstance(value, Tensor):
        content = BytesIO()
        save(value.detach().cpu().clone(), content)  # a view would take all of its memory along
    assert isinstance(content, BytesIO)
    file.write(content.getbuffer())
    length = file.tell() - start
    return WriteResult(index, length, _StorageInfo(name, start, length))


def _done(result: Any) -> Future:
    future: Future = Future()
    future.set_result(result)
    return future


class FileSystemReader(_Folder, StorageReader):
    """Loads checkpoints from a folder. As with `torch.load(..., weights_only=False)`, they must be trusted."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._places: dict[MetadataIndex, _StorageInfo] = {}

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        """Begin with another folder, if one is given."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self._places = {}

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """What the checkpoint has. A folder without it is none: saving was interrupted."""
        with (self.path / _METADATA).open("rb") as file:
            return full_unpickler(file, pickle, _no_tensors, {}).load()

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Take the places from the metadata."""
        self._places = metadata.storage_data

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """The plan as it is."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """The plans as they are."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future:
        """Read what the plan says."""
        for item in sorted(plan.items, key=self._place_of):
            place = self._places[item.storage_index]
            if place.transform_descriptors:
                raise NotImplementedError("checkpoints that are compressed or otherwise transformed can't be read")
            with (self.path / place.relative_path).open("rb") as file:
                file.seek(place.offset)
                content = BytesIO(file.read(place.length))
            if item.type is LoadItemType.BYTE_IO:
                planner.load_bytes(item, content)
                continue
            saved = load(content, map_location="cpu", weights_only=True)
            place_for = planner.resolve_tensor(item).detach()
            place_for.copy_(block_of(saved, item.storage_offsets, item.lengths))
            planner.commit_tensor(item, place_for)
        return _done(None)

    def _place_of(self, item: Any) -> tuple[str, int]:
        place = self._places[item.storage_index]
        return place.relative_path, place.offset

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        """Whether it can be a folder."""
        return FileSystemWriter.validate_checkpoint_id(checkpoint_id)


def _no_tensors(identity: Any) -> Any:
    raise pickle.UnpicklingError("the metadata of a checkpoint has no tensors")
