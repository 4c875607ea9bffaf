"""Ops that work along dimensions: all of them move up by one, to make room for the samples."""

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

from mindtorch._core import geometry
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.memory_format import contiguous_format, memory_format, preserve_format
from mindtorch._support.errors import dim_out_of_range
from mindtorch.backends.batched.batch import Batch, Kernel, batched, is_array, is_read, run
from mindtorch.dispatch.registry import find_op


@cache
def dim_places(op: str) -> tuple[int, ...]:
    """Which arguments of an op are dimensions."""
    arguments = find_op(op).schema.arguments  # type: ignore[union-attr]
    return tuple([place for place, argument in enumerate(arguments) if argument.is_dim])


def shifted_dims(dims: Any, ndim: int) -> Any:
    """Dimensions of a sample, as those of the batch."""
    if dims is None:
        return None
    if isinstance(dims, (list, tuple)):
        return tuple([geometry.wrap_dim(dim, ndim) + 1 for dim in dims])
    return geometry.wrap_dim(dims, ndim) + 1


def shifted(op: str, args: Sequence[Any], ndim: int) -> list[Any]:
    """The arguments of a call with the dimensions moved up."""
    shifted = list(args)
    for place in dim_places(op):
        if place < len(args):
            shifted[place] = shifted_dims(args[place], ndim)
    return shifted


def along_dims(extra: int = 0) -> Callable[[str, str | None], Kernel]:
    """The rule for ops whose arrays have one shape, but for the dimensions that they work along.

    `extra`: how many more dimensions than the arrays have the op's dimensions may name.
    """

    def make(op: str, promotion: str | None) -> Kernel:
        def rule(batch: Batch, input: Any, *options: Any) -> Any:
            args = shifted(op, (input, *options), input.ndim + extra)
            if input.ndim or extra:
                return run(op, *batch.each(batch.filled, args))
            return _without_dim(batch, run(op, *batch.each(_with_dim(batch), args)))

        def in_rows(batch: Batch, input: Any, *options: Any) -> list[Any] | None:
            if not (input.ndim or extra) or is_read(input, (input, *options)):
                return None
            return batch.each(batch.filled, shifted(op, (input, *options), input.ndim + extra))

        return batched(op, rule, in_rows)

    return make


def _with_dim(batch: Batch) -> Callable[[Any], Any]:
    """Samples without dimensions get one."""
    return lambda array: array_of_shape(batch.filled(array), (batch.size, *(array.shape or (1,))))


def _without_dim(batch: Batch, result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)([_without_dim(batch, each) for each in result])
    return array_of_shape(result, (batch.size,))


def array_of_shape(array: Any, shape: Sequence[int]) -> Any:
    """An array in another shape: a view where that is possible."""
    if tuple(array.shape) == tuple(shape):
        return array
    try:
        return run("view", array, tuple(shape))
    except RuntimeError:  # the strides allow no view
        return run("view", run("clone", array, contiguous_format), tuple(shape))


same = sort = topk = fft_c2c = fft_r2c = fft_c2r = along_dims()
diag_embed = along_dims(extra=1)


def triangle(op: str, promotion: str) -> Kernel:
    """Matrices of samples. PyTorch looks at one sample where it writes, and else lets a batch of rows be a matrix."""

    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        if not input.ndim:
            raise RuntimeError(f"{op}: The input tensor must have at least 2 dimensions.")
        return run(op, batch.front(input), *options)

    def matrices(batch: Batch, input: Any, *options: Any) -> list[Any] | None:
        return None if input.ndim < 2 else [batch.front(input), *options]

    return batched(op, rule, matrices)


def repeated(op: str, promotion: str) -> Kernel:
    """`repeat` may give a sample more dimensions."""

    def rule(batch: Batch, input: Any, repeats: Sequence[int]) -> Any:
        return run(op, batch.ranked(input, max(len(repeats), input.ndim)), (1, *repeats))

    return batched(op, rule)


repeat = repeated


def like(op: str, promotion: str | None) -> Kernel:
    """Results like the first argument. The formats that name channels are for one sample: there is none for many."""
    along = along_dims()(op, promotion)

    def kernel(*args: Any, out: Any = None) -> Any:
        return along(*_without_channels(args), out=out)

    return kernel


def alike(op: str, promotion: str | None) -> Kernel:
    """Like `like`, of ops with no other tensors: the samples stay where they are."""

    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        return _where_they_are(op, batch, input, options)

    return batched(op, rule)


def clone(op: str, promotion: None) -> Kernel:
    """A copy that is to have rows has those of one sample after the other."""

    def rule(batch: Batch, input: Any, format: memory_format) -> Any:
        if format is contiguous_format:
            return run(op, batch.front(input), format)
        return _where_they_are(op, batch, input, (format,))

    return batched(op, rule)


def _where_they_are(op: str, batch: Batch, input: BatchedArray, options: Sequence[Any]) -> BatchedArray:
    return BatchedArray(run(op, input.inner, *_without_channels(options)), input.bdim, batch.level)


def _without_channels(args: Sequence[Any]) -> list[Any]:
    return [
        preserve_format if isinstance(each, memory_format) and each is not contiguous_format else each for each in args
    ]


def copied(op: str, promotion: str | None) -> Kernel:
    """Copies in which a part is replaced: rows, with the samples first."""
    along = along_dims()(op, promotion)

    def kernel(*args: Any, out: Any = None) -> Any:
        result = along(*args, out=out)
        return result if out is not None else run("clone", result, contiguous_format)

    return kernel


def constant_pad(op: str, promotion: str) -> Kernel:
    """The widths begin with the last dimension, which the samples leave alone."""

    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        return run(op, batch.front(input), *options)

    return batched(op, rule)


def flip(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, input: Any, dims: Sequence[int]) -> Any:
        _refuse_dims_of_none(batch, input, dims)
        return run(op, batch.front(input), shifted_dims(dims if input.ndim else (), input.ndim))

    return batched(op, rule)


def _refuse_dims_of_none(batch: Batch, input: Any, dims: Sequence[int]) -> None:
    """Dimensions 0 and -1 of a sample without any are those of the samples to torch, where it does not ask; the
    gradients of a batch are samples for which it calls the op one after the other."""
    if dims and not input.ndim and not batch.level.has_gradients:
        raise dim_out_of_range(1, 1)


def roll(op: str, promotion: str) -> Kernel:
    """Without dimensions all elements of a sample roll as one row."""

    def rule(batch: Batch, input: Any, shifts: Any, dims: Any = ()) -> Any:
        samples = batch.front(input)
        _refuse_dims_of_none(batch, input, dims)
        if dims and input.ndim:
            return run(op, samples, shifts, shifted_dims(dims, input.ndim))
        row = array_of_shape(samples, (batch.size, prod(input.shape)))
        return array_of_shape(run(op, row, shifts, (1,)), samples.shape)

    return batched(op, rule)


# -------------------- reductions --------------------


def reduce(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        places = dim_places(op)
        if not places:
            return _reduce_all(batch, op, input, options)
        dim = options[places[0] - 1]
        if dim is None and not _takes_several(op):
            return _find_in_all(batch, op, input, *options)
        if dim is None or dim == () or dim == []:
            options = (*options[: places[0] - 1], tuple(range(input.ndim or 1)), *options[places[0] :])
        return along(op, batch, input, options)

    return batched(op, rule)


def along(op: str, batch: Batch, input: Any, options: Sequence[Any]) -> Any:
    samples = batch.front(input)
    args = shifted(op, (input, *options), input.ndim)[1:]
    if input.ndim:
        return run(op, samples, *args)
    return _without_dim(batch, run(op, array_of_shape(samples, (batch.size, 1)), *args))


@cache
def _takes_several(op: str) -> bool:
    return find_op(op).schema.arguments[dim_places(op)[0]].is_list  # type: ignore[union-attr]


@cache
def _along_one(op: str) -> str:
    """The overload that reduces along dimensions: `sum.dim_IntList` for `sum`."""
    first = find_op(op)
    assert first is not None
    return next(entry.name for entry in first.overloads if not entry.composite and dim_places(entry.name))


def _reduce_all(batch: Batch, op: str, input: Any, options: Sequence[Any]) -> Any:
    sibling = _along_one(op)
    dim = (1,) if _takes_several(sibling) else 1
    result = run(sibling, _rows(batch, input), dim, False, *options)
    return result if is_array(result) else result[0]


def _find_in_all(batch: Batch, op: str, input: Any, dim: None, keepdim: bool = False) -> Any:
    """`argmax` of all elements: their number in one row."""
    result = run(op, _rows(batch, input), 1, False)
    return array_of_shape(result, (batch.size, *(1,) * input.ndim)) if keepdim else result


def _rows(batch: Batch, input: Any) -> Any:
    """Each sample as one row."""
    return array_of_shape(batch.front(input), (batch.size, prod(input.shape)))
