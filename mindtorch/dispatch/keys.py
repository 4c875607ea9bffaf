"""Backends: a backend is known by the class of its arrays, and found by device and layout."""

from typing import Any

import numpy as np

from mindtorch import errors
from mindtorch.device import register_device_type
from mindtorch.layout import layout as Layout
from mindtorch.layout import strided


class Backend:
    """The name under which a backend's kernels are registered, its array class, and the key that traces print."""

    __slots__ = ("name", "array_class", "autograd_key")

    def __init__(self, name: str, array_class: type) -> None:
        self.name = name
        self.array_class = array_class
        self.autograd_key = "AutogradPrivateUse1" if name == "NPU" else f"Autograd{name}"


_by_name: dict[str, Backend] = {}
_by_class: dict[type, Backend] = {}
_array_classes: dict[tuple[str, Layout], type] = {}


def register_backend(name: str, array_class: type, device_type: str, layout: Layout = strided) -> Backend:
    """Make a backend and its device known. Its kernels then go in with `register_kernel(name, op, function)`."""
    register_device_type(device_type)
    backend = Backend(name, array_class)
    _array_classes[device_type, layout] = array_class
    _by_name[name] = backend
    _by_class[array_class] = backend
    return backend


def backend_named(name: str) -> Backend:
    if name not in _by_name:
        raise ValueError(f"unknown backend {name!r}; known: {', '.join(sorted(_by_name))}")
    return _by_name[name]


def backend_of(array_class: type) -> Backend | None:
    return _by_class.get(array_class)


def backend_for_device(device_type: str, layout: Layout = strided) -> type:
    """The array class for a device and layout; an error that names the missing device if there is none."""
    array_class = _array_classes.get((device_type, layout))
    if array_class is None:
        raise errors.device_unavailable(device_type)
    return array_class


def key_of(array: Any, autograd: bool) -> str:
    """The dispatch key of an array in a trace."""
    backend = _by_class.get(type(array)) or CPU
    return backend.autograd_key if autograd else backend.name


CPU = register_backend("CPU", np.ndarray, "cpu")
