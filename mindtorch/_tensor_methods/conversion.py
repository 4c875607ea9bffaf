"""Tensor methods that turn tensors into Python numbers, lists and iterators."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.device import CPU, renamed
from mindtorch._core.device import device as Device
from mindtorch._core.dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from mindtorch._core.dtype import bool as bool_dtype
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.memory_format import checked_format, memory_format, preserve_format
from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch._support import errors
from mindtorch._support.warnings import warn_once
from mindtorch.dispatch.modes import torch_dispatch
from mindtorch.dispatch.modes.batching import no_batching_rule
from mindtorch.dispatch.modes.captures import itself, runs_inside_of_samples


@extend_tensor
class ScalarMethods:
    """Tensors of one element as Python numbers."""

    def item(self: Any) -> int | float | bool:
        """The only element as a Python number."""
        array = self._mt_array
        if array.size != 1 and type(array) is not BatchedArray:
            raise errors.not_a_scalar(array.size)
        if state.active_modes and torch_dispatch.is_wanted((self,)):
            return torch_dispatch.ask_op("_local_scalar_dense", self)
        if self.is_meta:
            raise errors.meta_item()
        if runs_inside_of_samples(self):
            raise errors.number_of_samples()
        value = array.item()
        return value if type(value) in _PYTHON_NUMBERS else float(value)  # bfloat16 has a scalar type of its own

    def __bool__(self: Any) -> bool:
        if type(self._mt_array) is BatchedArray:
            raise _truth_of_samples(self)
        if self._mt_array.size != 1:
            raise errors.ambiguous_truth(self._mt_array.size)
        return bool(self.item())

    def __int__(self) -> int:
        return int(_real(_single(self), "int64_t"))

    def __float__(self: Any) -> float:
        if self._mt_edge is not None and self.requires_grad:
            warn_once(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first.",
                UserWarning,
            )
        return float(_real(_single(self), "double"))

    def __complex__(self) -> complex:
        return complex(_single(self))

    def __index__(self: Any) -> int:
        if self._mt_array.size != 1 or self._mt_array.dtype.kind not in "biu":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def is_nonzero(self: Any) -> bool:
        return bool(self)

    def __format__(self: Any, spec: str) -> str:
        if self.ndim == 0 and not self.is_meta and type(self) is Tensor:
            return self.item().__format__(spec)
        return object.__format__(self, spec)


_PYTHON_NUMBERS = frozenset((int, float, bool, complex))


def _single(tensor: Any) -> Any:
    if tensor._mt_array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return tensor.item()


def _real(value: Any, target: str) -> Any:
    if not isinstance(value, complex):
        return value
    if value.imag != 0:
        raise RuntimeError(f"value cannot be converted to type {target} without overflow")
    return value.real


@extend_tensor
class ListMethods:
    """Tensors as lists. NumPy arrays are made in `mindtorch._tensor_methods.arrays`."""

    def tolist(self: Any) -> list[Any]:
        """Nested lists of Python numbers."""
        if self.is_meta:
            raise errors.meta_data()
        array = self.cpu()._mt_array
        if (
            isinstance(array, np.ndarray) and array.dtype.kind == "V"
        ):  # bfloat16, which NumPy would leave as scalars of its own
            array = array.astype(np.float32)
        return array.tolist()


def _conversion(name: str, target: Dtype) -> Callable[..., Tensor]:
    """The method that converts to a dtype: `x.float()`."""

    def convert(self: Any, memory_format: memory_format | None = preserve_format) -> Tensor:
        if memory_format is preserve_format:
            return self.to(target)
        if memory_format is not None:
            checked_format(memory_format, name)
        return self.to(target, memory_format=memory_format)

    convert.__doc__ = f"The tensor converted to {target}; the tensor itself if it is that already."
    return convert


@extend_tensor
class TargetMethods:
    """Conversions to a dtype that the method's name tells."""

    bfloat16 = _conversion("bfloat16", bfloat16)
    bool = _conversion("bool", bool_dtype)
    byte = _conversion("byte", uint8)
    cdouble = _conversion("cdouble", complex128)
    cfloat = _conversion("cfloat", complex64)
    char = _conversion("char", int8)
    double = _conversion("double", float64)
    float = _conversion("float", float32)
    half = _conversion("half", float16)
    int = _conversion("int", int32)
    long = _conversion("long", int64)
    short = _conversion("short", int16)


@extend_tensor
class DeviceMethods:
    """Moves to a device that the method's name tells."""

    def cpu(self: Any, memory_format: memory_format | None = preserve_format) -> Tensor:
        """The tensor on the CPU; the tensor itself if it is there already."""
        if memory_format is not None:
            checked_format(memory_format, "cpu")
        return itself(self) if self.is_cpu else self.to(CPU, memory_format=memory_format)

    def npu(self: Any, device: Any = None, non_blocking: bool = False) -> Tensor:
        """The tensor on an NPU."""
        if device is None or isinstance(device, int):
            device = "npu" if device is None else f"npu:{device}"
        elif Device(device).type != "npu":
            raise RuntimeError(f"Invalid device, must be npu device but got {Device(device)}")
        return self.to(device, non_blocking=non_blocking)

    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Tensor:
        """An error: there is no CUDA here, unless the name means another type of device."""
        if "cuda" not in renamed:
            raise errors.device_unavailable("cuda")
        if isinstance(device, int):
            device = f"cuda:{device}"
        return self.to("cuda" if device is None else device, non_blocking=non_blocking)


@extend_tensor
class ContainerMethods:
    """Tensors as Python containers."""

    def __iter__(self: Any) -> Iterator[Tensor]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self: Any) -> Tensor:
        return self if self.ndim == 0 else self.flip(0)

    def __contains__(self: Any, element: Any) -> bool:
        if not isinstance(element, (Tensor, int, float, complex, bool)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
            )
        return bool((self == element).any().item())

    def apply_(self: Any, callable: Callable) -> Tensor:
        """Replace every element by what a Python function makes of it."""
        if self.requires_grad:
            raise RuntimeError("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
        array = self._mt_array
        for index in np.ndindex(array.shape):
            array[index] = callable(array[index].item())
        return self


def _truth_of_samples(tensor: Tensor) -> RuntimeError:
    """torch's error for the truth of a batched tensor. To it a batch of gradients is no transform, and what hooks see
    when a call of `vmap` is over are all samples."""
    array = tensor._mt_array
    if runs_inside_of_samples(tensor):
        return errors.number_of_samples()
    if state.thread.transforms:
        return errors.control_flow_in_vmap()
    if array.level in state.thread.vmap_levels:
        return no_batching_rule("is_nonzero")
    return errors.ambiguous_truth(array.size * array.level.size)
