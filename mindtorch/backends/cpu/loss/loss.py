"""Kernels of the loss family. The reductions are torch's numbers: 0 none, 1 mean, 2 sum."""

from __future__ import annotations

from math import prod

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.promotion import INT64, UINT8, common_dtype
from mindtorch._core.strided import empty_like
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import is_within, largest, row_starts, smallest
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.computing import FLOATS, loops
from mindtorch.backends.cpu.common.halves import converted
from mindtorch.backends.cpu.common.precision import check_out, deliver, deliver_all, deliver_cast, widen
from mindtorch.backends.cpu.common.summing import add_up
from mindtorch.backends.cpu.compiled.choice import compiled
from mindtorch.iterator import (
    broadcast_shapes,
    check_inplace_shape,
    check_result_dtype,
    needs_resize,
    new_array,
    result_layout,
)

NONE, MEAN, SUM = 0, 1, 2
_CLASSES = (INT64, UINT8)

_LOG_FLOOR = -100  # binary cross entropy clamps log(0)
_SMALLEST = 1e-12  # and the denominator of its gradient

# -------------------- negative log likelihood --------------------


def nll_loss_forward(input, target, weight, reduction, ignore_index, out=None):
    _check_nll_shapes(input, target, weight)
    if out is not None:
        check_out(out[0], input)
    _check_nll_dtypes(input, target, weight, "nll_loss_out_frame")
    aligned.check_walk(target)
    if out is None and weight is None and _is_plain(input, target, ignore_index):
        return _plain_nll(input, target, reduction)
    losses, weights = _nll_terms(widen(input), target, widen(weight), ignore_index)
    return deliver_all(_reduce_nll(losses, weights, reduction, input.ndim == 1), input, out)


def nll_loss_backward(grad_output, input, target, weight, reduction, ignore_index, total_weight, out=None):
    _check_nll_shapes(input, target, weight)
    check_out(out, input)
    _check_nll_dtypes(input, target, weight, "nll_loss_backward_out_frame")
    if reduction == NONE and input.ndim == 2:
        checks.expect_size(grad_output, 1, 0, len(target))
    elif grad_output.ndim > 1 or grad_output.size != 1:
        raise _no_single_element(grad_output)
    if total_weight.size != 1:
        count = f"({total_weight.size} elements)"
        raise RuntimeError(
            f"expected total_weight to be a  single element tensor, got: {list(total_weight.shape)} {count}"
        )
    checks.expect_dtype(grad_output, input)
    if reduction != NONE or input.ndim == 1:
        checks.expect_dtype(total_weight, input)
    if out is None and weight is None and reduction != NONE and _is_plain(input, target, ignore_index):
        return _plain_nll_gradient(grad_output, input, target, total_weight if reduction == MEAN else None)
    return _nll_gradient(grad_output, input, target, weight, reduction, ignore_index, total_weight, out)


def _is_plain(input: np.ndarray, target: np.ndarray, ignore_index: int) -> bool:
    """Whether every target is a class and counts, as mostly: then there is less to do."""
    if input.ndim != 2 or input.dtype not in FLOATS or target.dtype is not INT64 or not target.size:
        return False
    classes = input.shape[1]
    return not 0 <= ignore_index < classes and is_within(target, 0, classes)


def _plain_nll(input: np.ndarray, target: np.ndarray, reduction: int) -> tuple[np.ndarray, np.ndarray]:
    if input.flags.c_contiguous:
        picked = input.reshape(-1).take(_chosen_places(target, input.shape[1]))
    else:
        picked = input[np.arange(target.size), target]
    losses = np.negative(picked, picked)
    if reduction == NONE:
        return losses, np.zeros((), losses.dtype)
    total, count = quiet(_total, losses), np.array(target.size, losses.dtype)
    return np.divide(total, count, out=total) if reduction == MEAN else total, count


def _chosen_places(target: np.ndarray, classes: int) -> np.ndarray:
    """Where in the elements of a matrix, row by row, the class of each row is."""
    return target + row_starts(target.size, classes)


def _plain_nll_gradient(
    grad_output: np.ndarray, input: np.ndarray, target: np.ndarray, total_weight: np.ndarray | None
) -> np.ndarray:
    result = np.zeros(input.shape, input.dtype)
    share = np.negative(grad_output)
    if total_weight is not None:
        share = quiet(np.divide, share, total_weight)
    result.reshape(-1)[_chosen_places(target, input.shape[1])] = share
    return result


def nll_loss2d_forward(input, target, weight, reduction, ignore_index, out=None):
    _check_nll2d(input, target, weight, "nll_loss2d_forward_out_frame")
    losses, weights = _nll_terms(widen(input), target, widen(weight), ignore_index)
    return deliver_all(_reduce_nll(losses, weights, reduction, False), input, out)


def nll_loss2d_backward(grad_output, input, target, weight, reduction, ignore_index, total_weight, out=None):
    _check_nll2d(input, target, weight, "nll_loss2d_backward_out_frame")
    _check_image_out(out, input)
    if reduction != NONE and grad_output.size != 1:
        raise _no_single_element(grad_output)
    if reduction == NONE:
        _check_like_target(grad_output, target)
    checks.expect_dtype(grad_output, input)
    return _nll_gradient(grad_output, input, target, weight, reduction, ignore_index, total_weight, out)


def _nll_terms(
    input: np.ndarray, target: np.ndarray, weight: np.ndarray | None, ignore_index: int
) -> tuple[np.ndarray, np.ndarray]:
    """Each target's loss, not weighted, and its weight, 0 where it is ignored; both zero there even if input is NaN."""
    kept, index = _class_index(target, ignore_index, _classes(input))
    if not np.count_nonzero(kept):  # there may be no classes then
        nothing = np.zeros(target.shape, input.dtype)
        return nothing, nothing
    losses = np.negative(input.reshape(-1).take(_places(input.shape, index), mode="clip"))
    weights = kept.astype(input.dtype) if weight is None else weight.take(index, mode="clip")
    if np.count_nonzero(kept) != kept.size:
        losses, weights = np.where(kept, losses, 0), np.where(kept, weights, 0)
    return losses, weights


def _classes(input: np.ndarray) -> int:
    return input.shape[min(1, input.ndim - 1)]


def _class_index(target: np.ndarray, ignore_index: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Which targets are not ignored, and the targets with 0 in place of the others."""
    kept = target != ignore_index
    index = np.where(kept, target, 0)
    wrong = index.astype(np.uint64) >= classes  # so a negative class is too large
    if np.count_nonzero(wrong) and np.count_nonzero(kept):
        raise IndexError(f"Target {index[wrong].flat[0]} is out of bounds.")
    return kept, index.astype(np.int64, copy=False)


def _places(shape: tuple[int, ...], index: np.ndarray) -> np.ndarray:
    """Where in a flat array of `shape` (images, classes, ...) the chosen class of each image and place lies."""
    if len(shape) == 1:
        return index
    inner = prod(shape[2:])
    starts = np.arange(shape[0]) * (shape[1] * inner)
    if inner == 1:
        return starts.reshape(index.shape) + index
    return starts.reshape(-1, 1, 1) + index * inner + np.arange(inner).reshape(shape[2:])


def _reduce_nll(losses: np.ndarray, weights: np.ndarray, reduction: int, single: bool) -> tuple[np.ndarray, np.ndarray]:
    weighted = quiet(np.multiply, losses, weights)
    if reduction == NONE and not single:
        return weighted, np.zeros((), losses.dtype)
    total, total_weight = quiet(_total, weighted), np.asarray(_total(weights))
    if reduction == MEAN:
        total = quiet(np.divide, total, total_weight)
    return np.asarray(total), total_weight


def _total(array: np.ndarray) -> np.ndarray:
    return add_up(array, tuple(range(array.ndim)))


def _nll_gradient(
    grad_output: np.ndarray,
    input: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    reduction: int,
    ignore_index: int,
    total_weight: np.ndarray,
    out: np.ndarray | None,
) -> np.ndarray:
    kept, index = _class_index(target, ignore_index, _classes(input))
    weights = kept if weight is None else widen(weight).take(index, mode="clip")
    grads = quiet(np.multiply, -widen(grad_output), weights)
    if reduction == MEAN:
        grads = quiet(np.divide, grads, widen(total_weight))
    result = np.zeros(input.size, grads.dtype)
    places = _places(input.shape, index)
    result[places[kept]] = grads[kept] if grads.ndim else grads
    return deliver(result.reshape(input.shape), input, out)


def _check_nll_shapes(input: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
    if not 0 < input.ndim <= 2:
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input.ndim == 1 and target.size != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.size}")
    if input.ndim == 2 and target.shape != input.shape[:1]:
        if not target.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)}, target: {list(target.shape)})")
    classes = input.shape[-1]
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )


def _check_nll2d(input: np.ndarray, target: np.ndarray, weight: np.ndarray | None, kernel: str) -> None:
    if target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: " f"{target.ndim}"
        )
    if input.ndim != 4:
        raise RuntimeError(
            f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {input.ndim}"
        )
    if weight is not None and weight.size != input.shape[1]:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    if (input.shape[0], *input.shape[2:]) != target.shape:
        raise RuntimeError(f"size mismatch (got input: {list(input.shape)} , target: {list(target.shape)}")
    _check_nll_dtypes(input, target, weight, kernel)
    if target.size:  # bytes are taken by name only
        checks.expect_dtype(target, np.empty(0, np.int64))


def _check_image_out(out: np.ndarray | None, input: np.ndarray) -> None:
    if out is not None and not needs_resize(out, input.shape) and not out.flags.c_contiguous:
        raise RuntimeError("grad_input must be contiguous")
    checks.expect_dtype(out, input)


def _check_nll_dtypes(input: np.ndarray, target: np.ndarray, weight: np.ndarray | None, kernel: str) -> None:
    checks.expect_float(input, kernel)
    if target.dtype not in _CLASSES:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {checks.scalar_name(target)}")
    checks.expect_dtype(weight, input)


def _no_single_element(grad: np.ndarray) -> RuntimeError:
    return RuntimeError(f"Expected a single element grad_output tensor, but got: {list(grad.shape)}")


def _check_like_target(grad: np.ndarray, target: np.ndarray) -> None:
    if grad.ndim != 3:
        raise RuntimeError(f"grad_output must have same dimension as target (3) but got dimension: {list(grad.shape)}")
    if grad.shape != target.shape:
        raise RuntimeError(f"size mismatch (got grad_output: {list(grad.shape)} target: {list(target.shape)}")


# -------------------- elementwise losses --------------------


def mse_loss(input, target, reduction, out=None):
    _check_operands(input, target, "mse_cpu", out)
    return quiet(_finish, quiet(_square, _difference(input, target)), reduction, _result_like(input, target), out)


def mse_loss_backward(grad_output, input, target, reduction, out=None):
    _check_gradient_dtype(grad_output, input, target)
    _check_real(input, target, "mse_backward_cpu_out", out)
    return quiet(_mse_gradient, grad_output, input, target, reduction, out)


def _mse_gradient(
    grad_output: np.ndarray, input: np.ndarray, target: np.ndarray, reduction: int, out: np.ndarray | None
) -> np.ndarray:
    slope = _difference(input, target)
    if grad_output.ndim and grad_output.shape != slope.shape:
        broadcast_shapes(slope.shape, grad_output.shape)
    slope *= slope.dtype.type(_mean_factor(2.0, slope.size, reduction))  # of integers, a mean is 0
    return deliver_cast(np.asarray(slope * widen(grad_output), order="C"), input, out)


def _check_gradient_dtype(grad: np.ndarray, input: np.ndarray, target: np.ndarray) -> None:
    if not grad.dtype == input.dtype == target.dtype:
        check_result_dtype(common_dtype(grad, input, target), input.dtype)


def _check_real(input: np.ndarray, target: np.ndarray, kernel: str, out: np.ndarray | None) -> None:
    if out is not None:
        check_result_dtype(_promoted(input, target), out.dtype)
    if input.dtype.kind in "bc":
        raise checks.not_implemented(kernel, input)


def smooth_l1_loss(input, target, reduction, beta, out=None):
    _check_operands(input, target, "smooth_l1_cpu", out)
    return quiet(_smooth_l1, input, target, reduction, beta, out)


def _smooth_l1(
    input: np.ndarray, target: np.ndarray, reduction: int, beta: float, out: np.ndarray | None
) -> np.ndarray:
    if beta and input.dtype is target.dtype and input.dtype in FLOATS:  # one loop: the same bits in every layout
        place = (
            None if _are_alike(input, target) else new_array(*result_layout((input, target), input.dtype), input.dtype)
        )
        losses = _DISTANCES[input.dtype](input, target, beta, out=place)
        return _finish(losses, reduction, losses, out)
    size = _difference(input, target)
    np.abs(size, out=size)
    if beta:
        size = _near_and_far(size, beta)
    return _finish(size, reduction, _result_like(input, target), out)


def _near_and_far(size: np.ndarray, beta: float) -> np.ndarray:
    """near / beta * (size - near / 2) is size² / (2 beta) below beta and size - beta / 2 above it."""
    near = np.minimum(size, beta)
    near *= 0.5
    size -= near
    near *= 2 / beta
    size *= near
    return size


def _are_alike(*arrays: np.ndarray) -> bool:
    """Whether arrays are row-major, of one shape, and of one dtype that is computed in."""
    first = arrays[0]
    if first.dtype not in FLOATS or not first.ndim:
        return False
    return all([e.dtype is first.dtype and e.shape == first.shape and e.flags.c_contiguous for e in arrays])


def _distances(input: np.ndarray, target: np.ndarray, beta: float, out: np.ndarray | None = None) -> np.ndarray:
    size = np.subtract(input, target, out=out)
    return _near_and_far(np.abs(size, out=size), beta)


def _distance_gradients(grad: np.ndarray, input: np.ndarray, target: np.ndarray, beta: float) -> np.ndarray:
    slope = np.subtract(input, target)
    slope /= beta
    np.clip(slope, -1, 1, out=slope)
    return np.multiply(slope, grad, out=slope)


_DISTANCES = compiled("smooth_l1_loss", loops(_distances, FLOATS))
_DISTANCE_GRADIENTS = compiled("smooth_l1_loss_backward", loops(_distance_gradients, FLOATS))


def smooth_l1_loss_backward(grad_output, input, target, reduction, beta, out=None):
    _check_gradient_dtype(grad_output, input, target)
    _check_real(input, target, "smooth_l1_backward_cpu_out", out)
    return quiet(_smooth_l1_gradient, grad_output, input, target, reduction, beta, out)


def _smooth_l1_gradient(
    grad_output: np.ndarray,
    input: np.ndarray,
    target: np.ndarray,
    reduction: int,
    beta: float,
    out: np.ndarray | None,
) -> np.ndarray:
    if beta and out is None and _are_alike(input, target) and grad_output.dtype is input.dtype:
        if not grad_output.ndim or grad_output.shape == input.shape:
            grad = np.multiply(grad_output, input.dtype.type(_mean_factor(1.0, input.size, reduction)))
            return _DISTANCE_GRADIENTS[input.dtype](np.asarray(grad, order="C"), input, target, beta)
    like = _result_like(input, target)
    difference = _difference(
        *(np.asarray(each, np.int64) if each.dtype == np.uint8 else each for each in (input, target))
    )
    if grad_output.ndim and grad_output.shape != difference.shape:
        broadcast_shapes(difference.shape, grad_output.shape)
    slope = (difference / beta).clip(-1, 1) if beta else np.sign(difference)
    slope *= _mean_factor(1.0, slope.size, reduction) if checks.is_float(like) or reduction != MEAN else 0
    return deliver_cast(np.asarray(slope * widen(grad_output), order="C"), input, out)


def binary_cross_entropy(input, target, weight, reduction, out=None):
    _check_same_dtype(input, out)
    _check_same_dtype(input, target)
    checks.expect_float(input, "binary_cross_entropy")
    aligned.check_walk(input)
    _check_probabilities(input, "input")
    _check_probabilities(target, "target")
    return quiet(_cross_entropy, input, target, weight, reduction, out)


def _cross_entropy(
    input: np.ndarray, target: np.ndarray, weight: np.ndarray | None, reduction: int, out: np.ndarray | None
) -> np.ndarray:
    p, y = _in_step(input, target)
    losses = (y - 1) * np.maximum(np.log1p(-p), _LOG_FLOOR) - y * np.maximum(np.log(p), _LOG_FLOOR)
    losses = _of_input(losses, input, weight)
    if reduction == NONE and out is None:
        return deliver_cast(losses, input, empty_like(input))
    return _finish(losses, reduction, input, out)


def binary_cross_entropy_backward(grad_output, input, target, weight, reduction, out=None):
    _check_same_dtype(input, out)
    _check_same_dtype(grad_output, input, target)
    checks.expect_float(input, "binary_cross_entropy_backward")
    return quiet(_cross_entropy_gradient, grad_output, input, target, weight, reduction, out)


def _cross_entropy_gradient(
    grad_output: np.ndarray,
    input: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    reduction: int,
    out: np.ndarray | None,
) -> np.ndarray:
    given, p, y = _in_step(grad_output, input, target)
    grad = _of_input(given * (p - y) / np.maximum((1 - p) * p, _SMALLEST), input, weight)
    if reduction == MEAN:
        grad = grad / input.size
    result = np.empty_like(input, grad.dtype)  # in the order of the input
    result[...] = grad
    return deliver(result, input, out)


def _in_step(*operands: np.ndarray) -> list[np.ndarray]:
    """The operands without dimensions of size 1, which do not count if the shapes are not alike."""
    if len({each.shape for each in operands if each.ndim}) > 1:
        operands = tuple([each.squeeze() for each in operands])
        broadcast_shapes(*[each.shape for each in operands])
    return [widen(each) for each in operands]


def _of_input(values: np.ndarray, input: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """What was computed for each element of the input, which is the beginning if the operands were larger, weighted."""
    if values.shape != input.shape:
        values = values.reshape(-1)[: input.size].reshape(input.shape)
    if weight is None:
        return values
    if weight.shape != input.shape:
        check_inplace_shape(input, broadcast_shapes(input.shape, weight.shape))
    check_result_dtype(common_dtype(input, weight), input.dtype)
    return np.asarray(values * widen(weight), values.dtype)


def binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction):
    checks.expect_float(input, "log_sigmoid_cpu")
    _check_logits(input, target, weight, pos_weight)
    losses = quiet(_logit_losses, widen(input), widen(target), widen(weight), widen(pos_weight))
    if reduction == NONE:
        result = empty_like(target)
        np.copyto(result, losses, casting="unsafe")
        return result
    return quiet(_finish, losses, reduction, target, None)


def _logit_losses(x: np.ndarray, y: np.ndarray, weight: np.ndarray | None, pos_weight: np.ndarray | None) -> np.ndarray:
    losses = np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0)  # -log(sigmoid(x)) without overflow
    if pos_weight is not None:
        losses = losses * ((pos_weight - 1) * y + 1)
    losses = (1 - y) * x + losses
    return losses if weight is None else losses * weight


def _check_logits(
    input: np.ndarray, target: np.ndarray, weight: np.ndarray | None, pos_weight: np.ndarray | None
) -> None:
    """The result has the shape and the dtype of the target, whatever the other operands are."""
    if target.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if pos_weight is not None:
        check_inplace_shape(input, broadcast_shapes(input.shape, pos_weight.shape, target.shape))
    check_inplace_shape(target, broadcast_shapes(target.shape, input.shape))
    check_result_dtype(input.dtype, target.dtype)
    if weight is not None:
        check_inplace_shape(target, broadcast_shapes(target.shape, weight.shape))


def _check_same_dtype(input: np.ndarray, *others: np.ndarray | None) -> None:
    for other in others:
        if other is not None and other.dtype != input.dtype:
            expected, found = checks.scalar_name(input), checks.scalar_name(other)
            raise RuntimeError(f"Found dtype {found} but expected {expected}")


def _check_probabilities(array: np.ndarray, name: str) -> None:
    if array.size and not quiet(_are_probabilities, array):
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def _are_probabilities(array: np.ndarray) -> bool:
    return smallest(array) >= 0 and largest(array) <= 1  # of which NaN is none


# -------------------- shared --------------------


def _result_like(input: np.ndarray, target: np.ndarray) -> np.ndarray:
    return np.empty(0, _promoted(input, target))


def _promoted(input: np.ndarray, target: np.ndarray) -> np.dtype:
    """The floating-point dtype of the two; a 0-d operand does not widen one with dimensions."""
    if input.dtype == target.dtype:
        return input.dtype
    if not (checks.is_float(input) and checks.is_float(target)):
        return input.dtype if checks.is_float(input) else target.dtype
    if bool(input.ndim) != bool(target.ndim):
        return input.dtype if input.ndim else target.dtype
    if input.dtype.itemsize == target.dtype.itemsize:
        return np.dtype(np.float32)  # float16 with bfloat16
    return max(input.dtype, target.dtype, key=lambda dtype: dtype.itemsize)


def _check_operands(input: np.ndarray, target: np.ndarray, kernel: str, out: np.ndarray | None) -> None:
    if out is not None:
        check_result_dtype(_promoted(input, target), out.dtype)
    if "c" in (input.dtype.kind, target.dtype.kind):
        raise checks.not_implemented(kernel, np.empty(0, common_dtype(input, target)))
    if not (checks.is_float(input) or checks.is_float(target)):
        raise checks.not_implemented(kernel, input)


def _difference(input: np.ndarray, target: np.ndarray) -> np.ndarray:
    dtype = widen(_result_like(input, target)).dtype
    out = new_array(*result_layout((input, target), _promoted(input, target)), dtype)
    wide = [each if each.dtype == dtype else converted(each, dtype) for each in (input, target)]
    return quiet(np.subtract, *wide, out=out)


def _square(array: np.ndarray) -> np.ndarray:
    return np.multiply(array, array, out=array) if array.ndim else array * array


def _mean_factor(factor: float, count: int, reduction: int) -> float:
    return factor / count if reduction == MEAN and count else factor


def _finish(losses: np.ndarray, reduction: int, like: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """The losses reduced; the mean of nothing is NaN."""
    if reduction == SUM:
        losses = _total(losses)
    elif reduction == MEAN:
        losses = np.divide(_total(losses), losses.size, dtype=losses.dtype)
    return deliver_cast(np.asarray(losses), like, out)
