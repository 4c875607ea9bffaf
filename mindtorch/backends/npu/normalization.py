"""Batch normalization on the NPU by hand. Of a batch A2 and A3 save the variance, torch the reciprocal deviation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.chip import is_younger
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, delivered_all, placed_all, remembered
from mindtorch.backends.npu.steps import FLOATS, converted, like

_add_number = aclnn("aclnnAdds", "TSST")
_batch_norm = aclnn("aclnnBatchNorm", "TTTTTbggTTT")
_batch_norm_backward = aclnn("aclnnBatchNormBackward", "TTTTTTTbgBTTT")
_power = aclnn("aclnnPowTensorScalar", "TST")
_reciprocal_root = aclnn("aclnnRsqrt", "TT")
_backward_rule = remembered(rules.batch_norm_backward("first"), "native_batch_norm_backward")
_rule = remembered(rules.batch_norm("first"), "native_batch_norm")

_forward_on_cpu = kernel_for("native_batch_norm")
_backward_on_cpu = kernel_for("native_batch_norm_backward")


def native_batch_norm(
    input: NpuArray,
    weight: NpuArray | None,
    bias: NpuArray | None,
    running_mean: NpuArray | None,
    running_var: NpuArray | None,
    training: bool,
    momentum: float,
    eps: float,
    out: Any = None,
) -> tuple[NpuArray, ...]:
    if not _takes(input, weight, bias, running_mean, running_var):
        return _forward_on_cpu(input, weight, bias, running_mean, running_var, training, momentum, eps, out=out)
    shaped = _rule(input, weight, bias, running_mean, running_var, training, momentum, eps, out=out)
    kind = next((each.dtype for each in (weight, running_mean) if each is not None), input.dtype)
    result, mean, invstd = placed_all(shaped, input)
    mean, invstd = [each if each.dtype == kind else like(each, kind) for each in (mean, invstd)]
    _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, result, mean, invstd)
    if training and not is_younger(input.root.index):
        _reciprocal_deviation(invstd, eps)
    results = (result, mean, invstd)
    return results if out is None else delivered_all(results, out)


def _takes(input: NpuArray, *parameters: Any) -> bool:
    """If not, the CPU's kernel computes it, or says what is wrong."""
    if not 2 <= input.ndim <= 8 or not input.size or input.dtype not in FLOATS:
        return False
    given = [each for each in parameters if each is not None]
    if len({each.dtype for each in given}) > 1 or any([each.shape != input.shape[1:2] for each in given]):
        return False
    return all([each.dtype in (input.dtype, np.float32) for each in given])


def _reciprocal_deviation(variance: NpuArray, eps: float) -> None:
    """In its place."""
    _add_number(variance, eps, 1, variance)
    _reciprocal_root(variance, variance)


def _variance(invstd: NpuArray, eps: float) -> NpuArray:
    result = like(invstd)
    _power(invstd, -2, result)
    _add_number(result, -eps, 1, result)
    return result


def native_batch_norm_backward(
    grad_out: NpuArray,
    input: NpuArray,
    weight: NpuArray | None,
    running_mean: NpuArray | None,
    running_var: NpuArray | None,
    save_mean: NpuArray | None,
    save_invstd: NpuArray | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[NpuArray | None, ...]:
    mean, spread = (save_mean, save_invstd) if train else (running_mean, running_var)
    is_right = grad_out.shape == input.shape and grad_out.dtype == input.dtype
    if not is_right or mean is None or spread is None or not _takes(input, weight, mean, spread):
        return _backward_on_cpu(
            grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
        )
    shaped = _backward_rule(
        grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
    )
    if train and not is_younger(input.root.index):
        save_invstd = _variance(spread, eps)
    kind = mean.dtype  # all are of one dtype there: that of the statistics, which may be wider
    of_input, of_weight, of_bias = placed_all(shaped, input)
    grads = [None if each is None else like(each, kind) for each in (of_weight, of_bias)]
    target = of_input if of_input is None or of_input.dtype == kind else like(of_input, kind)
    statistics = (None, None, save_mean, save_invstd) if train else (running_mean, running_var, None, None)
    given = [converted(each, kind) for each in (grad_out, input, weight)]
    _batch_norm_backward(*given, *statistics, train, eps, output_mask, target, *grads)
    return None if of_input is None else copied(of_input, target), *grads
