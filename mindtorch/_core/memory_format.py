"""The memory formats: in which order the dimensions of a dense tensor lie in memory."""

from typing import Any

from mindtorch._core.named_constant import NamedConstant
from mindtorch._support import errors


class memory_format(NamedConstant):
    """An order of dimensions in memory. The objects are constants; compare with `is`."""

    __module__ = "mindtorch"

    torch_name = "torch.memory_format"
    __slots__ = ()


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def checked_format(value: Any, function: str) -> memory_format:
    """The memory format that was given to a function, or torch's error for what is none."""
    if isinstance(value, memory_format):
        return value
    raise errors.argument_type(function, "memory_format", None, "torch.memory_format", value)
