"""Ops of the loss family that are written in other ops. The reductions are torch's numbers: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import math

from mindtorch._core.dtype import dtype
from mindtorch._core.promotion import result_type
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.dispatch import ops
from mindtorch.iterator import check_result_dtype, check_same_dtype

NONE, MEAN, SUM = 0, 1, 2


def _reduce(losses: Tensor, reduction: int) -> Tensor:
    if reduction == MEAN:
        return losses.mean()
    return losses.sum() if reduction == SUM else losses


# -------------------- distances --------------------


def huber_loss(input: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    _check_huber(input, target, delta, input.dtype)
    return (ops.smooth_l1_loss(input, target, reduction, delta) * delta).to(input.dtype)


def huber_loss_out(input: Tensor, target: Tensor, reduction: int, delta: float, out: Tensor) -> Tensor:
    _check_huber(input, target, delta, out.dtype)
    return write_out(out, huber_loss(input, target, reduction, delta))


def huber_loss_backward(grad_output: Tensor, input: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    check_same_dtype(target._mt_array.dtype, input._mt_array.dtype)
    return ops.smooth_l1_loss_backward(grad_output, input, target, reduction, delta) * delta


def _check_huber(input: Tensor, target: Tensor, delta: float, own: dtype) -> None:
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    common = result_type(input, target)
    check_result_dtype(common.numpy, own.numpy)
    if not common.is_floating_point:
        raise NotImplementedError(f"\"huber_cpu\" not implemented for '{common.storage_name}'")


# -------------------- negative log likelihood --------------------


def nll_loss_out(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, out: Tensor
) -> Tensor:
    total_weight = ops.empty((0,), dtype=out.dtype, device=input.device)
    return ops.nll_loss_forward_out(input, target, weight, reduction, ignore_index, out=(out, total_weight))[0]


def nll_loss2d_out(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, *, out: Tensor
) -> Tensor:
    result = ops.nll_loss2d(input, target, weight, reduction, ignore_index)
    if out.dtype is not result.dtype:
        kind, given = result.dtype.storage_name, out.dtype.storage_name
        raise RuntimeError(f"expected scalar type {kind} but found {given}")
    return write_out(out, result)


def nll_loss_nd(input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    shape, classes = input._mt_array.shape, target._mt_array.shape
    if not shape:
        raise ValueError(f"Expected 1 or more dimensions (got {input.ndim})")
    if len(shape) != 1 and shape[:1] != classes[:1]:
        given = classes[0] if classes else 0
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({given}).")
    if len(shape) <= 2:
        return ops.nll_loss_forward(input, target, weight, reduction, ignore_index)[0]
    if len(shape) == 4:
        return ops.nll_loss2d_forward(input, target, weight, reduction, ignore_index)[0]
    return _nll_loss_of_images(input, target, weight, reduction, ignore_index)


def _nll_loss_of_images(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Tensor:
    """Any number of dimensions behind the classes, laid out as the rows of an image."""
    images, classes, *places = input.shape
    if list(target.shape[1:]) != places:
        raise RuntimeError(f"Expected target size {[images, *places]}, got {list(target.shape)}")
    flat = (1, math.prod(places))
    image, target = input.contiguous().view(images, classes, *flat), target.reshape(images, *flat)
    losses = ops.nll_loss2d_forward(image, target, weight, reduction, ignore_index)[0]
    return losses.reshape(images, *places) if reduction == NONE else losses


# -------------------- cross entropy --------------------


def cross_entropy_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, label_smoothing: float
) -> Tensor:
    if input.shape == target.shape:
        _check_probabilities(target, ignore_index)
        _check_smoothing(label_smoothing)
        return _against_probabilities(input, target, weight, reduction, label_smoothing)
    _check_smoothing(label_smoothing)
    logs = ops.log_softmax(input, _class_dim(input))
    losses = nll_loss_nd(logs, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return losses
    smooth = _uniform_loss(logs, target, weight, reduction, ignore_index)
    classes = input.shape[_class_dim(input)]
    share = label_smoothing / classes if classes else math.inf
    return ops.mul_Scalar(losses, 1 - label_smoothing) + ops.mul_Scalar(smooth, share)


def _check_probabilities(target: Tensor, ignore_index: int) -> None:
    if not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got " f"{target.dtype.storage_name}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")


def _check_smoothing(label_smoothing: float) -> None:
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _class_dim(input: Tensor) -> int:
    if not input.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    return 0 if input.ndim == 1 else 1


def _by_class(weight: Tensor, input: Tensor) -> Tensor:
    """The classes' weights in a shape that broadcasts over the input."""
    return weight if input.ndim == 1 else weight.reshape(1, -1, *(1,) * (input.ndim - 2))


def _against_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float
) -> Tensor:
    dim = _class_dim(input)
    classes = input.shape[dim]
    if label_smoothing > 0:
        target = ops.add_Scalar(ops.mul_Scalar(target, 1 - label_smoothing), label_smoothing / classes)
    products = input.log_softmax(dim) * target
    if weight is not None:
        products = products * _by_class(weight, input)
    if reduction == NONE:
        return -products.sum(dim)
    total = products.sum()
    if reduction == SUM:
        return -total
    return ops.div_Scalar(-total, input.numel() / classes) if input.numel() else -total.fill_(math.nan)


def _uniform_loss(logs: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """The loss against equal probabilities for all classes, which label smoothing mixes in."""
    weighted = logs if weight is None else logs * _by_class(weight, logs)
    ignored = target == ignore_index
    losses = (-weighted.sum(_class_dim(logs))).masked_fill(ignored, 0.0)
    if reduction == NONE:
        return losses
    if reduction == SUM:
        return losses.sum()
    kept = ~ignored
    return losses.sum() / (kept if weight is None else weight[target.masked_fill(ignored, 0)] * kept).sum()


# -------------------- elementwise losses --------------------


def l1_loss(input: Tensor, target: Tensor, reduction: int) -> Tensor:
    return _reduce((input - target).abs(), reduction)


def kl_div(input: Tensor, target: Tensor, reduction: int, log_target: bool) -> Tensor:
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        return _reduce(target.exp() * (target - input), reduction)
    product = target * input  # first, as in torch: in 16 bits, the order in which its gradients are added matters
    return _reduce(ops.xlogy(target, target) - product, reduction)
