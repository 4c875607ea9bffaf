"""Making one batch of several items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindtorch.creation import as_tensor, tensor
from mindtorch.dispatch import ops
from mindtorch.dtype import float64
from mindtorch.tensor import Tensor


def default_convert(data: Any) -> Any:
    """Arrays anywhere in a structure made into tensors; for loading without batches."""
    if isinstance(data, (np.ndarray, np.generic)):
        return as_tensor(data)
    if isinstance(data, (Mapping, tuple, list)):
        return _rebuild(data, default_convert)
    return data


def _rebuild(data: Any, convert: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: convert(value) for key, value in data.items()}
    converted = [convert(value) for value in data]
    return type(data)(*converted) if hasattr(data, "_fields") else converted


def default_collate(batch: Sequence[Any]) -> Any:
    """Tensors stacked, numbers made a tensor, structures collated member by member."""
    first = batch[0]
    if isinstance(first, Tensor):
        return ops.stack(list(batch), 0)
    if isinstance(first, np.ndarray):
        return ops.stack([as_tensor(array) for array in batch], 0)
    if isinstance(first, np.generic):
        return as_tensor(np.array(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    return _collate_structures(batch)


def _collate_structures(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if isinstance(first, Mapping):
        return {key: default_collate([item[key] for item in batch]) for key in first}
    if not isinstance(first, (tuple, list)):
        raise TypeError(
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
            f"found {type(first)}"
        )
    if any(len(item) != len(first) for item in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    members = [default_collate(list(values)) for values in zip(*batch)]
    return type(first)(*members) if hasattr(first, "_fields") else members
