"""Views of samples are views of the batch."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core import buffers, geometry
from mindtorch._core.batched_array import BatchedArray, level_numbered
from mindtorch._core.memory_format import contiguous_format
from mindtorch._support import vmap_errors as errors
from mindtorch._support.errors import dim_out_of_range
from mindtorch.backends.batched.batch import Batch, Kernel, batched, run
from mindtorch.backends.batched.dims import array_of_shape, shifted, shifted_dims

Ints = Sequence[int]


def view(op: str, promotion: None) -> Kernel:
    """Views along dimensions, and those that keep the shape."""

    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        if not input.ndim and options:
            return _of_one_element(op, batch, input, options)
        return run(op, *shifted(op, (batch.front(input), *options), input.ndim))

    return batched(op, rule)


def _of_one_element(op: str, batch: Batch, input: Any, options: Sequence[Any]) -> Any:
    """Samples without dimensions, which the dimensions 0 and -1 name all the same, if there is something to do with
    them."""
    if op in _TAKE_PARTS:
        raise dim_out_of_range(1, 1)
    samples = run("view", batch.front(input), (batch.size, 1))
    if op in _KEEP_NO_DIMENSION:
        shifted(op, (input, *options), 0)  # checks the dimensions
        return batch.front(input)
    args = shifted(op, (samples, *options), 0)
    if op in _TAKE_MATRICES:
        raise dim_out_of_range(1, 1)
    return run(op, *args)


_TAKE_PARTS = frozenset(("select.int", "slice.Tensor", "split.Tensor", "split_with_sizes", "unbind.int"))
_TAKE_MATRICES = frozenset(("diagonal",))
_KEEP_NO_DIMENSION = frozenset(("transpose.int",))


def reinterpreted(op: str, promotion: None) -> Kernel:
    """`view(dtype)`: elements of another size make the last dimension another size, and a sample may have none."""

    def rule(batch: Batch, input: Any, dtype: Any) -> Any:
        samples = batch.front(input)
        if not input.ndim and dtype.itemsize != input.itemsize:
            run(op, run("select.int", samples, 0, 0), dtype)  # raises the error of one sample
        return run(op, samples, dtype)

    return batched(op, rule)


def unfold(op: str, promotion: None) -> Kernel:
    """Of a sample without dimensions there is one window."""

    def rule(batch: Batch, input: Any, dimension: int, size: int, step: int) -> Any:
        if input.ndim:
            return run(op, batch.front(input), shifted_dims(dimension, input.ndim), size, step)
        windows = run(op, run("view", batch.front(input), (batch.size, 1)), shifted_dims(dimension, 1), size, step)
        return run("select.int", windows, 1, 0)

    return batched(op, rule)


def unsqueeze(op: str, promotion: None) -> Kernel:
    def rule(batch: Batch, input: Any, dim: int) -> Any:
        return run(op, batch.front(input), shifted_dims(dim, input.ndim + 1))

    return batched(op, rule)


def permute(op: str, promotion: None) -> Kernel:
    def rule(batch: Batch, input: Any, dims: Ints) -> Any:
        return run(op, batch.front(input), (0, *shifted_dims(dims, input.ndim)))

    return batched(op, rule)


def transpose_matrix(op: str, promotion: None) -> Kernel:
    """`t`, which leaves vectors as they are."""

    def rule(batch: Batch, input: Any) -> Any:
        if input.ndim > 2:
            raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
        samples = batch.front(input)
        return run("transpose.int", samples, 1, 2) if input.ndim == 2 else run("alias", samples)

    return batched(op, rule)


def squeeze(op: str, promotion: None) -> Kernel:
    """The samples stay where they are, and are not taken away, should there be one only."""

    def rule(batch: Batch, input: Any, dim: int | Ints | None = None) -> Any:
        dims = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
        named = shifted_dims(tuple(dims), input.ndim)  # refuses wrong ones, of a sample without dimensions, too
        places = [place - (place <= input.bdim) for place in named if input.ndim]
        gone = [place for place in places if place < input.bdim and input.inner.shape[place] == 1]
        return BatchedArray(run("squeeze.dims", input.inner, tuple(places)), input.bdim - len(gone), batch.level)

    return batched(op, rule)


def sized(op: str, promotion: None) -> Kernel:
    """Views whose first argument is the new shape."""

    def rule(batch: Batch, input: Any, size: Ints, *options: Any) -> Any:
        return run(op, batch.front(input), (batch.size, *size), *options)

    return batched(op, rule)


def sized_copy(op: str, promotion: None) -> Kernel:
    """`_unsafe_view`, which is no view, so that the samples may be moved for it."""

    def rule(batch: Batch, input: Any, size: Ints) -> Any:
        samples, shape = batch.front(input), (batch.size, *size)
        try:
            return run(op, samples, shape)
        except RuntimeError:
            return run(op, run("clone", samples, contiguous_format), shape)

    return batched(op, rule)


def expand(op: str, promotion: None) -> Kernel:
    def rule(batch: Batch, input: Any, size: Ints, implicit: bool = False) -> Any:
        if len(size) < input.ndim:
            raise errors.too_few_sizes(size, input.ndim)
        return run(op, batch.ranked(input, len(size)), (batch.size, *size), implicit)

    return batched(op, rule)


def with_strides(op: str, promotion: None) -> Kernel:
    """Views given by shape and strides; the offset, where there is one, is that of a sample."""

    def rule(batch: Batch, input: Any, size: Ints, stride: Ints, *offset: Any) -> Any:
        samples = batch.front(input)
        steps = geometry.strides_of(samples)
        if batch.level.has_gradients and steps[0] < max(steps[1:], default=0):
            raise errors.samples_inside()
        start = buffers.byte_offset_of(samples) // samples.itemsize
        _check_within_sample(samples, size, stride, start, start if offset[:1] in ((), (None,)) else offset[0])
        return run(op, samples, (batch.size, *size), (steps[0], *stride), *offset)

    return batched(op, rule)


def _check_within_sample(samples: Any, size: Ints, stride: Ints, start: int, offset: int) -> None:
    """Refuse a view of a sample that would reach other memory: what it would find there is not told by the sample."""
    if 0 in size:
        return
    call = f"result = tensor.as_strided({list(size)}, {list(stride)}, {offset}) can access memory outside of `tensor`."
    if 0 in samples.shape[1:]:
        raise RuntimeError(
            f"{call} `tensor` has no storage but the passed-in (size, stride, storage_offset) imply a result with some "
            "storage. This is not supported inside of vmap, please try to rewrite the `as_strided` call as a sequence "
            "of PyTorch view operations"
        )
    end = offset + geometry.extent_of(size, stride)
    last = start + geometry.extent_of(samples.shape[1:], geometry.strides_of(samples)[1:])
    if end > last or offset < start:
        raise RuntimeError(
            f"{call} `result` can access some memory in range [{offset}, {end}], but `tensor` can only access some "
            f"memory in range [{start}, {last}]. This is not supported inside of vmap, please try to rewrite the "
            "`as_strided` call as a sequence of PyTorch view operations"
        )


def view_with_strides(op: str, promotion: None) -> Kernel:
    """`_reshape_alias`, whose strides are those that the view has in any case; or a copy, where there is no view."""

    def rule(batch: Batch, input: Any, size: Ints, stride: Ints) -> Any:
        return array_of_shape(batch.front(input), (batch.size, *size))

    return batched(op, rule)


def scatter_with_strides(op: str, promotion: str) -> Kernel:
    """A copy of the samples, a part of which, given by shape and strides, is replaced."""

    def rule(batch: Batch, input: Any, src: Any, size: Ints, stride: Ints, *offset: Any) -> Any:
        result = run("clone", batch.filled(input), contiguous_format)
        part = run("as_strided", result, (batch.size, *size), (geometry.strides_of(result)[0], *stride), *offset)
        run("copy_", part, batch.filled(src), False)
        return result

    return batched(op, rule)


def sizes(op: str, promotion: str) -> Kernel:
    """Backwards of views: `input_sizes` is the shape of the sample that was looked at."""

    def rule(batch: Batch, grad: Any, input_sizes: Ints, *options: Any) -> Any:
        if not input_sizes:  # a window of a number has it as often as it is long: once, or not at all
            return run("sum.dim_IntList", batch.front(grad), (1,), False, None)
        args = shifted(op, (grad, input_sizes, *options), len(input_sizes))
        return run(op, batch.front(grad), (batch.size, *input_sizes), *args[2:])

    return batched(op, rule)


# -------------------- entering and leaving a level --------------------


def add_batch_dim(op: str, promotion: None) -> Kernel:
    def kernel(input: BatchedArray, batch_dim: int, level: int) -> BatchedArray:
        """A level that is lower than one that the array is batched at already (in a backward pass) goes beneath it."""
        if input.bdim is None or input.level.number < level:
            return BatchedArray(input, batch_dim, level_numbered(level))
        place = batch_dim + (batch_dim >= input.bdim)
        return BatchedArray(run(op, input.inner, place, level), input.bdim - (place < input.bdim), input.level)

    return kernel


def spread_over_level(op: str, promotion: None) -> Kernel:
    def kernel(input: BatchedArray, level: int) -> BatchedArray:
        if input.bdim is not None and input.level.number == level:
            return input
        if input.bdim is None or input.level.number < level:
            found = level_numbered(level)
            samples = run("expand", input, (found.size, *input.shape), False)
            return BatchedArray(samples, 0, found)
        return BatchedArray(run(op, input.inner, level), input.bdim, input.level)

    return kernel


def remove_batch_dim(op: str, promotion: None) -> Kernel:
    def kernel(input: BatchedArray, level: int, batch_size: int, out_dim: int) -> Any:
        if input.bdim is None:
            return run(op, input.inner, level, batch_size, out_dim)
        if input.level.number == level:
            return with_dim_at(input.inner, input.bdim, out_dim)
        if input.level.number < level:
            size = (*input.shape[:out_dim], batch_size, *input.shape[out_dim:])
            return run("expand", run("unsqueeze", input, out_dim), size, False)
        place = out_dim + (out_dim > input.bdim)
        inner = run(op, input.inner, level, batch_size, place)
        return BatchedArray(inner, input.bdim + (place <= input.bdim), input.level)

    return kernel


def with_dim_at(array: Any, source: int, target: int) -> Any:
    """An array with one dimension moved to another place."""
    if source == target:
        return array
    order = [dim for dim in range(array.ndim) if dim != source]
    order.insert(target, source)
    return run("permute", array, tuple(order))
