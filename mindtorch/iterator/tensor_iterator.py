"""`TensorIterator`: operands of one shape that are walked together, in the order of their memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from mindtorch import geometry
from mindtorch.backends.cpu.strided import over_buffer
from mindtorch.iterator import layout
from mindtorch.iterator.counter import DimCounter, Step
from mindtorch.iterator.memory import allocate, copy_to
from mindtorch.iterator.operand import Operand
from mindtorch.iterator.overlap import is_same_view
from mindtorch.iterator.shapes import Shape
from mindtorch.threads import get_num_threads, parallel_for

GRAIN_SIZE = 32768  # elements: fewer are not worth a thread
_LARGEST_INT32 = 2**31 - 1

Loop = Callable[..., Any]


class TensorIterator:
    """What `TensorIteratorConfig.build` makes.

    `shape` and all strides are in iteration order, the innermost dimension first; `perm` names the dimensions of the
    operands in that order, and is None where the fast set-up had no need to look at them. A loop is a function that
    takes one view per operand, outputs first, with the innermost dimension last, as NumPy is fastest with.
    """

    __slots__ = ("shape", "perm", "operands", "noutputs", "is_reduction", "common_dtype")

    def __init__(self, operands: list[Operand], shape: Shape = (), is_reduction: bool = False) -> None:
        self.operands = operands
        self.shape = shape
        self.is_reduction = is_reduction
        self.noutputs = sum(operand.is_output for operand in operands)
        self.perm: list[int] | None = None
        self.common_dtype: np.dtype | None = None

    # -------------------- what it looks like --------------------

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def outputs(self) -> list[Operand]:
        return self.operands[: self.noutputs]

    @property
    def inputs(self) -> list[Operand]:
        return self.operands[self.noutputs :]

    def strides(self, number: int) -> Shape:
        """The strides of an operand, in bytes."""
        return self.operands[number].strides

    def output(self, number: int = 0) -> Any:
        """The array that holds a result; after `cast_outputs`, if the caller's has another dtype."""
        return self.operands[number].array

    def is_dim_reduced(self, dim: int) -> bool:
        """Whether several elements along a dimension go into one element of an output."""
        return self.shape[dim] > 1 and any(output.strides[dim] == 0 for output in self.outputs)

    def can_coalesce(self, inner: int, outer: int) -> bool:
        """Whether two neighbouring dimensions are as good as one."""
        steps = [[operand.strides[dim] for operand in self.operands] for dim in (inner, outer)]
        return layout.can_coalesce(self.shape[inner], self.shape[outer], *steps)

    def coalesce_dimensions(self) -> None:
        """Makes neighbouring dimensions one wherever all operands allow it."""
        self.shape, merged = layout.coalesce(self.shape, [operand.strides for operand in self.operands])
        for operand, strides in zip(self.operands, merged, strict=True):
            operand.strides = strides

    # -------------------- the whole, in one call --------------------

    def views(self) -> list[np.ndarray]:
        """All operands as coalesced, permuted views of one shape."""
        return [operand.view(self.shape[::-1], operand.strides[::-1]) for operand in self.operands]

    def run(self, loop: Loop, grain_size: int = GRAIN_SIZE) -> None:
        """Calls the loop once with everything, or once per thread with a part of the outermost dimension."""
        if not self.numel:
            return
        views = self.views()
        if self.numel < grain_size or get_num_threads() == 1 or not self._is_divisible(views):
            loop(*views)
            return
        rows = self.shape[-1]
        fewest = -(-grain_size // (self.numel // rows))
        parallel_for(0, rows, fewest, lambda begin, end: loop(*[view[begin:end] for view in views]))

    def _is_divisible(self, views: list[np.ndarray]) -> bool:
        """Whether parts do not meet in an output. NumPy takes care of overlapping arrays, but only within one call."""
        if not self.ndim or self.is_dim_reduced(self.ndim - 1):
            return False
        outputs, inputs = views[: self.noutputs], views[self.noutputs :]
        return not any(
            np.may_share_memory(output, each) and not is_same_view(output, each)
            for output in outputs
            for each in inputs
        )

    def cast_outputs(self) -> None:
        """Writes outputs that were computed in the common dtype to the caller's arrays, which have another one."""
        for output in self.outputs:
            if output.original is None:
                continue
            target, output.original = output.original, None
            if target.shape != output.array.shape:
                strides = geometry.strides_of(output.array)
                target = allocate(target, output.array.shape, strides, target.dtype)
            copy_to(target, output.array)
            output.array = target

    # -------------------- in two-dimensional steps --------------------

    def for_each(self, loop: Loop, grain_size: int = GRAIN_SIZE) -> None:
        """Calls the loop with two-dimensional views until all elements were seen, in several threads if it pays."""
        if self.is_reduction or self.numel < grain_size or get_num_threads() == 1:
            self.serial_for_each(loop, 0, self.numel)
        else:
            parallel_for(0, self.numel, grain_size, lambda begin, end: self.serial_for_each(loop, begin, end))

    def serial_for_each(self, loop: Loop, begin: int, end: int) -> None:
        """Calls the loop with two-dimensional views of the elements `begin` to `end`, as large as can be."""
        walks = [(operand.array.dtype, *operand.buffer(), (*operand.strides, 0, 0)) for operand in self.operands]
        counter = DimCounter(self.shape or (1,), begin, end)
        while not counter.is_done():
            step = counter.max_2d_step()
            loop(*[_view_of_step(*walk, counter.values, step) for walk in walks])
            counter.increment(step)

    # -------------------- in parts --------------------

    def can_use_32bit_indexing(self, largest: int = _LARGEST_INT32) -> bool:
        """Whether every element, and every byte of every operand, has a number up to `largest`."""
        return self.numel <= largest and all(self._extent(operand) <= largest for operand in self.operands)

    def _extent(self, operand: Operand) -> int:
        return 1 + sum((size - 1) * abs(stride) for size, stride in zip(self.shape, operand.strides))

    def with_32bit_indexing(self, largest: int = _LARGEST_INT32) -> Iterator["TensorIterator"]:
        """Iterators over parts that 32-bit numbers are enough for, in order; together they are this one."""
        waiting = [self.copy()]
        while waiting:
            part = waiting.pop()
            while not part.can_use_32bit_indexing(largest):
                waiting.append(part)
                part = part.split(part.dim_to_split())
            yield part

    def dim_to_split(self) -> int:
        """The dimension along which some operand reaches farthest; of equal ones the outermost."""
        reach = [
            max(abs(operand.strides[dim]) for operand in self.operands) * (size - 1)
            for dim, size in enumerate(self.shape)
        ]
        return max(range(self.ndim), key=lambda dim: (reach[dim], dim))

    def split(self, dim: int) -> "TensorIterator":
        """Takes the first half of a dimension off: returns an iterator over it, and keeps the rest."""
        if not (0 <= dim < self.ndim and self.shape[dim] >= 2):
            raise ValueError(f"cannot split dimension {dim} of an iterator of shape {list(self.shape)}")
        first, size = self.copy(), self.shape[dim] // 2
        first.narrow(dim, 0, size)
        self.narrow(dim, size, self.shape[dim] - size)
        return first

    def narrow(self, dim: int, start: int, size: int) -> None:
        """Keeps only `size` elements of a dimension, from `start` on."""
        self.shape = (*self.shape[:dim], size, *self.shape[dim + 1 :])
        for operand in self.operands:
            operand.offset += start * operand.strides[dim]
        if size == 1 and not self.is_reduction:
            self.coalesce_dimensions()

    def copy(self) -> "TensorIterator":
        """An iterator over the same arrays that can be split and narrowed on its own."""
        other = TensorIterator([replace(operand) for operand in self.operands], self.shape, self.is_reduction)
        other.perm, other.common_dtype = self.perm, self.common_dtype
        return other


def _view_of_step(
    dtype: np.dtype, memory: np.ndarray, start: int, strides: Shape, values: list[int], step: Step
) -> np.ndarray:
    """What a step takes of an operand: rows of the innermost dimension."""
    start += sum(value * stride for value, stride in zip(values, strides))
    return over_buffer(memory, step[::-1], strides[1::-1], start, dtype)
