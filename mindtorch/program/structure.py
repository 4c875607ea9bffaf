"""The arguments of steps: Python values with references in the place of tensors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch._core.device import device
from mindtorch._core.dtype import PYTHON_TYPES, dtype
from mindtorch._core.layout import layout
from mindtorch._core.memory_format import memory_format
from mindtorch._core.tensor import Tensor, WrappedNumber


class ProgramError(RuntimeError):
    """A function that cannot be recorded, a file that is no program, or a step that fails."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of a program, by number."""

    number: int

    def __repr__(self) -> str:
        return f"%{self.number}"


# What a step can have as an argument, besides tensors and lists and tuples of all that.
CONSTANTS = (bool, int, float, complex, str, dtype, device, layout, memory_format, type(None))


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value whose leaves have been changed; every kind of tuple becomes a plain one. Keys are no tensors."""
    if isinstance(value, tuple):
        return tuple([mapped(item, change) for item in value])
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {mapped(key, as_constant): mapped(item, change) for key, item in value.items()}
    return change(value)


def leaves(value: Any) -> Iterator[Any]:
    """What is inside of lists, tuples and dictionaries."""
    if isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value


def tensors_in(value: Any) -> list[Tensor]:
    return [leaf for leaf in leaves(value) if isinstance(leaf, Tensor)]


def as_constant(value: Any) -> Any:
    """A value of an argument in plain form; raises TypeError for what a program cannot hold."""
    if type(value) is WrappedNumber:
        value = value._mt_array
    if isinstance(value, (np.number, np.bool_)):
        value = value.item()
    if isinstance(value, type) and value in PYTHON_TYPES:
        value = PYTHON_TYPES[value]
    if not isinstance(value, CONSTANTS):
        raise TypeError(f"a value of type {type(value).__name__} cannot be recorded")
    return value
