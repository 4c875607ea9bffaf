"""What is looked at before a collective: the tensor, NaN, and whether the processes agree on what they do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn_once
from mindtorch.distributed.memory import Memory, flat, has_nan, in_rows, is_on_device

NON_CONTIGUOUS_MESSAGE = (
    "Detected non-contiguous tensor in P2P operations. It is user responsibility to guarantee that source and "
    "destination tensors have the same contiguity format."
)

_ON_DEVICE = 1 << 16
_NUMBERS = {dtype: number for number, dtype in enumerate(FROM_NUMPY)}


def check_tensor(argument: Any, name: str) -> None:
    """Refuse what is no tensor."""
    if not isinstance(argument, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(argument)} instead."
        )


def check_tensor_list(argument: Any, name: str) -> None:
    """Refuse what is no list of tensors."""
    if not isinstance(argument, list):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(argument)} instead."
        )
    if not all(isinstance(each, Tensor) for each in argument):
        found = [type(each) for each in argument]
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(argument)} with elements of type {found}."
        )


def check_same_dtype(*tensors: Tensor) -> None:
    """Refuse tensors of several dtypes."""
    first = tensors[0].dtype
    for each in tensors:
        if each.dtype is not first:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {first} and  {each.dtype}")


def memory_of(tensor: Tensor, p2p: bool = False) -> Memory:
    """The elements of a tensor as they lie in memory: row by row, or with the channels last.

    Tensors on meta, sparse tensors and, but for messages, tensors with gaps are refused.
    """
    array = tensor._mt_array
    if type(array) is np.ndarray and array.dtype in _NUMBERS and array.flags.c_contiguous:
        return array.reshape(-1)
    if (type(array) is not np.ndarray and not is_on_device(array)) or array.dtype not in FROM_NUMPY:
        _refuse(tensor)
    if array.flags.c_contiguous or geometry.has_format(array, geometry.suggested_format(array)):
        return flat(array)
    if not p2p:
        raise ValueError("Tensors must be contiguous")
    warn_once(NON_CONTIGUOUS_MESSAGE)
    return in_rows(array)


def _refuse(tensor: Tensor) -> None:
    if tensor.is_conj() or tensor.is_neg():
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias "
            "the original."
        )
    raise ValueError("Tensors must be CPU and dense")


def check_for_nan(memory: Memory | list[Memory], kind: str) -> None:
    """Refuse numbers that are NaN."""
    if has_nan(memory):
        raise RuntimeError(f"NaN check failed: the input tensor of {kind} has NaN in it")


def nan_check_is_wanted() -> bool:
    """Whether the environment asks for `check_for_nan` before each collective."""
    return os.environ.get("TORCH_NCCL_NAN_CHECK", "0").lower() in ("1", "y", "yes", "t", "true")


def number_of(memory: Memory, tensor: Tensor) -> int:
    """A dtype, the order of the dimensions in memory, and whether that is a device's, as one number."""
    number = _NUMBERS[memory.dtype]
    array = tensor._mt_array
    if type(array) is not np.ndarray:
        number += _ON_DEVICE
    return number if array.flags.c_contiguous else number + 64 * (1 + array.ndim)


def fingerprint_text(sequence: int, kind: str, tensors: Sequence[Tensor]) -> str:
    """What one process does, as the error of a mismatch says it."""
    text = f"CollectiveFingerPrint(SequenceNumber={sequence}, OpType={kind}"
    if tensors:
        first = tensors[0]
        options = (
            f"TensorOptions(dtype={_c_name(first)}, device={first.device.type}, layout=Strided (default), "
            "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
        )
        shape = ", ".join(str(each) for each in first.shape)
        text += f", TensorShape=[{shape}], TensorDtypes={first.dtype.storage_name}, TensorDeviceTypes={options}"
    return text + ")"


def _c_name(tensor: Tensor) -> str:
    name = str(tensor.dtype).removeprefix("torch.").removesuffix("32")
    return f"{name} (default)" if name == "float" else name


def mismatch_text(rank: int, said: Sequence[str]) -> str:
    """What the processes have come with, for the error that all of them get."""
    other = next((each for each in range(len(said)) if said[each] != said[rank]), (rank + 1) % len(said))
    return (
        "Detected mismatch between collectives on ranks. "
        f"Rank {rank} is running collective: {said[rank]}, but Rank {other} is running collective: {said[other]}."
    )
