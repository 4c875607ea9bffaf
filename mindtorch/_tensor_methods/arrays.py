"""Tensor methods for NumPy and DLPack."""

from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.dtype import bfloat16
from mindtorch._core.interop import from_numpy
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor, extend_tensor

_DLPACK_CPU = (1, 0)


@extend_tensor
class ArrayMethods:
    """What makes a tensor usable where an array is expected."""

    def numpy(self: Any, *, force: bool = False) -> np.ndarray:
        """A NumPy array on the same memory; with `force` of whatever tensor, copied if it has to be."""
        return _host_array(self.detach().cpu() if force else self).view()

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(_host_array(self).view(), dtype, copy=copy)

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Tensor:
        array = np.asarray(array)
        return from_numpy(
            array.astype(np.uint8) if array.dtype == bool else array
        )  # torch's answer, as old as uint8 masks

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self.layout is not strided:
            raise BufferError("Can't export tensors with layout other than torch.strided")
        if not isinstance(self._mt_array, np.ndarray):
            raise BufferError(f"Cannot pack tensors on {self.device}")
        if self.dtype is bfloat16:
            raise BufferError("NumPy, which packs the tensor, does not know bfloat16 in DLPack")
        return self._mt_array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        if not isinstance(self._mt_array, np.ndarray):
            raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
        return _DLPACK_CPU


def _host_array(tensor: Any) -> np.ndarray:
    """The array of a tensor that NumPy may see; torch's error for any other tensor."""
    if tensor.layout is not strided:
        raise TypeError(f"can't convert {tensor.layout.shown} layout tensor to numpy. Use Tensor.to_dense() first.")
    if type(tensor._mt_array) is BatchedArray:
        return tensor._mt_array.tolist()
    if not isinstance(tensor._mt_array, np.ndarray):
        raise TypeError(
            f"can't convert {tensor.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )
    if tensor.requires_grad and state.thread.grad_enabled:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if tensor.dtype is bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return tensor._mt_array
