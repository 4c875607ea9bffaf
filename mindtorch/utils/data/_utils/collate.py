"""Making one batch of several items."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from mindtorch._core.dtype import float64
from mindtorch._core.layout import strided
from mindtorch._core.shared_memory import shared_root
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._functions.creation import as_tensor, tensor
from mindtorch.dispatch import ops
from mindtorch.utils.data._utils.worker import get_worker_info

FunctionMap = dict[Any, Callable[..., Any]]

np_str_obj_array_pattern = re.compile(r"[SaUO]")
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data: Any) -> Any:
    """Arrays anywhere in a structure made into tensors; for loading without batches."""
    if isinstance(data, np.ndarray) and np_str_obj_array_pattern.search(data.dtype.str):
        return data
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, (str, bytes)):
        return as_tensor(data)
    if isinstance(data, Mapping):
        return rebuilt_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return rebuilt_sequence(data, [default_convert(value) for value in data])
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """Tensors stacked, numbers made a tensor, structures collated member by member."""
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    """Items collated by the function for their type, structures member by member."""
    first = batch[0]
    functions = collate_fn_map or {}
    for kind in functions if type(first) not in functions else (type(first),):
        if isinstance(first, kind):
            return functions[kind](batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        members = {key: collate([item[key] for item in batch], collate_fn_map=collate_fn_map) for key in first}
        return rebuilt_mapping(first, members)
    if not isinstance(first, Sequence):
        raise TypeError(default_collate_err_msg_format.format(type(first)))
    if not hasattr(first, "_fields") and any(len(item) != len(first) for item in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    return rebuilt_sequence(first, [collate(each, collate_fn_map=collate_fn_map) for each in zip(*batch)])


def rebuilt_mapping(like: Mapping[Any, Any], members: dict[Any, Any]) -> Any:
    """Of the same type if it can be made, else a plain dictionary."""
    make: Callable = type(like)
    try:
        if not isinstance(like, MutableMapping):
            return make(members)
        clone = copy.copy(like)
        clone.update(members)
        return clone
    except TypeError:
        return members


def rebuilt_sequence(like: Sequence[Any], members: list[Any]) -> Any:
    """Of the same type if it can be made; of a plain tuple a list."""
    make: Callable = type(like)
    if hasattr(like, "_fields"):
        return make(*members)
    if isinstance(like, tuple):
        return members
    try:
        if not isinstance(like, MutableSequence):
            return make(members)
        clone = copy.copy(like)
        for place, member in enumerate(members):
            clone[place] = member
        return clone
    except TypeError:
        return members


# -------------------- items that are no structures --------------------


def collate_tensor_fn(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    if batch[0].layout is not strided:
        raise RuntimeError(
            "Batches of sparse tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately."
        )
    return ops.stack(list(batch), 0, out=_shared_out(batch) if get_worker_info() and batch[0].is_cpu else None)


def _shared_out(batch: Sequence[Any]) -> Tensor:
    """In a worker, room for a batch in memory that the main process sees, as torch makes it: for as many elements."""
    first = batch[0]
    shape = (len(batch), *first.shape)
    if math.prod(shape) > sum([each.numel() for each in batch]):
        raise RuntimeError("Trying to resize storage that is not resizable")
    root = shared_root(math.prod(shape) * first.element_size())
    return wrap(np.ndarray(shape, first.dtype.numpy, root))


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    if np_str_obj_array_pattern.search(batch[0].dtype.str):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    return as_tensor(np.array(batch))


def collate_float_fn(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    return tensor(batch)


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    return batch


# By type of the items; programs add types of their own.
default_collate_fn_map: FunctionMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
