"""Losses: computed for all elements, then reduced for each sample."""

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.memory_format import contiguous_format, preserve_format
from mindtorch.backends.batched.batch import Batch, Kernel, arrays_in, batched, run
from mindtorch.backends.batched.dims import array_of_shape
from mindtorch.backends.batched.fallback import sample_by_sample
from mindtorch.backends.batched.nn import merged
from mindtorch.backends.batched.pointwise import aligned
from mindtorch.dispatch.registry import find_op

_NONE, _MEAN, _SUM = 0, 1, 2


@cache
def _reduction_place(op: str) -> int:
    arguments = find_op(op).schema.arguments  # type: ignore[union-attr]
    return next(place for place, argument in enumerate(arguments) if argument.name == "reduction")


def loss(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, *args: Any) -> Any:
        place = _reduction_place(op)
        shapes = {tuple(array.shape) for array in arrays_in(args)}
        alike = len(shapes) == 1 and () not in shapes
        arrays = batch.each(lambda array: _in_a_row(batch, array), args) if alike else aligned(batch, args)
        reduction = arrays[place]
        arrays[place] = _NONE
        losses = run(op, *arrays)
        return reduced(array_of_shape(losses, (batch.size, *shapes.pop())) if alike else losses, reduction)

    return batched(op, rule)


def _in_a_row(batch: Batch, array: Any) -> Any:
    """The elements of each sample in a row; those of an array that all samples share in one."""
    if batch.has(array):
        return array_of_shape(batch.front(array), (batch.size, array.size))
    return array_of_shape(array, (array.size,))


def loss_like_target(op: str, promotion: str) -> Kernel:
    """The result has the shape of the target, which gets all samples, and so does the input."""

    def rule(batch: Batch, input: Any, target: Any, *options: Any) -> Any:
        place = _reduction_place(op)
        whole = [BatchedArray(batch.filled(each), 0, batch.level) for each in (input, target)]
        arrays = aligned(batch, (*whole, *options))
        reduction = arrays[place]
        arrays[place] = _NONE
        return reduced(run(op, *arrays), reduction)

    return batched(op, rule)


def reduced(losses: Any, reduction: int) -> Any:
    """The losses of each sample, or their sum or mean."""
    if reduction == _NONE:
        return losses
    rows = array_of_shape(losses, (losses.shape[0], prod(losses.shape[1:])))
    return run("mean.dim" if reduction == _MEAN else "sum.dim_IntList", rows, (1,), False, None)


def distance_backward(op: str, promotion: str) -> Kernel:
    """The slopes of losses of differences, times the gradient, which lie in memory as products do."""
    slopes = _SLOPES[op]

    def rule(batch: Batch, grad: Any, input: Any, target: Any, reduction: int, *options: Any) -> Any:
        count = max(input.size, 1)
        grad, input, target = aligned(batch, (grad, input, target))
        factor = 1 / count if reduction == _MEAN else 1.0
        return slopes(grad, run("sub.Tensor", input, target, 1), factor, *options)

    return batched(op, rule)


def _mse_slopes(grad: Any, difference: Any, factor: float) -> Any:
    return run("mul.Tensor", run("mul.Scalar", difference, 2 * factor), grad)


def _smooth_l1_slopes(grad: Any, difference: Any, factor: float, beta: float) -> Any:
    grad = run("mul.Scalar", grad, factor)
    near = run("lt.Scalar", run("abs", difference), beta)
    product = run("mul.Tensor", grad, difference)
    inner = run("div.Scalar", product, beta) if beta else product
    return run("where.self", near, inner, run("mul.Tensor", grad, run("sign", difference)))


_SLOPES: dict[str, Callable] = {"mse_loss_backward": _mse_slopes, "smooth_l1_loss_backward": _smooth_l1_slopes}


def loss_backward(op: str, promotion: str) -> Kernel:
    """The gradient of a mean is divided by the number of all elements, where it should be those of a sample."""

    def rule(batch: Batch, grad: Any, input: Any, target: Any, *options: Any) -> Any:
        whole = [BatchedArray(batch.filled(each), 0, batch.level) for each in (grad, input, target)]
        result = run(op, *aligned(batch, (*whole, *options)))
        if options[_reduction_place(op) - 3] != _MEAN:
            return result
        return run("mul.Tensor", result, batch.size)

    return batched(op, rule)


# -------------------- negative log likelihood --------------------


def nll_loss(op: str, promotion: str) -> Kernel:
    """The samples are more rows. The weight of a row is its loss for a log likelihood of -1."""
    one_by_one = sample_by_sample(op)

    def rule(batch: Batch, input: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
        if batch.has(weight):
            return one_by_one(batch, input, target, weight, reduction, ignore_index)
        rows, targets = _rows(batch, input, target)
        losses, total = run(op, rows, targets, weight, _NONE, ignore_index)
        shape = (batch.size, *target.shape)
        if reduction == _NONE:
            weights = run("clone", run("expand", total, (batch.size,), False), contiguous_format)
            return _like_targets(batch, array_of_shape(losses, shape), target, ignore_index), weights
        certain = run("full_like", rows, -1, None, None, None, None, preserve_format)
        weights, _ = run(op, certain, targets, weight, _NONE, ignore_index)
        loss, total = (reduced(array_of_shape(each, shape), _SUM) for each in (losses, weights))
        return (run("div.Tensor", loss, total) if reduction == _MEAN else loss), total

    return batched(op, rule)


def _like_targets(batch: Batch, losses: Any, target: Any, ignore_index: int) -> Any:
    """PyTorch chooses between losses and zeros by the targets, and so the losses lie in memory as those do."""
    counts = run("ne.Scalar", batch.front(target) if batch.has(target) else target, ignore_index)
    return run("where.self", counts, losses, run("zeros_like", losses, None, None, None, None, preserve_format))


nll_loss2d = nll_loss


def nll_loss_backward(op: str, promotion: str) -> Kernel:
    one_by_one = sample_by_sample(op)

    def rule(
        batch: Batch, grad: Any, input: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
    ) -> Any:
        if batch.has(weight):
            return one_by_one(batch, grad, input, target, weight, reduction, ignore_index, total)
        rows, targets = _rows(batch, input, target)
        grads = batch.filled(grad)
        if reduction == _MEAN:
            grads = run("div.Tensor", grads, batch.filled(total))
        if reduction != _NONE:
            ones = run("view", grads, (batch.size, *(1,) * target.ndim))
            grads = run("expand", ones, (batch.size, *target.shape), False)
        grads = array_of_shape(grads, tuple(targets.shape))
        result = run(
            op, grads, rows, targets, weight, _NONE, ignore_index, run("select.int", batch.filled(total), 0, 0)
        )
        return array_of_shape(result, (batch.size, *input.shape))

    return batched(op, rule)


def _rows(batch: Batch, input: Any, target: Any) -> tuple[Any, Any]:
    """The rows of all samples, and their targets."""
    rows, targets = batch.filled(input), batch.filled(target)
    return (rows, targets) if input.ndim == 1 else (merged(rows, 0), merged(targets, 0))
