"""Checkpoints of several processes as files of `torch.save`, and the other way round."""

from __future__ import annotations

import os
from typing import Any

from mindtorch.dispatch import ops
from mindtorch.distributed.checkpoint.filesystem import FileSystemReader
from mindtorch.distributed.checkpoint.flattening import unflatten_state_dict
from mindtorch.distributed.checkpoint.metadata import TensorStorageMetadata
from mindtorch.distributed.checkpoint.planner import DefaultLoadPlanner
from mindtorch.distributed.checkpoint.saving import load as load_parts
from mindtorch.distributed.checkpoint.saving import save as save_parts
from mindtorch.serialization import load, save


def dcp_to_torch_save(dcp_checkpoint_dir: str | os.PathLike, torch_save_path: str | os.PathLike) -> None:
    """Write all of a checkpoint, tensors whole, as one file of `torch.save`. One process does it, in its memory."""
    reader = FileSystemReader(dcp_checkpoint_dir)
    metadata = reader.read_metadata()
    flat: dict[str, Any] = {
        name: ops.empty(saved.size, dtype=saved.properties.dtype) if isinstance(saved, TensorStorageMetadata) else None
        for name, saved in metadata.state_dict_metadata.items()
    }
    load_parts(flat, storage_reader=reader, planner=DefaultLoadPlanner(flatten_state_dict=False), no_dist=True)
    save(unflatten_state_dict(flat, metadata.planner_data) if metadata.planner_data else flat, torch_save_path)


def torch_save_to_dcp(torch_save_path: str | os.PathLike, dcp_checkpoint_dir: str | os.PathLike) -> None:
    """Write what `torch.save` has written as a checkpoint. The file is loaded with its pickles: it must be trusted."""
    save_parts(load(torch_save_path, weights_only=False), checkpoint_id=dcp_checkpoint_dir, no_dist=True)


__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]
