"""The CPU's kernel in the place of one that a device does not have: arguments are copied there, and results back."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch.backends.device_array import DeviceArray, extent_in_bytes
from mindtorch.device import CPU, as_device
from mindtorch.device import device as Device
from mindtorch.dispatch.registry import find_op, kernel_table
from mindtorch.roots import HostRoot, bytes_of, makers


def cpu_kernel_for(op: str) -> Callable:
    """A kernel of an op for the arrays of any device."""
    table = kernel_table(op)
    place = _place_of_device(op)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        call = _Call([*args, *kwargs.values()], None if place is None else args[place])
        on_cpu = {name: call.on_cpu(value) for name, value in kwargs.items()}
        result = table[np.ndarray](*[call.on_cpu(value) for value in args], **on_cpu)
        call.write_back()
        return call.on_device(result)

    return kernel


class _Memory:
    """What the arrays of one root show of it, on the CPU: arrays that overlap there overlap here."""

    def __init__(self, root: Any, arrays: Sequence[DeviceArray]) -> None:
        self.root = root
        self.start = min(array.byte_offset for array in arrays)
        self.content = root.to_host(self.start, max(map(_end_of, arrays)) - self.start)
        self.before = self.content.copy()

    def shown(self, array: DeviceArray) -> np.ndarray:
        return np.ndarray(array.shape, array.dtype, self.content, array.byte_offset - self.start, array.strides)

    def write_back(self) -> None:
        """Copy what the kernel has written. (Nothing tells for all ops which arguments that may be.)"""
        if not np.array_equal(self.content, self.before):
            self.root.write(self.start, self.content)


class _Call:
    """One call: its device, and its arrays, on the device and on the CPU."""

    def __init__(self, values: Sequence[Any], device: Any) -> None:
        self.arrays = {id(array): array for array in _arrays_among(values)}
        self.asked = device
        self.given = values
        first = next(iter(self.arrays.values()), None)
        self.device = as_device(device) if device is not None or first is None else first.device
        self._memory: dict[int, _Memory] = {}
        by_root: dict[int, list[DeviceArray]] = {}
        for array in self.arrays.values():
            by_root.setdefault(id(array.root), []).append(array)
        for key, arrays in by_root.items():
            self._memory[key] = _Memory(arrays[0].root, arrays)
        self._shown = {key: self._memory[id(array.root)].shown(array) for key, array in self.arrays.items()}

    def on_cpu(self, value: Any) -> Any:
        if isinstance(value, DeviceArray):
            return self._shown[id(value)]
        if value is self.asked and value is not None:
            return CPU
        if isinstance(value, (list, tuple)):
            return type(value)([self.on_cpu(each) for each in value])
        return value

    def write_back(self) -> None:
        for memory in self._memory.values():
            memory.write_back()

    def on_device(self, result: Any) -> Any:
        """A result on the device; what the kernel was given to write to is what it was."""
        if isinstance(result, (list, tuple)):
            return type(result)([self.on_device(each) for each in result])
        if not isinstance(result, (np.ndarray, np.generic)) or self.device.type == "cpu":
            return result
        for key, shown in self._shown.items():
            if shown is result:
                return self.arrays[key]
        if any(value is result for value in self.given):
            return result
        return array_from_host(np.asarray(result), self.device)


def array_from_host(array: np.ndarray, device: Device) -> Any:
    """A copy of an array of the CPU on a device, laid out in the same way."""
    content = bytes_of(array)
    root = makers[device.type](content.nbytes, device)
    root.copy_from(HostRoot(content))
    return root.array(array.shape, array.dtype, array.strides)


def _place_of_device(op: str) -> int | None:
    """Which argument of the kernel says on what device the result is to be."""
    names = [argument.name for argument in find_op(op).schema.arguments]
    return names.index("device") if "device" in names else None


def _end_of(array: DeviceArray) -> int:
    return array.byte_offset + extent_in_bytes(array.shape, array.strides, array.dtype.itemsize)


def _arrays_among(values: Sequence[Any]) -> list[DeviceArray]:
    found: list[DeviceArray] = []
    for value in values:
        if isinstance(value, DeviceArray):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _arrays_among(value)
    return found
