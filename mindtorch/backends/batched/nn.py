"""Convolution, pooling, normalization and embedding: samples become images, groups, channels or rows of a table."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._support import vmap_errors as errors
from mindtorch.backends.batched.batch import Batch, Kernel, batched, run
from mindtorch.backends.batched.dims import array_of_shape
from mindtorch.backends.batched.fallback import one_by_one, sample_by_sample

Ints = Sequence[int]


def merged(samples: Any, dim: int) -> Any:
    """Samples along the first dimension, moved into the dimension that was `dim` of one sample: (B, N, C) for 1 gives
    (N, B * C)."""
    rest = range(dim + 1, samples.ndim)
    moved = run("permute", samples, (*range(1, dim + 1), 0, *rest)) if dim else samples
    shape = moved.shape
    return array_of_shape(moved, (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :]))


def parted(array: Any, dim: int, batch: Batch) -> Any:
    """What `merged` did, undone."""
    shape = array.shape
    apart = array_of_shape(array, (*shape[:dim], batch.size, shape[dim] // max(batch.size, 1), *shape[dim + 1 :]))
    return run("permute", apart, (dim, *range(dim), *range(dim + 1, apart.ndim))) if dim else apart


def merged_if(batch: Batch, array: Any, dim: int) -> Any:
    return None if array is None else merged(batch.filled(array), dim)


# -------------------- convolution --------------------


def convolution(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, input: Any, weight: Any, bias: Any, *options: Any) -> Any:
        plain_bias = None if batch.has(bias) else bias
        if batch.has(weight):
            *rest, groups = options
            images, filters = merged(batch.filled(input), 1), merged(batch.front(weight), 0)
            bias_of_all = None if bias is None else merged(batch.filled(bias), 0)
            return parted(run(op, images, filters, bias_of_all, *rest, groups * batch.size), 1, batch)
        if not batch.has(input):
            result = run(op, input, weight, None, *options)
        else:
            result = parted(run(op, merged(batch.front(input), 0), weight, plain_bias, *options), 0, batch)
        return _with_bias(batch, result, bias, weight.ndim - 2) if batch.has(bias) else result

    return batched(op, rule)


def _with_bias(batch: Batch, result: Any, bias: Any, image_ndim: int) -> Any:
    channels = run("view", batch.front(bias), (batch.size, 1, bias.shape[0], *(1,) * image_ndim))
    return run("add.Tensor", result, channels, 1)


def convolution_backward(op: str, promotion: str) -> Kernel:
    """Every sample is a group of channels, so that every one has gradients of its own for the weight and the bias."""

    def rule(batch: Batch, grad: Any, input: Any, weight: Any, bias_sizes: Ints | None, *options: Any) -> Any:
        *rest, groups, mask = options
        sizes = None if bias_sizes is None else [size * batch.size for size in bias_sizes]
        grads = run(
            op,
            merged(batch.filled(grad), 1),
            merged(batch.filled(input), 1),
            merged(batch.filled(weight), 0),
            sizes,
            *rest,
            groups * batch.size,
            mask,
        )
        return tuple([each if each is None else parted(each, dim, batch) for each, dim in zip(grads, (1, 0, 0))])

    return batched(op, rule)


# -------------------- pooling --------------------


def images(op: str, promotion: str) -> Kernel:
    """Ops that treat every image of a batch alike: the samples are more images."""
    return _of_batches(op, 3)


def volumes(op: str, promotion: str) -> Kernel:
    """Like `images`, with one dimension more."""
    return _of_batches(op, 4)


def planes(op: str, promotion: str) -> Kernel:
    """Like `images`, of ops to which channels are images, too: those of a single image become the batch."""
    return _of_batches(op, 0)


def sequences(op: str, promotion: str) -> Kernel:
    """Like `images`, with one dimension less."""
    return _of_batches(op, 2)


def resized(op: str, promotion: str) -> Kernel:
    """Ops that take only batches, of images of any number of dimensions."""
    return _of_batches(op, 0)


def _of_batches(op: str, single_ndim: int) -> Kernel:
    """The samples are more members of the batch, or become the batch of an input that has `single_ndim` dimensions."""

    def rule(batch: Batch, input: Any, *options: Any) -> Any:
        single = input.ndim == single_ndim

        def fold(array: Any) -> Any:
            samples = batch.filled(array)
            return samples if single else merged(samples, 0)

        def unfold(array: Any) -> Any:
            return array if single else parted(array, 0, batch)

        result = run(op, *batch.each(fold, (input, *options)))
        return tuple(map(unfold, result)) if isinstance(result, (list, tuple)) else unfold(result)

    return batched(op, rule)


max_pool2d = avg_pool2d = adaptive_avg_pool2d = like_second = im2col = images
max_pool3d = avg_pool3d = adaptive_avg_pool3d = volumes
col2im = sequences
padded = adaptive_max_pool = max_unpool = one_by_one


def resized_backward(op: str, promotion: str) -> Kernel:
    """The first of the sizes is that of the batch."""

    def rule(batch: Batch, grad: Any, output_size: Ints, input_size: Ints, *options: Any) -> Any:
        size = (batch.size * input_size[0], *input_size[1:])
        return parted(run(op, merged(batch.front(grad), 0), output_size, size, *options), 0, batch)

    return batched(op, rule)


# -------------------- normalization --------------------


def batch_norm(op: str, promotion: str) -> Kernel:
    """The channels of all samples are normalized apart from each other."""

    def rule(
        batch: Batch,
        input: Any,
        weight: Any,
        bias: Any,
        running_mean: Any,
        running_var: Any,
        training: bool,
        *options: Any,
    ) -> Any:
        running = (running_mean, running_var)
        if training and batch.has(input) and any(each is not None and not batch.has(each) for each in running):
            raise errors.running_statistics()
        means, variances = (_statistics(batch, each, training) for each in running)
        result, mean, invstd = run(
            op,
            merged(batch.filled(input), 1),
            merged_if(batch, weight, 0),
            merged_if(batch, bias, 0),
            means,
            variances,
            training,
            *options,
        )
        if training:
            _store(batch, running, (means, variances))
        return parted(result, 1, batch), _by_sample(batch, mean), _by_sample(batch, invstd)

    return batched(op, rule)


def _statistics(batch: Batch, array: Any, training: bool) -> Any:
    """Those of all samples in a row; a copy of them if they will be written."""
    row = merged_if(batch, array, 0)
    return run("clone", row, contiguous_format) if training and array is not None else row


def _store(batch: Batch, statistics: Sequence[Any], updated: Sequence[Any]) -> None:
    """Write the new running statistics back: the kernel had a copy of the old ones.

    Those that are not batched are of an input that is not: then all samples have the same.
    """
    for array, new in zip(statistics, updated):
        if array is not None:
            each = parted(new, 0, batch)
            if batch.has(array):
                run("copy_", batch.front(array), each, False)
            else:
                run("copy_", array, run("select.int", each, 0, 0), False)


def _by_sample(batch: Batch, statistics: Any) -> Any:
    return parted(statistics, 0, batch) if statistics.size else run("view", statistics, (batch.size, 0))


def batch_norm_backward(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, grad: Any, input: Any, *options: Any) -> Any:
        arrays, rest = options[:5], options[5:]
        channels = [merged_if(batch, each, 0) for each in arrays]
        grads = run(op, merged(batch.filled(grad), 1), merged(batch.filled(input), 1), *channels, *rest)
        return tuple([each if each is None else parted(each, dim, batch) for each, dim in zip(grads, (1, 0, 0))])

    return batched(op, rule)


def layer_norm(op: str, promotion: str) -> Kernel:
    """The samples are more rows to normalize. Weights of their own are applied afterwards."""

    def rule(batch: Batch, input: Any, normalized_shape: Ints, weight: Any, bias: Any, eps: float) -> Any:
        samples = batch.front(input) if batch.has(input) else input
        if not (batch.has(weight) or batch.has(bias)):
            return run(op, samples, normalized_shape, weight, bias, eps)
        result, mean, rstd = run(op, samples, normalized_shape, None, None, eps)
        if weight is not None:
            result = run("mul.Tensor", result, batch.ranked(weight, input.ndim))
        if bias is not None:
            result = run("add.Tensor", result, batch.ranked(bias, input.ndim), 1)
        if batch.has(input):
            return result, mean, rstd
        return result, *[run("expand", each, (batch.size, *each.shape), False) for each in (mean, rstd)]

    return batched(op, rule)


layer_norm_backward: Callable[[str, str], Kernel] = one_by_one


# -------------------- embedding --------------------


def embedding(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, weight: Any, indices: Any, *options: Any) -> Any:
        if batch.has(weight) and batch.has(indices):
            return _from_own_tables(batch, weight, indices)
        if batch.has(weight):  # one table, whose rows have those of all samples side by side
            found = run(op, merged(batch.front(weight), 1), indices, *options)
            return parted(found, indices.ndim, batch)
        return run(op, weight, batch.front(indices), *options)

    return batched(op, rule)


def _from_own_tables(batch: Batch, weight: Any, indices: Any) -> Any:
    rows = array_of_shape(batch.filled(indices), (batch.size, indices.size, 1))
    wanted = run("expand", rows, (batch.size, indices.size, weight.shape[1]), False)
    found = run("gather", batch.front(weight), 1, wanted, False)
    return run("view", found, (batch.size, *indices.shape, weight.shape[1]))


def embedding_backward(op: str, promotion: str) -> Kernel:
    each = sample_by_sample(op)

    def rule(batch: Batch, grad: Any, indices: Any, *options: Any) -> Any:
        if batch.has(indices):
            return each(batch, grad, indices, *options)
        return parted(run(op, merged(batch.front(grad), grad.ndim - 1), indices, *options), 1, batch)

    return batched(op, rule)
