"""Backends: a backend is known by the class of its arrays, and found by device and layout."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._core.buffers import makers, on_demand
from mindtorch._core.device import register_device_type
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import strided
from mindtorch._support import errors


class Backend:
    """The name under which a backend's kernels are registered, its array class, and the key that traces print.

    `around(kernel, op)`: what stands in the place of each kernel of the library's own.
    """

    __slots__ = ("name", "array_class", "autograd_key", "around")

    def __init__(self, name: str, array_class: type, around: Callable[[Callable, str], Callable] | None = None) -> None:
        self.name = name
        self.array_class = array_class
        self.around = around
        self.autograd_key = "AutogradPrivateUse1" if name == "NPU" else f"Autograd{name}"


_by_name: dict[str, Backend] = {}
_by_class: dict[type, Backend] = {}
_array_classes: dict[tuple[str, Layout], type] = {}
_waiting: dict[str, list[Callable[[], None]]] = {}
_of_device_arrays: list[Callable[[type], None]] = []


def register_backend(
    name: str,
    array_class: type,
    device_type: str,
    layout: Layout = strided,
    around: Callable[[Callable, str], Callable] | None = None,
) -> Backend:
    """Make a backend and its device known. Its kernels then go in with `register_kernel(name, op, function)`.

    Programs find the device last of all: other threads may ask for it meanwhile.
    """
    register_device_type(device_type)
    backend = register_array_class(name, array_class, around)
    if _has_memory(array_class):
        for action in _of_device_arrays:
            action(array_class)
    if hasattr(array_class, "new_root"):
        makers[device_type] = array_class.new_root
    _array_classes[device_type, layout] = array_class
    return backend


def register_array_class(
    name: str, array_class: type, around: Callable[[Callable, str], Callable] | None = None
) -> Backend:
    """Make a backend known that has kernels and no device of its own."""
    backend = Backend(name, array_class, around)
    _by_name[name] = backend
    _by_class[array_class] = backend
    for action in _waiting.get(name, ()):
        action()
    return backend


def when_registered(name: str, action: Callable[[], None]) -> None:
    """Run `action` as soon as there is a backend of this name, at once if there is one."""
    if name in _by_name:
        action()
    else:
        _waiting.setdefault(name, []).append(action)


def for_device_arrays(action: Callable[[type], None]) -> None:
    """Run `action` with each class of arrays that lie in the memory of a device, when it is registered."""
    _of_device_arrays.append(action)


def _has_memory(array_class: type) -> bool:
    return getattr(array_class, "in_device_memory", False)


def backend_named(name: str) -> Backend:
    if name not in _by_name:
        raise ValueError(f"unknown backend {name!r}; known: {', '.join(sorted(_by_name))}")
    return _by_name[name]


def backend_names() -> list[str]:
    return list(_by_name)


def device_types() -> list[tuple[str, type]]:
    """The devices that have a backend, each with its class of dense arrays."""
    return [(device, array_class) for (device, layout), array_class in _array_classes.items() if layout is strided]


def backend_of(array_class: type) -> Backend | None:
    return _by_class.get(array_class)


def backend_for_device(device_type: str, layout: Layout = strided) -> type:
    """The array class for a device and layout; an error that names the missing device if there is none."""
    array_class = _array_classes.get((device_type, layout))
    if array_class is None and device_type in on_demand:
        on_demand[device_type]()
        array_class = _array_classes.get((device_type, layout))
    if array_class is None:
        raise errors.device_unavailable(device_type)
    return array_class


def key_of_device(device_type: str) -> str:
    """The name of the backend of a device, or what it would be if there were one."""
    array_class = _array_classes.get((device_type, strided))
    return device_type.upper() if array_class is None else _by_class[array_class].name


def key_of(array: Any, autograd: bool) -> str:
    """The dispatch key of an array in a trace."""
    backend = _by_class.get(type(array)) or CPU
    return backend.autograd_key if autograd else backend.name


CPU = register_backend("CPU", np.ndarray, "cpu")
