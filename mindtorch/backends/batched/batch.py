"""A call of a kernel with batched arrays: taken down by one level, and its result put up again.

A rule is a function `rule(batch, *args)` with the arguments of the op's kernel. Arrays that are batched at the level of
`batch` come as `BatchedArray`s, which tell the shape of a sample; all others are the same for every sample. It returns
the array of the result, or several, with the samples along the first dimension; or a `BatchedArray` of that level.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch._core.batched_array import BatchedArray, Level
from mindtorch._core.memory_format import contiguous_format
from mindtorch._support import vmap_errors as errors
from mindtorch._support.op_names import base_of
from mindtorch.backends.batched.gradients import AT_ONCE
from mindtorch.dispatch.registry import kernel_table
from mindtorch.iterator import check_apart, check_overlap, may_share
from mindtorch.iterator.checks import check_result_dtype

Rule = Callable[..., Any]
Kernel = Callable[..., Any]


def is_array(value: Any) -> bool:
    return hasattr(value, "ndim")


def arrays_in(values: Iterable[Any]) -> Iterator[Any]:
    """The arrays among arguments and in lists among them."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from arrays_in(value)
        elif is_array(value):
            yield value


def run(op: str, *args: Any, **kwargs: Any) -> Any:
    """Call the kernel of an op for whatever arrays these are: batched at lower levels, or not at all."""
    arrays = list(arrays_in(args))
    if any(type(array) is BatchedArray for array in arrays):
        kind = BatchedArray
    else:
        kind = type(args[0] if not isinstance(args[0], (list, tuple)) else arrays[0])
    return kernel_table(op)[kind](*args, **kwargs)


def memory_class(array: Any) -> type:
    """The class of the array that the samples of all levels are in."""
    while type(array) is BatchedArray:
        array = array.inner
    return type(array)


class Batch:
    """The samples of one level: how rules see the arrays of a call. `writes`: whether it is an op in place."""

    __slots__ = ("level", "size", "writes")

    def __init__(self, level: Level, writes: bool = False) -> None:
        self.level = level
        self.size = level.size
        self.writes = writes

    def has(self, value: Any) -> bool:
        """Whether a value is an array that is batched at this level."""
        return type(value) is BatchedArray and value.level is self.level and value.bdim is not None

    def front(self, array: BatchedArray) -> Any:
        """The samples of a batched array along its first dimension."""
        inner, bdim = array.inner, array.bdim
        if not bdim:
            return inner
        return run("permute", inner, (bdim, *(dim for dim in range(inner.ndim) if dim != bdim)))

    def filled(self, array: Any) -> Any:
        """The samples along the first dimension, those of an array that is not batched repeated."""
        if self.has(array):
            return self.front(array)
        return run("expand", array, (self.size, *array.shape), False)

    def ranked(self, array: Any, ndim: int) -> Any:
        """The samples with as many dimensions as asked for, so that they broadcast as one sample would."""
        if not self.has(array):
            return array
        front = self.front(array)
        if array.ndim == ndim:
            return front
        return run("view", front, (self.size, *(1,) * (ndim - array.ndim), *array.shape))

    def sample(self, array: Any, number: int) -> Any:
        """One of the samples, or the array that is the same for all."""
        return run("select.int", self.front(array), 0, number) if self.has(array) else array

    def each(self, function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
        """The values with a function applied to all arrays, also those in lists."""
        return [
            (
                self.each(function, value)
                if isinstance(value, (list, tuple))
                else function(value) if is_array(value) else value
            )
            for value in values
        ]

    def wrapped(self, result: Any) -> Any:
        """What a rule returned, as batched arrays."""
        if isinstance(result, (list, tuple)):
            return type(result)([self.wrapped(each) for each in result])
        return result if self.has(result) or not is_array(result) else BatchedArray(result, 0, self.level)

    def in_rows(self, result: Any) -> Any:
        """Results as they lie in memory where those of all samples were stacked."""
        if isinstance(result, (list, tuple)):
            return type(result)([self.in_rows(each) for each in result])
        if not self.has(result):
            return result
        samples = self.front(result)
        return self.wrapped(samples if samples.flags.c_contiguous else run("clone", samples, contiguous_format))


def batched(op: str, rule: Rule, writer: Rule | None = None) -> Kernel:
    """The kernel of an op for batched arrays. Written to `out`, which is one of the arguments (in-place ops).

    `writer(batch, *args)` returns the arguments with which the op's own kernel writes all samples at once, making the
    checks of an op in place; or None, if it writes one sample after the other.
    """

    def kernel(*args: Any, out: Any = None) -> Any:
        level = highest_level(args if out is None else (*args, out))
        args = without_lifts(args)
        if level is None:
            return run(op, *args) if out is None else run(op, *args, out=out.inner)
        batch = Batch(level, out is not None)
        if out is None:
            result = batch.wrapped(rule(batch, *args))
            return batch.in_rows(result) if level.has_gradients and op not in AT_ONCE else result
        if not batch.has(out):
            raise errors.inplace_on_unbatched(op, level.depth)
        if writer is not None:
            return _written_by_kernel(op, batch, writer(batch, *args), args, out)
        if is_read(out, args) and not _is_checked(op, out, args):
            return _written_one_by_one(op, batch, args, out)
        samples = rule(batch, *args)
        check_result_dtype(samples.dtype, out.dtype)
        return write(batch, out, samples)

    return kernel


def highest_level(values: Iterable[Any]) -> Level | None:
    """The level of the innermost `vmap` at which one of the arguments is batched."""
    levels = [array.level for array in arrays_in(values) if type(array) is BatchedArray and array.bdim is not None]
    return max(levels, key=lambda level: level.number, default=None)


def without_lifts(values: Any) -> Any:
    """The arguments with lifted arrays as they were before."""
    plain = [
        (
            without_lifts(value)
            if isinstance(value, (list, tuple))
            else value.inner if type(value) is BatchedArray and value.bdim is None else value
        )
        for value in values
    ]
    return plain if isinstance(values, list) else tuple(plain)


def is_read(out: BatchedArray, args: Sequence[Any]) -> bool:
    """Whether another argument lies in memory that is written."""
    target = _memory(out)
    others = [_memory(each) for each in arrays_in(args) if each is not out]
    return isinstance(target, np.ndarray) and may_share(target, others)


def _memory(array: Any) -> Any:
    """The array with the samples of all levels along its first dimensions, those of the lowest level first."""
    if type(array) is not BatchedArray:
        return array
    memory = _memory(array.inner)
    if array.bdim is None or not isinstance(memory, np.ndarray):
        return memory
    first = memory.ndim - array.inner.ndim
    return np.moveaxis(memory, first + array.bdim, first)


def _is_checked(op: str, out: BatchedArray, args: Sequence[Any]) -> bool:
    """Refuse to write what another argument reads, if torch writes all samples at once; tell whether it does."""
    check = _CHECKS.get(f"{base_of(op).rstrip('_')}_")
    if check is not None:
        check(_memory(out), [_memory(each) for each in arrays_in(args) if each is not out])
    return check is not None


def _check_filled(out: np.ndarray, values: Sequence[np.ndarray]) -> None:
    """The values of samples that have one element each may be these elements."""
    check_overlap(out.squeeze(), [each.squeeze() for each in values])


_CHECKS = dict.fromkeys(errors.WITH_RULE, check_apart) | {"fill_": _check_filled, "masked_fill_": check_overlap}


def _written_by_kernel(
    op: str, batch: Batch, all_samples: Sequence[Any] | None, args: Sequence[Any], out: BatchedArray
) -> BatchedArray:
    if all_samples is None:
        _is_checked(op, out, args)
        return _written_one_by_one(op, batch, args, out)
    place = next(number for number, each in enumerate(args) if each is out)
    run(op, *all_samples, out=all_samples[place])
    return out


def _written_one_by_one(op: str, batch: Batch, args: Sequence[Any], out: BatchedArray) -> BatchedArray:
    """What is written to a sample is read by those after it, as in a loop."""
    for number in range(batch.size):
        _write_sample(op, batch, args, out, number)
    return out


def _write_sample(op: str, batch: Batch, args: Sequence[Any], out: BatchedArray, number: int) -> None:
    target = batch.sample(out, number)
    run(op, *batch.each(lambda each: target if each is out else batch.sample(each, number), args), out=target)


def write(batch: Batch, target: BatchedArray, samples: Any) -> BatchedArray:
    """Write the result of a rule into a batched array."""
    run("copy_", batch.front(target), batch.front(samples) if batch.has(samples) else samples, False)
    return target
