"""`Operand`: an array, and how it is walked."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch._core.strided import over_buffer, storage_of
from mindtorch.iterator.shapes import Shape


@dataclass(slots=True)
class Operand:
    """An array with its strides in iteration order; they and `offset`, where the walk begins, are in bytes."""

    array: Any
    strides: Shape
    offset: int = 0

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
