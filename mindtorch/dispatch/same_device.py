"""Arrays of a call that are on several devices: which ops take them, and torch's errors of the others."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch._core.device import CPU
from mindtorch._core.device import device as Device
from mindtorch._support.lazy import lazy
from mindtorch._support.op_names import base_of

_schemas: Any = lazy("mindtorch.dispatch.schema.function_schema")


@dataclass(frozen=True, slots=True)
class _Given:
    """An array of a call: the argument, what torch calls it, and whether it may be on the CPU."""

    name: str
    array: Any
    is_free: bool
    is_listed: bool

    @property
    def device(self) -> Device:
        return CPU if isinstance(self.array, np.ndarray) else self.array.device


def check_devices(entry: Any, args: Sequence[Any], out: Any = None) -> None:
    """Refuse arrays on several devices, unless the op takes them (`other_devices` in ops.yaml)."""
    given = list(_arrays(entry, args, out))
    bound = [each for each in given if not each.is_free]
    if not bound:
        return
    first = bound[0].device
    for each in given:
        if each.device != first and not (each.is_free and each.device == CPU):
            raise RuntimeError(_text(entry, given, each, first, _method(entry, args, out)))


def _arrays(entry: Any, args: Sequence[Any], out: Any) -> Iterator[_Given]:
    """What has to be on one device, and how torch calls it: results first, as torch looks at them."""
    for each in _arrays_in(out):
        yield _Given("out", each, False, False)
    for place, value in enumerate(args):
        for each in _arrays_in(value):
            if not (entry.elementwise and each.ndim == 0 and isinstance(each, np.ndarray)):
                is_listed = isinstance(value, (list, tuple))
                yield _Given(_name_of(entry, place), each, place in entry.other_devices, is_listed)


def _arrays_in(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _arrays_in(each)
    elif isinstance(value, np.ndarray) or getattr(value, "in_device_memory", False):
        yield value


def _name_of(entry: Any, place: int) -> str:
    arguments = _schemas.parse_schema(entry.schema_text).arguments
    name = arguments[place].name if place < len(arguments) else "out"  # which kernels are given in the last place, too
    return "self" if name == "input" and " self" in entry.schema_text else name


def _text(entry: Any, given: Iterable[_Given], wrong: _Given, first: Device, method: str) -> str:
    if entry.elementwise:
        return at_least_two(each.array for each in given)
    if wrong.is_free and wrong.is_listed:
        return f"{wrong.name} should be either on cpu or on the same device as the indexed tensor ({first})"
    return (
        f"Expected all tensors to be on the same device, but got {wrong.name} is on {wrong.device}, different from "
        f"other tensors on {first} (when checking argument in method {method})"
    )


def at_least_two(arrays: Iterable[Any]) -> str:
    """What torch says of pointwise ops, and where no argument is to be named: the CPU comes last."""
    devices = dict.fromkeys(CPU if isinstance(each, np.ndarray) else each.device for each in arrays)
    one, other, *_ = sorted(devices, key=CPU.__eq__)
    return f"Expected all tensors to be on the same device, but found at least two devices, {one} and {other}!"


def _method(entry: Any, args: Sequence[Any], out: Any) -> str:
    """What torch_npu calls the function behind an op: backend, overload and name."""
    overload, base = entry.name.partition(".")[2], base_of(entry.name)
    if out is not None and args and out is args[0]:
        base += "_"
    elif out is not None:
        overload = f"{overload}_out" if overload else "out"
    return f"wrapper_NPU_{overload}_{base}"
