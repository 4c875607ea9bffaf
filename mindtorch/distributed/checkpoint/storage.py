"""What `save` and `load` ask of the place where checkpoints are: the base of classes that keep them elsewhere."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta
from mindtorch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner
from mindtorch.futures import Future


@dataclass(frozen=True)
class WriteResult:
    """What was written, and where it is: whatever the reader needs to find it."""

    index: MetadataIndex
    size_in_bytes: int
    storage_data: Any


class StorageWriter(ABC):
    """Where checkpoints are saved. The methods are called in this order; what is said to be for the coordinator runs in
    the process of rank 0 only."""

    @abstractmethod
    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        """Begin another checkpoint, in another place if one is given."""

    def storage_meta(self) -> StorageMeta | None:
        """What the planner gets to know of the storage."""
        return None

    @abstractmethod
    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Get ready; `kwargs` has the rank."""

    @abstractmethod
    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """The plan of this process, with what the storage adds."""

    @abstractmethod
    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """The plans of all processes, with what the storage adds. For the coordinator."""

    @abstractmethod
    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future:
        """Write what the plan says; a future of the list of `WriteResult`."""

    @abstractmethod
    def finish(self, metadata: Metadata, results: Sequence[Sequence[WriteResult]]) -> None:
        """Write the metadata: from now on there is a checkpoint. For the coordinator."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        """Whether checkpoints can be there."""


class StorageReader(ABC):
    """Where checkpoints are loaded from. The methods are called in this order in each process, but for
    `prepare_global_plan`, which is for the coordinator."""

    @abstractmethod
    def reset(self, checkpoint_id: str | os.PathLike | None = None) -> None:
        """Begin with another checkpoint, if one is given."""

    @abstractmethod
    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """What the checkpoint has."""

    @abstractmethod
    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Get ready; `kwargs` has the rank."""

    @abstractmethod
    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """The plan of this process, with what the storage adds."""

    @abstractmethod
    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """The plans of all processes, with what the storage adds."""

    @abstractmethod
    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future:
        """Read what the plan says, and give it to the planner; a future of None."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike) -> bool:
        """Whether checkpoints can be there."""
