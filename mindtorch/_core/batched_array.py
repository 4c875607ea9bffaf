"""`BatchedArray`: the array of a tensor inside `vmap`, which looks like one sample and holds all of them.

Note [Levels]: every call of `vmap` makes a `Level`. An array is batched at a level if one dimension of the array inside
it, hidden from the outside, has the samples of that level. Nested calls nest arrays; the highest level, that of the
innermost call, is the outermost array. Levels are numbered in the order in which they are made, also those that have
ended: a graph that was recorded inside `vmap` keeps batched arrays, and runs backward after the call. The level of a
batch of gradients is beneath those of other calls: for PyTorch, such a graph has no samples, but arrays with one more
dimension, and each gradient of the batch has these dimensions in that order.

As long as a level is alive, `state.batch_levels` counts it and every call of an op is looked at
(`mindtorch/dispatch/modes/batching.py`), so that batched tensors and others can be mixed.
"""

import sys
from collections.abc import Iterable
from itertools import count
from math import prod
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from mindtorch._core import buffers, state
from mindtorch._core.device import CPU
from mindtorch._core.geometry import is_dense_in_order

_numbers = count(1)
_BENEATH = 2**62  # which puts levels of gradients beneath all others
_levels: "WeakValueDictionary[int, Level]" = WeakValueDictionary()


class Level:
    """One call of `vmap`: how many samples it has, how it wants random numbers, and whether it is a backward pass
    with a batch of gradients."""

    __slots__ = ("number", "depth", "size", "randomness", "has_gradients", "__weakref__")

    def __init__(self, depth: int, size: int, randomness: str, has_gradients: bool = False) -> None:
        """`depth`: the number that people see, 1 for the outermost call."""
        self.number = next(_numbers) - (_BENEATH if has_gradients else 0)
        self.depth = depth
        self.size = size
        self.randomness = randomness
        self.has_gradients = has_gradients
        _levels[self.number] = self
        state.count_batch_level(1)

    def __del__(self, count: Any = state.count_batch_level, is_finalizing: Any = sys.is_finalizing) -> None:
        if not is_finalizing():  # at the end of the program the modules may be empty already
            count(-1)


def level_numbered(number: int) -> Level:
    return _levels[number]


def is_level_alive(number: int) -> bool:
    """Whether there is anything left that is batched at a level."""
    return number in _levels


class BatchedShape(tuple):
    """The shape of a sample. It differs from an equal shape that is batched at other levels.

    The engine compares the shape of a gradient with that of the value that it belongs to: so it notices what it has to
    sum over a level, at no cost for others.
    """

    levels: tuple[Level, ...]  # those at which the array is batched; a graph keeps them by the shapes in its nodes

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and levels_of(other) == self.levels

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def levels_of(shape: Any) -> tuple[Level, ...]:
    """The levels at which the array of a shape is batched."""
    return shape.levels if type(shape) is BatchedShape else ()


def _sample_shape(shape: tuple, bdim: int, level: Level) -> BatchedShape:
    sample = BatchedShape(_without(shape, bdim))
    sample.levels = (*levels_of(shape), level)  # ascending, since the highest level is the outermost array
    return sample


def _without(values: tuple, place: int) -> tuple:
    return tuple(values[:place]) + tuple(values[place + 1 :])


class Flags:
    """NumPy's array flags for one sample of a batch."""

    __slots__ = ("c_contiguous", "f_contiguous")

    def __init__(self, c_contiguous: bool, f_contiguous: bool) -> None:
        self.c_contiguous = c_contiguous
        self.f_contiguous = f_contiguous


class BatchedArray:
    """All samples of a level in one array, of which dimension `bdim` counts them.

    Without a `bdim` it is an array that is the same for all samples, lifted to be found by the kernels of this class.
    """

    __slots__ = ("inner", "bdim", "level", "shape")

    def __init__(self, inner: Any, bdim: int | None, level: Level) -> None:
        self.inner = inner
        self.bdim = bdim
        self.level = level
        self.shape = inner.shape if bdim is None else _sample_shape(inner.shape, bdim, level)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        strides = self.inner.strides
        return strides if self.bdim is None else _without(strides, self.bdim)

    @property
    def dtype(self) -> Any:
        return self.inner.dtype

    @property
    def itemsize(self) -> int:
        return self.inner.dtype.itemsize

    @property
    def device(self) -> Any:
        return CPU if isinstance(self.inner, np.ndarray) else self.inner.device

    @property
    def byte_offset(self) -> int:
        return buffers.byte_offset_of(self.inner)

    @property
    def flags(self) -> Flags:
        dims = range(self.ndim)
        return Flags(self._is_dense(reversed(dims)), self._is_dense(dims))

    def _is_dense(self, order: Iterable[int]) -> bool:
        return not self.size or is_dense_in_order(self.shape, self.strides, order, self.itemsize)

    # -------------------- what a sample of many cannot do --------------------

    @property
    def root(self) -> NoReturn:
        raise NotImplementedError("Cannot access storage of BatchedTensorImpl")

    @property
    def address(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def item(self) -> NoReturn:
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
            "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere "
            "inside PyTorch internals, please file a bug report."
        )

    def tolist(self) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    def __repr__(self) -> str:
        return f"BatchedArray(shape={tuple(self.shape)}, dtype={self.dtype}, level={self.level.number})"
