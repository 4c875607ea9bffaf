"""What torch refuses before it computes: dtypes and devices that don't fit, and the warning of a resized output."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.promotion import can_convert
from mindtorch._support.warnings import warn
from mindtorch.iterator.shapes import Shape


def check_result_dtype(result: np.dtype, target: np.dtype) -> None:
    """A result can only be written to a tensor of its kind of dtype or a higher one."""
    if not can_convert(result, target):
        names = [FROM_NUMPY[each].storage_name for each in (result, target)]
        raise RuntimeError(f"result type {names[0]} can't be cast to the desired output type {names[1]}")


def check_same_dtype(found: np.dtype, expected: np.dtype) -> None:
    """Some ops neither promote nor convert, so all their operands must have one dtype."""
    if found != expected:
        names = [FROM_NUMPY[each].storage_name for each in (found, expected)]
        raise RuntimeError(f"Found dtype {names[0]} but expected {names[1]}")


def needs_resize(out: Any, shape: Shape) -> bool:
    """Whether an `out=` tensor has another shape; warns as torch does unless it is empty."""
    if out.shape == shape:
        return False
    if out.size:
        warn(
            "An output with one or more elements was resized since it had shape "
            f"{list(out.shape)}, which does not match the required output shape {list(shape)}. This behavior is "
            "deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. "
            "You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
        )
    return True


def check_devices(arrays: Sequence[Any], allow_cpu_scalars: bool = True) -> None:
    """All arrays come from one backend; a 0-dim array on the CPU goes with any, unless that is switched off."""
    first = next((array for array in arrays if array.ndim or not isinstance(array, np.ndarray)), arrays[0])
    for array in arrays:
        if type(array) is type(first) or device_name(array) == device_name(first):
            continue
        if array.ndim or not isinstance(array, np.ndarray) or not allow_cpu_scalars:
            raise RuntimeError(
                f"Tensor on device {device_name(array)} is not on the expected device {device_name(first)}!"
            )


def device_name(array: Any) -> str:
    """The device of an array, as error texts write it."""
    return "cpu" if isinstance(array, np.ndarray) else str(array.device)
