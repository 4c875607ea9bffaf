"""The CPU's kernel in the place of one that a device does not have: arguments are copied there, and results back."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.buffers import HostRoot, bytes_of, makers
from mindtorch._core.device import CPU, as_device
from mindtorch._core.device import device as Device
from mindtorch._core.generator import cpu_generator
from mindtorch.backends.device_array import DeviceArray, extent_in_bytes
from mindtorch.dispatch.keys import backend_of
from mindtorch.dispatch.registry import find_op, kernel_table
from mindtorch.dispatch.same_device import check_devices


def cpu_kernel_for(op: str, is_trial: bool = False) -> Callable:
    """A kernel of an op for the arrays of any device.

    `is_trial`: it is only asked whether it would refuse; all arrays are zeros, and nothing is written.
    """
    memory_of = _Zeros if is_trial else _Memory
    table = kernel_table(op)
    entry = find_op(op)
    assert entry is not None  # there is a kernel
    names = [argument.name for argument in entry.schema.arguments]
    device_at, generator_at = _place_in(names, "device"), _place_in(names, "generator")

    def kernel(*args: Any, out: Any = None) -> Any:
        if len(args) > len(names):
            args, out = args[:-1], args[-1]
        check_devices(entry, args, out)
        call = _Call([*args, out], None if device_at is None else args[device_at], memory_of)
        on_cpu = [call.on_cpu(value) for value in args]
        if generator_at is not None:
            on_cpu[generator_at] = cpu_generator(args[generator_at], call.device)
        result = table[np.ndarray](*on_cpu, **({} if out is None else {"out": call.on_cpu(out)}))
        if is_trial:
            return None
        call.write_back([out, *(args[place] for place in entry.writes)])
        return call.on_device(result)

    return kernel


def _place_in(names: list[str], name: str) -> int | None:
    return names.index(name) if name in names else None


class _Memory:
    """What the arrays of one root show of it, on the CPU: arrays that overlap there overlap here."""

    def __init__(self, root: Any, arrays: Sequence[DeviceArray]) -> None:
        self.root = root
        self.start = min(array.byte_offset for array in arrays)
        self.content = self._read(max(map(_end_of, arrays)) - self.start)

    def _read(self, nbytes: int) -> np.ndarray:
        return self.root.to_host(self.start, nbytes)

    def shown(self, array: DeviceArray) -> np.ndarray:
        return np.ndarray(array.shape, array.dtype, self.content, array.byte_offset - self.start, array.strides)

    def write_back(self, array: DeviceArray) -> None:
        """Copy what an array shows. (What lies between its elements is what it was.)"""
        first, end = array.byte_offset, _end_of(array)
        if end > first:
            self.root.write(first, self.content[first - self.start : end - self.start])


class _Zeros(_Memory):
    """The same places, with zeros in them."""

    def _read(self, nbytes: int) -> np.ndarray:
        return np.zeros(nbytes, np.uint8)


class _Call:
    """One call: its device, and its arrays, on the device and on the CPU."""

    def __init__(self, values: Sequence[Any], device: Any, memory_of: type[_Memory] = _Memory) -> None:
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
            self._memory[key] = memory_of(arrays[0].root, arrays)
        self._shown = {key: self._memory[id(array.root)].shown(array) for key, array in self.arrays.items()}

    def on_cpu(self, value: Any) -> Any:
        if isinstance(value, DeviceArray):
            return self._shown[id(value)]
        if value is self.asked and value is not None:
            return CPU
        if isinstance(value, (list, tuple)):
            return type(value)([self.on_cpu(each) for each in value])
        return value

    def write_back(self, written: Iterable[Any]) -> None:
        """Copy what the kernel may have written."""
        for array in _arrays_among(written):
            self._memory[id(array.root)].write_back(array)

    def on_device(self, result: Any) -> Any:
        """A result on the device; what the kernel was given to write to is what it was."""
        if isinstance(result, (list, tuple)):
            return type(result)([self.on_device(each) for each in result])
        if not isinstance(result, (np.ndarray, np.generic)) or self.device.type == "cpu":
            return self._checked(result)
        for key, shown in self._shown.items():
            if shown is result:
                return self.arrays[key]
        if any(value is result for value in self.given):
            return result
        return array_from_host(np.asarray(result), self.device)

    def _checked(self, result: Any) -> Any:
        """A result that is no array of numbers. A sparse one would be on the CPU."""
        if self.device.type != "cpu" and backend_of(type(result)) is not None:
            raise NotImplementedError(f"sparse tensors are on the CPU only: move the input there from {self.device}")
        return result


def array_from_host(array: np.ndarray, device: Device) -> Any:
    """A copy of an array of the CPU on a device, laid out in the same way."""
    content = bytes_of(array)
    root = makers[device.type](content.nbytes, device)
    root.copy_from(HostRoot(content))
    return root.array(array.shape, array.dtype, array.strides)


def _end_of(array: DeviceArray) -> int:
    return array.byte_offset + extent_in_bytes(array.shape, array.strides, array.dtype.itemsize)


def _arrays_among(values: Iterable[Any]) -> list[DeviceArray]:
    found: list[DeviceArray] = []
    for value in values:
        if isinstance(value, DeviceArray):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _arrays_among(value)
    return found
