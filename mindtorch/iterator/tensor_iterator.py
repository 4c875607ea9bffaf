"""`TensorIterator`: operands of one shape that are walked together, in the order of their memory."""

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.promotion import number_dtype
from mindtorch._core.strided import over_buffer
from mindtorch._core.threads import get_num_threads, parallel_for
from mindtorch.iterator import layout
from mindtorch.iterator.checks import device_name
from mindtorch.iterator.constants import constant
from mindtorch.iterator.counter import DimCounter, Step
from mindtorch.iterator.memory import converted, copy_to
from mindtorch.iterator.operand import Operand
from mindtorch.iterator.options import Options
from mindtorch.iterator.overlap import may_mix
from mindtorch.iterator.parts import BLOCK, parts_of
from mindtorch.iterator.plan import Plan
from mindtorch.iterator.shapes import Shape

GRAIN_SIZE = 32768  # elements: fewer are not worth a thread
_LARGEST_INT32 = 2**31 - 1

Loop = Callable[..., Any]


class TensorIterator:
    """What `TensorIteratorConfig.build` makes.

    `arrays` are the outputs, then the inputs. `shape` and all strides are in iteration order, the innermost dimension
    first; `perm` names the dimensions of the operands in that order, and is None where there was no need to look at
    them. A loop is a function that takes one array per operand, outputs first.
    """

    __slots__ = ("arrays", "noutputs", "plan", "options", "_walk", "_offsets")

    def __init__(self, arrays: list[Any], noutputs: int, plan: Plan, options: Options) -> None:
        self.arrays = arrays
        self.noutputs = noutputs
        self.plan = plan
        self.options = options
        self._walk: layout.Walk | None = None  # None until computed
        self._offsets: list[int] | None = None  # where the walk begins in each array, if not with the first element

    # -------------------- what it looks like --------------------

    @property
    def walk(self) -> layout.Walk:
        """The order, the shape and the strides in which the arrays are walked."""
        if self._walk is None:
            self._make_arrays_of_numbers()
            shape, arrays, options = self.plan.shape, self.arrays, self.options
            is_static = options.static_shape is not None
            operands = [(shape if is_static else array.shape, geometry.strides_of(array)) for array in arrays]
            sizes = [array.itemsize for array in arrays]
            self._walk = layout.walk(shape, operands, sizes, not is_static, options.is_reduction)
        return self._walk

    @property
    def shape(self) -> Shape:
        return self.walk.shape

    @property
    def perm(self) -> list[int] | None:
        return self.walk.perm

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def common_dtype(self) -> np.dtype | None:
        return self.plan.dtype

    @property
    def operands(self) -> list[Operand]:
        strides = self.walk.strides
        offsets = self._offsets or [0] * len(strides)
        return [Operand(*each) for each in zip(self.arrays, strides, offsets, strict=True)]

    def strides(self, number: int) -> Shape:
        """The strides of an operand, in bytes."""
        return self.walk.strides[number]

    def has_data(self) -> bool:
        """Whether there is anything to compute: there is not when a scalar on the CPU goes with a meta array."""
        return all(device_name(each) != "meta" for each in self.arrays[: self.noutputs])

    def output(self, number: int = 0) -> Any:
        """The array that holds a result."""
        return self.arrays[number]

    def is_dim_reduced(self, dim: int) -> bool:
        """Whether several elements along a dimension go into one element of an output."""
        return self.shape[dim] > 1 and any(own[dim] == 0 for own in self.walk.strides[: self.noutputs])

    def can_coalesce(self, inner: int, outer: int) -> bool:
        """Whether two neighbouring dimensions are as good as one."""
        steps = [[own[dim] for own in self.walk.strides] for dim in (inner, outer)]
        return layout.can_coalesce(self.shape[inner], self.shape[outer], *steps)

    def _make_arrays_of_numbers(self) -> None:
        for place, each in enumerate(self.arrays):
            if not hasattr(each, "ndim"):
                self.arrays[place] = constant(each, self.plan.dtype or number_dtype(each))

    # -------------------- the whole, in one call --------------------

    def views(self) -> list[np.ndarray]:
        """All operands as coalesced, permuted views of one shape, the innermost dimension last, as NumPy likes it."""
        shape = self.shape[::-1]
        return [operand.view(shape, operand.strides[::-1]) for operand in self.operands]

    def run(self, loop: Loop, grain_size: int = GRAIN_SIZE) -> None:
        """Calls the loop with everything, or once per thread with a part of the outermost dimension.

        Operands of another dtype than the common one are converted, as far as promotion and casting are switched on.
        The loop is called with a part that fits into the cache at a time then, so that copies are small.
        """
        self._make_arrays_of_numbers()
        if self._converts():
            self._run(self._converting(loop), BLOCK, grain_size)
        else:
            self._run(loop, None, grain_size)

    def apply(self, loop: Loop, largest: int | None = None) -> None:
        """As `run`, for loops that convert and broadcast on their own, `largest` elements at a time if that is given.

        Few elements are handed over as they are, and so is what goes to one thread in one call: NumPy sorts dimensions,
        too, and views would cost more than they save.
        """
        if self.plan.numel <= BLOCK or (largest is None and get_num_threads() == 1):
            loop(*self.arrays)
        else:
            self._run(loop, largest, GRAIN_SIZE)

    def _run(self, loop: Loop, largest: int | None, grain_size: int) -> None:
        views = self.views() if self.numel else []
        if not views:
            return
        if may_mix(views[: self.noutputs], views[self.noutputs :]):
            loop(*views)  # NumPy takes care of arrays that overlap, but only within one call
        elif self.numel < grain_size or get_num_threads() == 1 or not self._is_divisible():
            _run_part(loop, views, largest)
        else:
            rows = self.shape[-1]
            fewest = -(-grain_size // (self.numel // rows))
            parallel_for(
                0, rows, fewest, lambda begin, end: _run_part(loop, [view[begin:end] for view in views], largest)
            )

    def _is_divisible(self) -> bool:
        return bool(self.ndim) and not self.is_dim_reduced(self.ndim - 1)

    def _converts(self) -> bool:
        casts = self.options.cast_outputs and self.plan.dtype is not None
        outputs = self.arrays[: self.noutputs] if casts else ()
        return not self.plan.is_uniform or any(each.dtype != self.plan.dtype for each in outputs)

    def _converting(self, loop: Loop) -> Loop:
        """The loop, called with copies of the common dtype in the place of arrays of another one."""
        dtype, count = self.plan.dtype, self.noutputs

        def run(*views: np.ndarray) -> None:
            outputs = views[:count]
            if self.options.cast_outputs:
                outputs = tuple([each if each.dtype == dtype else np.empty(each.shape, dtype) for each in outputs])
            inputs = views[count:]
            if dtype is not None and self.options.promotion is not None:
                inputs = tuple([converted(each, dtype) for each in inputs])
            loop(*outputs, *inputs)
            for target, result in zip(views, outputs, strict=False):
                if target is not result:
                    copy_to(target, result)

        return run

    # -------------------- in two-dimensional steps --------------------

    def for_each(self, loop: Loop, grain_size: int = GRAIN_SIZE) -> None:
        """Calls the loop with two-dimensional views until all elements were seen, in several threads if it pays."""
        if self.options.is_reduction or self.numel < grain_size or get_num_threads() == 1:
            self.serial_for_each(loop, 0, self.numel)
        else:
            parallel_for(0, self.numel, grain_size, lambda begin, end: self.serial_for_each(loop, begin, end))

    def serial_for_each(self, loop: Loop, begin: int, end: int) -> None:
        """Calls the loop with two-dimensional views of the elements `begin` to `end`, as large as can be."""
        if self._converts():
            loop = self._converting(loop)
        walks = [(operand.array.dtype, *operand.buffer(), (*operand.strides, 0, 0)) for operand in self.operands]
        counter = DimCounter(self.shape or (1,), begin, end)
        while not counter.is_done():
            step = counter.max_2d_step()
            loop(*[_view_of_step(*walk, counter.values, step) for walk in walks])
            counter.increment(step)

    # -------------------- in parts --------------------

    def can_use_32bit_indexing(self, largest: int = _LARGEST_INT32) -> bool:
        """Whether every element, and every byte of every operand, has a number up to `largest`."""
        return self.numel <= largest and all(self._extent(strides) <= largest for strides in self.walk.strides)

    def _extent(self, strides: Shape) -> int:
        return 1 + sum((size - 1) * abs(stride) for size, stride in zip(self.shape, strides, strict=True))

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
            max(abs(strides[dim]) for strides in self.walk.strides) * (size - 1) for dim, size in enumerate(self.shape)
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
        perm, shape, strides = self.walk
        offsets = self._offsets or [0] * len(strides)
        self._offsets = [offset + start * own[dim] for offset, own in zip(offsets, strides, strict=True)]
        shape = (*shape[:dim], size, *shape[dim + 1 :])
        if size == 1 and not self.options.is_reduction:
            shape, strides = layout.coalesce(shape, strides)
        self._walk = layout.Walk(perm, shape, strides)

    def copy(self) -> "TensorIterator":
        """An iterator over the same arrays that can be split and narrowed on its own."""
        other = TensorIterator(self.arrays, self.noutputs, self.plan, self.options)
        other._walk, other._offsets = self.walk, self._offsets
        return other


def _run_part(loop: Loop, views: list[np.ndarray], largest: int | None) -> None:
    if largest is None:
        loop(*views)
        return
    for part in parts_of(views, largest):
        loop(*part)


def _view_of_step(
    dtype: np.dtype, memory: np.ndarray, start: int, strides: Shape, values: list[int], step: Step
) -> np.ndarray:
    """What a step takes of an operand: rows of the innermost dimension."""
    start += sum(value * stride for value, stride in zip(values, strides))
    return over_buffer(memory, step[::-1], strides[1::-1], start, dtype)
