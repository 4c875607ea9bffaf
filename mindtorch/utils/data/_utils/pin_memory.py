"""Batches in pinned memory, which there is only with an accelerator."""

from collections.abc import Mapping, Sequence
from typing import Any

from mindtorch.utils.data._utils.collate import rebuilt_mapping, rebuilt_sequence


def pin_memory(data: Any, device: Any = None) -> Any:
    """What has a method `pin_memory`, pinned by it, anywhere in a structure."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, Mapping):
        return rebuilt_mapping(data, {key: pin_memory(value, device) for key, value in data.items()})
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return type(data)(pin_memory(value, device) for value in data)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return rebuilt_sequence(data, [pin_memory(value, device) for value in data])
    return data
