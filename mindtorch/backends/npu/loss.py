"""Losses on the NPU by hand: the weights that ACLNN asks for, and CTC, whose arguments it does not all take."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.promotion import DOUBLE, FLOAT, INT32, INT64, UINT8, common_dtype
from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.chip import is_younger
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import (
    aclnn,
    check_same_device,
    copied,
    delivered,
    delivered_all,
    placed,
    placed_all,
    remembered,
)
from mindtorch.backends.npu.steps import FLOATS, converted, in_one_dim, like, narrowed, ones, zeroed
from mindtorch.iterator import check_inplace_shape

_ctc = aclnn("aclnnCtcLoss", "TTIIlbTT")
_ctc_backward = aclnn("aclnnCtcLossBackward", "TTTIITTlbT")
_logits = aclnn("aclnnBinaryCrossEntropyWithLogits", "TTTTlT")
_nll = aclnn("aclnnNLLLoss", "TTTllTT")
_nll2d = aclnn("aclnnNLLLoss2d", "TTTllTT")
_nll2d_backward = aclnn("aclnnNLLLoss2dBackward", "TTTTllTT")
_nll_backward = aclnn("aclnnNLLLossBackward", "TTTTllTT")
_logits_rule = rules.loss_like_target("default")
_nll2d_rule = remembered(rules.nll_loss2d("first"), "nll_loss2d_forward")
_nll_rule = remembered(rules.nll_loss("first"), "nll_loss_forward")

_NONE = 0


# -------------------- negative log likelihood --------------------


def _takes(input: NpuArray, target: NpuArray, weight: NpuArray | None, ranks: Sequence[int]) -> bool:
    """If not, the CPU's kernel computes it, or says what is wrong."""
    if input.ndim not in ranks or input.dtype not in FLOATS or target.dtype not in (INT64, UINT8) or not input.size:
        return False
    at = _dim_of_classes(input)
    if target.shape != input.shape[:at] + input.shape[at + 1 :]:
        return False
    return weight is None or weight.shape == (input.shape[at],) and weight.dtype == input.dtype


def _dim_of_classes(input: NpuArray) -> int:
    return 0 if input.ndim == 1 else 1


def _weights(input: NpuArray, weight: NpuArray | None) -> NpuArray:
    """ACLNN wants a weight for each class."""
    return ones((input.shape[_dim_of_classes(input)],), input.dtype, input.root.index) if weight is None else weight


def _shown(array: NpuArray) -> NpuArray:
    """What is reduced has one dimension there."""
    return array if array.ndim else in_one_dim(array)


def _forward(op: str, call: Callable, rule: Callable, ranks: Sequence[int]) -> Callable:
    on_cpu = kernel_for(op)

    def kernel(
        input: NpuArray, target: NpuArray, weight: NpuArray | None, reduction: int, ignore_index: int, out: Any = None
    ) -> tuple[NpuArray, ...]:
        if not _takes(input, target, weight, ranks):
            return on_cpu(input, target, weight, reduction, ignore_index, out=out)
        results = placed_all(rule(input, target, weight, reduction, ignore_index, out=out), input)
        loss, total = results
        call(input, target, _weights(input, weight), reduction, ignore_index, _shown(loss), in_one_dim(total))
        if reduction == _NONE:
            zeroed(total)
        return results if out is None else delivered_all(results, out)

    return kernel


def _backward(op: str, call: Callable, ranks: Sequence[int]) -> Callable:
    on_cpu, rule = kernel_for(op), remembered(rules.like_second("first"), op)

    def kernel(
        grad_output: NpuArray,
        input: NpuArray,
        target: NpuArray,
        weight: NpuArray | None,
        reduction: int,
        ignore_index: int,
        total_weight: NpuArray,
        out: Any = None,
    ) -> NpuArray:
        shape = target.shape if reduction == _NONE else ()
        fits = grad_output.dtype == input.dtype and grad_output.shape == shape and total_weight.size == 1
        if not fits or not _takes(input, target, weight, ranks):
            return on_cpu(grad_output, input, target, weight, reduction, ignore_index, total_weight, out=out)
        shaped = rule(grad_output, input, target, weight, reduction, ignore_index, total_weight, out=out)
        result = placed(shaped, input)
        given = (_shown(grad_output), input, target, _weights(input, weight))
        call(*given, reduction, ignore_index, in_one_dim(total_weight), result)
        return result if out is None else delivered(result, out)

    return kernel


nll_loss_forward = _forward("nll_loss_forward", _nll, _nll_rule, (1, 2))
nll_loss_backward = _backward("nll_loss_backward", _nll_backward, (1, 2))
nll_loss2d_forward = _forward("nll_loss2d_forward", _nll2d, _nll2d_rule, (4,))
nll_loss2d_backward = _backward("nll_loss2d_backward", _nll2d_backward, (4,))


# -------------------- binary cross entropy --------------------


def binary_cross_entropy_with_logits(
    input: NpuArray, target: NpuArray, weight: NpuArray | None, pos_weight: NpuArray | None, reduction: int
) -> NpuArray:
    """ACLNN wants logits and targets of one shape and dtype, torch broadcasts and converts them."""
    result = placed(_logits_rule(input, target, weight, pos_weight, reduction), input)
    dtype = common_dtype(*[each for each in (input, target, weight, pos_weight) if each is not None])
    room = result if result.dtype == dtype else like(result, dtype)
    if input.shape != target.shape:
        check_inplace_shape(target, np.broadcast_shapes(input.shape, target.shape))
        input = copied(like(target, input.dtype), input)
    _logits(*[converted(each, dtype) for each in (input, target, weight, pos_weight)], reduction, room)
    return copied(result, room)


# -------------------- CTC --------------------

_ctc_on_cpu = kernel_for("_ctc_loss")
_ctc_backward_on_cpu = kernel_for("_ctc_loss_backward")


def _takes_sequences(
    log_probs: NpuArray, targets: NpuArray, input_lengths: Sequence[int], target_lengths: Sequence[int], blank: int
) -> bool:
    """ACLNN takes no empty sequences, none that is shorter than its target, and no other shapes."""
    if log_probs.ndim != 3 or log_probs.dtype not in (FLOAT, DOUBLE) or targets.dtype not in (INT32, INT64):
        return False
    times, batch, classes = log_probs.shape
    if not len(input_lengths) == len(target_lengths) == batch > 0 or not 0 <= blank < classes:
        return False
    if not all([1 <= own <= other <= times for own, other in zip(target_lengths, input_lengths)]):
        return False
    if targets.ndim == 1:
        return targets.size == sum(target_lengths)
    return targets.ndim == 2 and targets.shape[0] == batch and targets.shape[1] >= max(target_lengths)


def ctc_loss(
    log_probs: NpuArray,
    targets: NpuArray,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> tuple[NpuArray, ...]:
    """ACLNN's `zeroInfinity` changes the losses, torch's only the gradient: it is left to the backward."""
    check_same_device("_ctc_loss", log_probs, targets)
    if not _takes_sequences(log_probs, targets, input_lengths, target_lengths, blank):
        return _ctc_on_cpu(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
    times, batch, _ = log_probs.shape
    states = 2 * max(target_lengths) + 1
    losses = like(log_probs, shape=(batch,))
    width = states if is_younger(log_probs.root.index) else (states + 7) // 8 * 8
    room = like(log_probs, shape=(batch, times, width))
    _ctc(log_probs, targets, input_lengths, target_lengths, blank, False, losses, room)
    alpha = like(log_probs, shape=(batch, times, states))
    return losses, copied(alpha, narrowed(room, 2, 0, states))


def ctc_loss_backward(
    grad: NpuArray,
    log_probs: NpuArray,
    targets: NpuArray,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    neg_log_likelihood: NpuArray,
    log_alpha: NpuArray,
    blank: int,
    zero_infinity: bool,
) -> NpuArray:
    given = (grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha)
    check_same_device("_ctc_loss_backward", *given)
    if not _takes_sequences(log_probs, targets, input_lengths, target_lengths, blank) or not _fits(*given):
        return _ctc_backward_on_cpu(*given, blank, zero_infinity)
    result = like(log_probs)
    _ctc_backward(*given, blank, zero_infinity, result)
    return result


def _fits(
    grad: NpuArray, log_probs: NpuArray, _targets: Any, _lengths: Any, target_lengths: Sequence[int], *saved: NpuArray
) -> bool:
    times, batch, _ = log_probs.shape
    losses, alpha = saved
    if not grad.dtype == losses.dtype == alpha.dtype == log_probs.dtype:
        return False
    return grad.shape == losses.shape == (batch,) and alpha.shape == (batch, times, 2 * max(target_lengths) + 1)


# -------------------- the same with lengths in tensors --------------------

_tensors_on_cpu = kernel_for("_ctc_loss.Tensor")
_tensors_backward_on_cpu = kernel_for("_ctc_loss_backward.Tensor")


def ctc_loss_tensor(
    log_probs: NpuArray,
    targets: NpuArray,
    input_lengths: NpuArray,
    target_lengths: NpuArray,
    blank: int,
    zero_infinity: bool,
) -> tuple[NpuArray, ...]:
    check_same_device("_ctc_loss.Tensor", log_probs, targets, input_lengths, target_lengths)
    if not _are_integral(input_lengths, target_lengths):
        return _tensors_on_cpu(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
    return ctc_loss(log_probs, targets, _numbers(input_lengths), _numbers(target_lengths), blank, zero_infinity)


def ctc_loss_backward_tensor(
    grad: NpuArray,
    log_probs: NpuArray,
    targets: NpuArray,
    input_lengths: NpuArray,
    target_lengths: NpuArray,
    neg_log_likelihood: NpuArray,
    log_alpha: NpuArray,
    blank: int,
    zero_infinity: bool,
) -> NpuArray:
    saved = (neg_log_likelihood, log_alpha, blank, zero_infinity)
    check_same_device("_ctc_loss_backward.Tensor", grad, log_probs, targets, input_lengths, target_lengths, *saved)
    if not _are_integral(input_lengths, target_lengths):
        return _tensors_backward_on_cpu(grad, log_probs, targets, input_lengths, target_lengths, *saved)
    inputs, labels = _numbers(input_lengths), _numbers(target_lengths)
    return ctc_loss_backward(grad, log_probs, targets, inputs, labels, *saved)


def _are_integral(*lengths: Any) -> bool:
    return all([each.dtype.kind in "iu" for each in lengths])


def _numbers(lengths: Any) -> list[int]:
    """The lengths on the host, which waits for them."""
    on_host = lengths.to_numpy() if type(lengths) is NpuArray else lengths
    return on_host.ravel().tolist()
