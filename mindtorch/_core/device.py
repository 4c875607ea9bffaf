"""Devices: parsing, printing and the default device."""

import re
from collections.abc import Callable
from typing import Any

from mindtorch._core import state
from mindtorch._support import errors

DEVICE_TYPES = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia privateuseone"
).split()
# The types that torch does not know by name (torch calls them privateuseone), and those of out-of-tree backends.
_extra_device_types = {"npu"}

# How many devices there are of a type that can be the accelerator: what backends register.
accelerators: dict[str, Callable[[], int]] = {}

# What the name of a type of device means instead, for programs that were written for another one.
renamed: dict[str, str] = {}

_DEVICE_STRING = re.compile(r"([a-z_]+)(?::(0|[1-9]\d*))?")


class device:
    """Where a tensor's data lies, for example `device("cpu")` or `device("npu", 0)`."""

    __module__ = "mindtorch"

    torch_name = "torch.device"
    __slots__ = ("type", "index")

    type: str
    index: int  # None without a number; type checkers are told what they are told of torch

    def __init__(self, type: Any = None, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int) and not isinstance(type, bool):
            type, index = accelerator(), _checked_index(type)
            if type is None:
                raise errors.no_accelerator()
        elif not isinstance(type, str):
            raise _bad_device(type)
        else:
            type, index = _parse(type, index)
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple:
        return (device, (self.type,) if self.index is None else (self.type, self.index))

    def __enter__(self) -> "device":
        _default_devices().append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _default_devices().pop()


def register_device_type(name: str) -> None:
    """Let `device(name)` exist; the backend that serves it does this when it registers."""
    _extra_device_types.add(name)


def accelerator() -> str | None:
    """The type of devices that programs mean when they give a number only, if there is one."""
    return next((name for name, count in accelerators.items() if count()), None)


def _parse(text: str, index: int | None) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    found = _DEVICE_STRING.fullmatch(text)
    if found is None and (":" in text or not text.isalpha()):
        raise RuntimeError(f"Invalid device string: '{text}'")
    kind, text_index = found.groups() if found else (text, None)
    kind = renamed.get(kind, kind)
    if kind not in DEVICE_TYPES and kind not in _extra_device_types:
        raise RuntimeError(f"Expected one of {', '.join(DEVICE_TYPES)} device type at start of device string: {kind}")
    if index is None:
        return kind, None if text_index is None else int(text_index)
    if text_index is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
    return kind, _checked_index(index)


def _checked_index(index: Any) -> int:
    if not isinstance(index, int):
        raise errors.argument_type("device", "index", 2, "int", index)
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return index


def _bad_device(value: Any) -> TypeError:
    name = errors.type_name(value)
    return TypeError(
        f"device() received an invalid combination of arguments - got ({name}), but expected one of:\n"
        " * (torch.device device)\n"
        f"      didn't match because some of the arguments have invalid types: (!{name}!)\n"
        " * (str type, int index = -1)\n"
    )


CPU = device("cpu")
META = device("meta")


def as_device(value: "device | str | int | None") -> device:
    """The device that a `device=` argument means; None means the default device."""
    if value is None:
        return get_default_device()
    return value if isinstance(value, device) else device(value)


def get_default_device() -> device:
    """Where factory functions make tensors when they are not told."""
    stack = state.thread.default_devices
    return stack[-1] if stack else CPU


def set_default_device(value: "device | str | None") -> None:
    """Make factory functions use `value`; None goes back to the CPU."""
    stack = _default_devices()
    stack[:1] = [CPU if value is None else device(value)]


def _default_devices() -> list[device]:
    """This thread's stack of default devices: the one that was set, then those of open `with device(...)` blocks."""
    thread = state.thread
    if thread.default_devices is None:
        thread.default_devices = [CPU]
    return thread.default_devices
