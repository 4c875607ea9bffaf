"""Checkpoints as folders: a file of each process that has written something, and `.metadata`, which comes last.

The files are PyTorch's: it loads what is saved here, and the other way round.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from mindtorch._core.tensor import Tensor
from mindtorch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from mindtorch.distributed.checkpoint.planner import (
    DefaultLoadPlanner,
    DefaultSavePlanner,
    LoadPlan,
    SavePlan,
    block_of,
)
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


@dataclass(frozen=True)
class WriteResult:
    """What was written, and where it is."""

    index: MetadataIndex
    size_in_bytes: int
    storage_data: _StorageInfo


class _Folder:
    """Where a checkpoint is."""

    path: Path

    @property
    def checkpoint_id(self) -> Path:
        """The folder."""
        return self.path


class FileSystemWriter(_Folder):
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

    def prepare(self) -> str:
        """Make the folder; what the files of all processes are called by."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not (self.path / _METADATA).exists():
            return ""
        if not self.overwrite:
            raise RuntimeError("Checkpoint already exists and self.overwrite=False.")
        return f"_{self.save_id}"

    def write_data(self, plan: SavePlan, planner: DefaultSavePlanner, rank: int, mark: str) -> list[WriteResult]:
        """Write what the plan says, in one file or in one for each thing."""
        groups = [plan.items] if self.single_file_per_rank else [[item] for item in plan.items]
        results = []
        for number, items in enumerate(groups):
            if items:
                name = f"__{rank}_{number}{mark}{_SUFFIX}"
                with (self.path / name).open("wb") as file:
                    results += [_written(file, name, item.index, planner.resolve_data(item)) for item in items]
                    self._sync(file)
        return results

    def finish(self, metadata: Metadata, results: Sequence[Sequence[WriteResult]]) -> None:
        """Write the metadata, which makes the files a checkpoint."""
        metadata.version = _VERSION
        metadata.storage_data = {each.index: each.storage_data for those in results for each in those}
        metadata.storage_meta = StorageMeta(str(self.path), self.save_id)
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


def _written(file: BinaryIO, name: str, index: MetadataIndex, value: Any) -> WriteResult:
    start = file.tell()
    content = BytesIO()
    # A view would take all of its memory along.
    save(value.detach().cpu().clone() if isinstance(value, Tensor) else value, content)
    file.write(content.getbuffer())
    length = file.tell() - start
    return WriteResult(index, length, _StorageInfo(name, start, length))


class FileSystemReader(_Folder):
    """Loads checkpoints from a folder. As with `torch.load(..., weights_only=False)`, they must be trusted."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self._places: dict[MetadataIndex, _StorageInfo] = {}

    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        """Begin with another folder, if one is given."""
        if checkpoint_id:
            self.path = Path(checkpoint_id)
        self._places = {}

    def read_metadata(self) -> Metadata:
        """What the checkpoint has. A folder without it is none: saving was interrupted."""
        with (self.path / _METADATA).open("rb") as file:
            metadata = full_unpickler(file, pickle, _no_tensors, {}).load()
        self._places = metadata.storage_data
        return metadata

    def read_data(self, plan: LoadPlan, planner: DefaultLoadPlanner) -> None:
        """Read what the plan says."""
        for item in sorted(plan.items, key=self._place_of):
            place = self._places[item.storage_index]
            if place.transform_descriptors:
                raise NotImplementedError("checkpoints that are compressed or otherwise transformed can't be read")
            with (self.path / place.relative_path).open("rb") as file:
                file.seek(place.offset)
                content = BytesIO(file.read(place.length))
            if item.lengths is None:
                planner.load_bytes(item, load(content, weights_only=False))
                continue
            saved = load(content, map_location="cpu", weights_only=True)
            planner.resolve_tensor(item).copy_(block_of(saved, item.storage_offsets, item.lengths))

    def _place_of(self, item: Any) -> tuple[str, int]:
        place = self._places[item.storage_index]
        return place.relative_path, place.offset

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        """Whether it can be a folder."""
        return FileSystemWriter.validate_checkpoint_id(checkpoint_id)


def _no_tensors(identity: Any) -> Any:
    raise pickle.UnpicklingError("the metadata of a checkpoint has no tensors")
