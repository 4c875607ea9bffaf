"""`Operand`: an input or an output of an iterator, and how it is walked."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch.backends.cpu.strided import over_buffer, storage_of
from mindtorch.iterator.shapes import Shape
from mindtorch.promotion import number_dtype


@dataclass(slots=True)
class Operand:
    """An array with its strides in iteration order.

    `array` is None for an output that is not there yet. `original` is the caller's output while `array` is a temporary
    one of another dtype. `number` is the Python number that a 0-dim array stands for; its dtype counts for less than
    that of an array. `strides` and `offset`, where the walk begins, are in bytes.
    """

    array: Any
    is_output: bool = False
    dtype: np.dtype | None = None
    number: complex | None = None
    original: Any = None
    is_read_write: bool = False
    will_resize: bool = False
    strides: Shape = ()
    offset: int = 0

    @property
    def is_settled(self) -> bool:
        """Whether the array is there and stays as it is."""
        return self.array is not None and not self.will_resize

    @property
    def value(self) -> Any:
        """What dtype promotion looks at."""
        return self.array if self.number is None else self.number

    def buffer(self) -> tuple[Any, int]:
        """The C-contiguous memory around the array, and the byte in it at which the walk begins."""
        if not isinstance(self.array, np.ndarray):
            raise TypeError(f"only arrays on the CPU can be walked, got {type(self.array).__name__}")
        start = 0
        memory = self.array
        if not memory.flags.c_contiguous:
            memory, start = storage_of(memory)
        return memory, start + self.offset

    def view(self, shape: Shape, strides: Shape) -> np.ndarray:
        """The memory from where the walk begins, seen with this shape and these strides."""
        memory, start = self.buffer()
        return over_buffer(memory, shape, strides, start, self.array.dtype)


def operand_of(value: Any, is_output: bool = False) -> Operand:
    """The operand for an array, a Python number or, as an output that is to be made, None."""
    if isinstance(value, (bool, int, float, complex)):
        dtype = number_dtype(value)
        return Operand(np.asarray(value).astype(dtype), is_output, dtype, value)
    return Operand(value, is_output, None if value is None else value.dtype)
