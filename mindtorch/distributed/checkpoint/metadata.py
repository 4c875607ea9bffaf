"""What a checkpoint says of itself, in the classes that PyTorch's checkpoints are made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import strided
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor


@dataclass
class ChunkStorageMetadata:
    """A part of a tensor."""

    offsets: Size
    sizes: Size


class _MEM_FORMAT_ENCODING(Enum):  # noqa: N801 - PyTorch's name, which is in its files
    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


@dataclass
class TensorProperties:
    """What a tensor is like but for its size."""

    dtype: Dtype
    layout: Layout = strided
    requires_grad: bool = False
    memory_format: Any = contiguous_format
    pin_memory: bool = False

    def __getstate__(self) -> tuple:
        encoded = _MEM_FORMAT_ENCODING.TORCH_CONTIGUOUS_FORMAT
        return self.dtype, self.layout, self.requires_grad, encoded, self.pin_memory

    def __setstate__(self, state: tuple) -> None:
        self.dtype, self.layout, self.requires_grad, _, self.pin_memory = state
        self.memory_format = contiguous_format

    @staticmethod
    def create_from_tensor(tensor: Tensor) -> TensorProperties:
        """Those of a tensor."""
        return TensorProperties(tensor.dtype, tensor.layout, tensor.requires_grad)


@dataclass
class TensorStorageMetadata:
    """A tensor: what it is like, and the parts that it was saved in."""

    properties: TensorProperties
    size: Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """Something that is no tensor."""


@dataclass
class StorageMeta:
    """Where a checkpoint was saved."""

    checkpoint_id: str | os.PathLike | None = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """All of it: what there is, by name, and where it is."""

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass(frozen=True)
class MetadataIndex:
    """The name of something, and where in the tensor a part of it begins."""

    fqn: str
    offset: Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "offset", None if offset is None else Size(offset))
        object.__setattr__(self, "index", index)
