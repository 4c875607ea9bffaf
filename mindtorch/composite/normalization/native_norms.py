"""The normalizations that other layers are made of, each with the statistics that it has used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mindtorch._core import state
from mindtorch._core.dtype import float32, uint8
from mindtorch._core.fast_path import has_bare_array
from mindtorch._core.geometry import suggested_format
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.strided import laid_out
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support.float_errors import quiet
from mindtorch.autograd.formulas.normalization.normalization import statistics_with_history
from mindtorch.backends import image_layout
from mindtorch.composite.normalization.normalization import check_groups, expect_float
from mindtorch.dispatch import ops
from mindtorch.dispatch.registry import kernels_in

_norms = kernels_in("mindtorch.backends.cpu.normalization.normalization")
_sums = kernels_in("mindtorch.backends.cpu.common.summing")

# -------------------- groups --------------------


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """The result, and for each group of channels of an image the mean and the reciprocal of the deviation."""
    check_groups(input, group, weight, bias)
    _check_dtypes(input, weight, bias)
    expect_float(input, "GroupNormKernelImpl")
    if not input.numel():
        return _affine(input.clone(), weight, bias), input.new_zeros((N, group)), input.new_zeros((N, group))
    wide = [each.to(float32) if _is_short(each) else each for each in (input, weight, bias)]  # rounded once, at the end
    normalize = _normalized_arrays if has_bare_array(input) else _normalized_groups
    result, mean, rstd = normalize(*wide, group, eps)
    return result.to(input.dtype), mean.to(input.dtype), rstd.to(input.dtype)


def _check_dtypes(input: Tensor, *parameters: Tensor | None) -> None:
    dtypes = (input.dtype, float32) if _is_short(input) else (input.dtype,)
    for each in parameters:
        if each is not None and each.dtype not in dtypes:
            rule = "all inputs must share same datatype."
            reason = rule if each.dtype is float32 else "expect parameter to have scalar type of Float"
            raise RuntimeError(f"mixed dtype (CPU): {reason}")


def _is_short(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.element_size() == 2


def _normalized_groups(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    rows = input.reshape(input.shape[0], group, -1)
    normal, mean, rstd = ops.native_layer_norm(rows, (rows.shape[2],), None, None, eps)
    mean, rstd = statistics_with_history(rows, mean, rstd, [2])
    result = ops._unsafe_view(normal, input.shape)
    if (form := suggested_format(input._mt_array)) is not contiguous_format:
        result = result.to(memory_format=form)
    return _affine(result, weight, bias), mean.squeeze(2), rstd.squeeze(2)


def _affine(result: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    shape = _by_channel(result)
    result = result if weight is None else result * weight.reshape(shape)
    return result if bias is None else result + bias.reshape(shape)


def _normalized_arrays(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Fast version for when no mode is active."""
    array, shape = input._mt_array, _by_channel(input)
    factors = [None if each is None else each._mt_array.reshape(shape) for each in (weight, bias)]
    result, mean, rstd = quiet(_scaled_groups, array.reshape(len(array) * group, -1), array.shape, *factors, eps)
    statistics = len(array), group
    result = laid_out(result, image_layout.following(array, array.shape))
    return wrap(result), *[wrap(each.reshape(-1).reshape(statistics)) for each in (mean, rstd)]


def _scaled_groups(
    rows: np.ndarray, shape: tuple[int, ...], weight: np.ndarray | None, bias: np.ndarray | None, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    normal, mean, rstd = _norms.normalize_rows(rows, None, None, eps)
    result = normal.reshape(shape)
    if weight is not None:
        result *= weight
    if bias is not None:
        result += bias
    return result, mean, rstd


def native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask):
    """The gradients of the input, the weight and the bias, as far as they are wanted."""
    if has_bare_array(input) and not state.thread.grad_enabled and not _is_short(input) and input.numel():
        return _array_gradients(grad_out, input, mean, rstd, weight, group, output_mask)
    wants_input, wants_weight, wants_bias = output_mask
    rows = input.reshape(N, group, C // group * HxW)
    statistics = mean.unsqueeze(2), rstd.unsqueeze(2)
    by_channel = [dim for dim in range(input.ndim) if dim != 1]
    input_grad = weight_grad = None
    if wants_input:
        scaled = grad_out if weight is None else grad_out * weight.reshape(_by_channel(input))
        fixed = [statistic.detach() for statistic in statistics]  # the formula knows how they depend on the input
        # All in the dtype of the statistics, which is that of the weight: it may be wider than that of the input.
        given = scaled.reshape(rows.shape).to(mean.dtype), rows.to(mean.dtype)
        grad = ops.native_layer_norm_backward(*given, (rows.shape[2],), *fixed, None, None, [True, False, False])[0]
        input_grad = grad.reshape(input.shape).to(input.dtype)
    if wants_weight:
        normal = (rows - statistics[0]) * statistics[1]
        weight_grad = (grad_out * normal.reshape(input.shape)).sum(by_channel)
    return input_grad, weight_grad, grad_out.sum(by_channel) if wants_bias else None


def _array_gradients(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """Fast version for when no mode is active."""
    arrays = [each._mt_array for each in (grad_out, input, mean, rstd)]
    factor = None if weight is None else weight._mt_array.reshape(_by_channel(input))
    grads = quiet(_group_gradients, *arrays, factor, group, output_mask)
    return tuple([None if grad is None else wrap(grad) for grad in grads])


def _group_gradients(
    grad: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    weight: np.ndarray | None,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[np.ndarray | None, ...]:
    rows = x.reshape(len(x) * group, -1)
    statistics = mean.reshape(-1, 1), rstd.reshape(-1, 1)
    by_channel = tuple([dim for dim in range(x.ndim) if dim != 1])
    input_grad = weight_grad = None
    if output_mask[0]:
        scaled = (grad if weight is None else grad * weight).reshape(rows.shape)
        input_grad = _norms.row_gradients(scaled, rows, *statistics, None, [True, False, False])[0].reshape(x.shape)
    if output_mask[1]:
        normal = (rows - statistics[0]) * statistics[1]
        weight_grad = _sums.add_up(grad * normal.reshape(x.shape), by_channel)
    return input_grad, weight_grad, _sums.add_up(grad, by_channel) if output_mask[2] else None


def _by_channel(input: Tensor) -> tuple[int, ...]:
    """The shape in which a number for each channel broadcasts."""
    shape = input._mt_array.shape
    return (shape[1],) + (1,) * (len(shape) - 2)


# -------------------- batches --------------------


def batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    results = ops.native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *results, ops.empty((0,), dtype=uint8, device=input.device)  # where cuDNN keeps what it needs


# -------------------- norms of slices --------------------


def norm_except_dim(v, pow=2, dim=0):
    """The norms over all dimensions but one, which keep their places; over all of them for -1."""
    if dim == -1:
        return ops.norm(v, pow)
    if dim not in (0, v.ndim - 1):
        return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)
    is_first = dim == 0
    shape = [v.shape[dim] if each == dim else 1 for each in range(v.ndim)]
    slices = v.contiguous().view((v.shape[0], -1) if is_first else (-1, v.shape[-1]))
    return ops.norm(slices, pow, (int(is_first),)).view(shape)
