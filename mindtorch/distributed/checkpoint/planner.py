"""Who saves and loads what."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from io import BytesIO
from typing import Any

from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.distributed.checkpoint.chunks import chunks_of, size_of
from mindtorch.distributed.checkpoint.flattening import Path, flatten_state_dict
from mindtorch.distributed.checkpoint.flattening import replace as put
from mindtorch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    StorageMeta,
    TensorProperties,
    TensorStorageMetadata,
)
from mindtorch.serialization import load, save

_INVALID = "Failed to validate global plan"


class WriteItemType(Enum):
    """What is written: a tensor, a part of one, or something else."""

    TENSOR = auto()
    SHARD = auto()
    BYTE_IO = auto()


@dataclass(frozen=True)
class TensorWriteData:
    """A part of a tensor, and the whole that it is of."""

    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: Size


@dataclass(frozen=True)
class WriteItem:
    """One thing to write."""

    index: MetadataIndex
    type: WriteItemType
    tensor_data: TensorWriteData | None = None

    def nbytes(self) -> int:
        """How much there is to write, for tensors."""
        data = self.tensor_data
        return 0 if data is None else data.properties.dtype.itemsize * _product(data.chunk.sizes)


class LoadItemType(Enum):
    """What is read: a block of a tensor, or something else."""

    TENSOR = auto()
    BYTE_IO = auto()


@dataclass(frozen=True)
class ReadItem:
    """A block of a saved part, and where it goes."""

    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: Size
    storage_index: MetadataIndex
    storage_offsets: Size
    lengths: Size


@dataclass(frozen=True)
class SavePlan:
    """What one process writes."""

    items: list[WriteItem]
    storage_data: Any = None
    planner_data: Any = None
    usable: bool = True


@dataclass(frozen=True)
class LoadPlan:
    """What one process reads."""

    items: list[ReadItem]
    storage_data: Any = None
    planner_data: Any = None


class SavePlanner(ABC):
    """Who saves what. The methods are called in this order; `create_global_plan` in the process of rank 0 only."""

    @abstractmethod
    def set_up_planner(
        self, state_dict: dict[str, Any], storage_meta: StorageMeta | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with a state dict."""

    @abstractmethod
    def create_local_plan(self) -> SavePlan:
        """What this process could write."""

    @abstractmethod
    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """What each process does write, and what there will be."""

    @abstractmethod
    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """The plan of this process, before it writes."""

    @abstractmethod
    def resolve_data(self, write_item: WriteItem) -> Tensor | BytesIO:
        """The tensor to write or, for another thing, its bytes."""


class LoadPlanner:
    """Who loads what. The methods are called in this order; `create_global_plan` in the process of rank 0 only."""

    @abstractmethod
    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with a state dict, whose values are replaced and whose tensors are filled."""

    @abstractmethod
    def create_local_plan(self) -> LoadPlan:
        """What this process reads."""

    @abstractmethod
    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """What each process reads, once all plans are known."""

    @abstractmethod
    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """The plan of this process, before it reads."""

    @abstractmethod
    def load_bytes(self, read_item: ReadItem, value: BytesIO) -> None:
        """Take the bytes of something that is no tensor."""

    def resolve_bytes(self, read_item: ReadItem) -> BytesIO:
        """Where such bytes could go."""
        raise NotImplementedError("LoadPlanner.resolve_bytes is not implemented")

    @abstractmethod
    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """Where a block goes: a tensor that is written."""

    @abstractmethod
    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """What `resolve_tensor` has given was written."""


class DefaultSavePlanner(SavePlanner):
    """Each process writes its parts; what several have is written by one of them."""

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        dedup_replicated_tensors: bool | None = None,
        dedup_save_to_lowest_rank: bool = False,
    ) -> None:
        if dedup_replicated_tensors is not None:
            warn(
                "DefaultSavePlanner's `dedup_replicated_tensors` argument is being deprecated, and no longer has any "
                "effect. Please remove this argument from your call."
            )
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors  # PyTorch's ShardedTensors, which are not here
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank
        self.state_dict: dict[str, Any] = {}

    def set_up_planner(
        self, state_dict: Mapping[str, Any], storage_meta: StorageMeta | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with a state dict."""
        self.is_coordinator = is_coordinator
        self.state_dict = dict(state_dict)
        self.paths: dict[str, Path] = {name: (name,) for name in state_dict}
        if self.flatten_state_dict:
            self.state_dict, self.paths = flatten_state_dict(state_dict)

    def create_local_plan(self) -> SavePlan:
        """What this process could write."""
        items = [item for name, value in self.state_dict.items() for item in _write_items(name, value)]
        return SavePlan(items, planner_data=self.paths)

    def create_global_plan(self, all_plans: Sequence[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """What each process does write, and what there will be."""
        writers = _writers(all_plans, self.dedup_save_to_lowest_rank)
        kept = [
            replace(plan, items=[item for item in plan.items if writers[item.index] == rank])
            for rank, plan in enumerate(all_plans)
        ]
        paths = {name: path for plan in all_plans for name, path in plan.planner_data.items()}
        return kept, Metadata(_described(kept), paths if self.flatten_state_dict else None)

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """The plan as it is."""
        return new_plan

    def resolve_data(self, write_item: WriteItem) -> Tensor | BytesIO:
        """The tensor to write or, for another thing, what `torch.save` makes of it."""
        value = self.state_dict[write_item.index.fqn]
        if write_item.type is WriteItemType.BYTE_IO:
            content = BytesIO()
            save(value, content)
            content.seek(0)
            return content
        return next(part for offsets, part in chunks_of(value) if offsets == write_item.index.offset)


def _write_items(name: str, value: Any) -> list[WriteItem]:
    if not isinstance(value, Tensor):
        return [WriteItem(MetadataIndex(name), WriteItemType.BYTE_IO)]
    size = size_of(value)
    items = []
    for offsets, part in chunks_of(value):
        chunk = ChunkStorageMetadata(offsets, Size(part.shape))
        kind = WriteItemType.TENSOR if part.shape == size else WriteItemType.SHARD
        data = TensorWriteData(chunk, TensorProperties.create_from_tensor(value), size)
        items.append(WriteItem(MetadataIndex(name, offsets), kind, data))
    return items


def _writers(plans: Sequence[SavePlan], is_lowest: bool) -> dict[MetadataIndex, int]:
    """For each thing the process that writes it: of those that have it, the one with the least to write so far, or the
    first."""
    having: dict[MetadataIndex, list[int]] = {}
    items: dict[MetadataIndex, WriteItem] = {}
    for rank, plan in enumerate(plans):
        for item in plan.items:
            having.setdefault(item.index, []).append(rank)
            if items.setdefault(item.index, item).tensor_data != item.tensor_data:
                raise ValueError(f"{_INVALID}: the processes have different tensors for {item.index.fqn}")
    loads = [0] * len(plans)
    writers = {}
    for index, ranks in having.items():
        writers[index] = ranks[0] if is_lowest else min(ranks, key=lambda rank: loads[rank])
        loads[writers[index]] += items[index].nbytes()
    return writers


def _described(plans: Sequence[SavePlan]) -> dict[str, TensorStorageMetadata | BytesStorageMetadata]:
    found: dict[str, TensorStorageMetadata | BytesStorageMetadata] = {}
    for item in (item for plan in plans for item in plan.items):
        data = item.tensor_data
        if data is None:
            found[item.index.fqn] = BytesStorageMetadata()
            continue
        whole = found.setdefault(item.index.fqn, TensorStorageMetadata(data.properties, data.size, []))
        if not isinstance(whole, TensorStorageMetadata) or whole.size != data.size:
            raise ValueError(f"{_INVALID}: the processes have different things for {item.index.fqn}")
        whole.chunks.append(data.chunk)
    _check_complete(found)
    return found


def _check_complete(found: Mapping[str, TensorStorageMetadata | BytesStorageMetadata]) -> None:
    for name, whole in found.items():
        if isinstance(whole, TensorStorageMetadata):
            count = sum(_product(chunk.sizes) for chunk in whole.chunks)
            if count != _product(whole.size):
                raise ValueError(
                    f"{_INVALID}: the parts of {name} have {count} elements, the tensor has {_product(whole.size)}"
                )


def _product(sizes: Sequence[int]) -> int:
    result = 1
    for each in sizes:
        result *= each
    return result


class DefaultLoadPlanner(LoadPlanner):
    """Each process reads what its tensors need, in whatever parts it was saved."""

    def __init__(
        self,
        flatten_state_dict: bool = True,
        flatten_sharded_tensors: bool = True,
        allow_partial_load: bool = False,
    ) -> None:
        self.flatten_state_dict = flatten_state_dict
        self.flatten_sharded_tensors = flatten_sharded_tensors
        self.allow_partial_load = allow_partial_load
        self.state_dict: dict[str, Any] = {}

    def set_up_planner(
        self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False
    ) -> None:
        """Begin with a state dict, whose values are replaced and whose tensors are filled."""
        self.original, self.metadata, self.is_coordinator = state_dict, metadata, is_coordinator
        self.state_dict = dict(state_dict)
        self.paths: dict[str, Path] = {name: (name,) for name in state_dict}
        if self.flatten_state_dict:
            self.state_dict, self.paths = flatten_state_dict(state_dict)

    def create_local_plan(self) -> LoadPlan:
        """What this process reads."""
        assert self.metadata is not None
        items = []
        for name, value in self.state_dict.items():
            saved = self.metadata.state_dict_metadata.get(name)
            if saved is not None:
                items += _read_items(name, value, saved)
            elif not self.allow_partial_load:
                raise RuntimeError(f"Missing key in checkpoint state_dict: {name}.")
        return LoadPlan(items)

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """The plans as they are: each process reads for itself."""
        return global_plan

    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """The plan as it is."""
        return central_plan

    def load_bytes(self, read_item: ReadItem, value: BytesIO) -> None:
        """Take something that is no tensor, as `torch.save` has written it."""
        put(self.original, self.paths[read_item.dest_index.fqn], load(value, weights_only=False))

    def resolve_tensor(self, read_item: ReadItem) -> Tensor:
        """Where a block goes."""
        parts = chunks_of(self.state_dict[read_item.dest_index.fqn])
        part = next(part for offsets, part in parts if offsets == read_item.dest_index.offset)
        return block_of(part, read_item.dest_offsets, read_item.lengths)

    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """A block lies where it belongs."""


def _read_items(name: str, value: Any, saved: TensorStorageMetadata | BytesStorageMetadata) -> list[ReadItem]:
    if isinstance(saved, BytesStorageMetadata):
        if isinstance(value, Tensor):
            raise ValueError(f"Invalid checkpoint metadata for {name}, expected a tensor but found {type(saved)}")
        return [
            ReadItem(LoadItemType.BYTE_IO, MetadataIndex(name), Size((0,)), MetadataIndex(name), Size((0,)), Size((0,)))
        ]
    if not isinstance(value, Tensor):
        raise ValueError(
            f"Invalid checkpoint metadata for {name}, expected BytesStorageMetadata but found {type(saved)}"
        )
    if saved.size != size_of(value):
        raise ValueError(f"Size mismatch between saved {saved.size} and current: {size_of(value)} for {name}")
    return [
        item
        for offsets, part in chunks_of(value)
        for chunk in saved.chunks
        for item in _overlap(name, offsets, part.shape, chunk)
    ]


def _overlap(name: str, offsets: Size, sizes: Sequence[int], chunk: ChunkStorageMetadata) -> list[ReadItem]:
    starts = [max(pair) for pair in zip(offsets, chunk.offsets, strict=True)]
    ends = [
        min(first + size, other + length)
        for first, size, other, length in zip(offsets, sizes, chunk.offsets, chunk.sizes, strict=True)
    ]
    if any(end <= start for start, end in zip(starts, ends, strict=True)):
        return []
    return [
        ReadItem(
            LoadItemType.TENSOR,
            MetadataIndex(name, offsets),
            Size(start - offset for start, offset in zip(starts, offsets, strict=True)),
            MetadataIndex(name, chunk.offsets),
            Size(start - offset for start, offset in zip(starts, chunk.offsets, strict=True)),
            Size(end - start for start, end in zip(starts, ends, strict=True)),
        )
    ]


def block_of(tensor: Tensor, offsets: Sequence[int], lengths: Sequence[int]) -> Tensor:
    """A block of a tensor, as a view."""
    for dim, (offset, length) in enumerate(zip(offsets, lengths, strict=True)):
        tensor = tensor.narrow(dim, offset, length)
    return tensor
