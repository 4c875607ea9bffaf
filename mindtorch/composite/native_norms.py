"""The normalizations that other layers are made of, each with the statistics that it has used."""

from __future__ import annotations

from mindtorch.composite.normalization import check_groups, expect_float
from mindtorch.dispatch import ops
from mindtorch.dtype import float32
from mindtorch.geometry import suggested_format
from mindtorch.memory_format import contiguous_format
from mindtorch.tensor import Tensor

# -------------------- groups --------------------


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """The result, and for each group of channels of an image the mean and the reciprocal of the deviation."""
    check_groups(input, group, weight, bias)
    expect_float(input, "GroupNormKernelImpl")
    _check_dtypes(input, weight, bias)
    if not input.numel():
        return input.clone(), input.new_zeros((N, group)), input.new_zeros((N, group))
    wide = [each.to(float32) if _is_short(each) else each for each in (input, weight, bias)]  # rounded once, at the end
    result, mean, rstd = _normalized_groups(*wide, group, eps)
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
    result = ops._unsafe_view(normal, input.shape)
    if (form := suggested_format(input._array)) is not contiguous_format:
        result = result.to(memory_format=form)
    shape = _by_channel(input)
    result = result if weight is None else result * weight.reshape(shape)
    result = result if bias is None else result + bias.reshape(shape)
    return result, mean.squeeze(2), rstd.squeeze(2)


def native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask):
    """The gradients of the input, the weight and the bias, as far as they are wanted."""
    wants_input, wants_weight, wants_bias = output_mask
    rows = input.reshape(N, group, -1)
    statistics = mean.unsqueeze(2), rstd.unsqueeze(2)
    by_channel = [dim for dim in range(input.ndim) if dim != 1]
    input_grad = weight_grad = None
    if wants_input:
        scaled = grad_out if weight is None else grad_out * weight.reshape(_by_channel(input))
        grad = ops.native_layer_norm_backward(
            scaled.reshape(rows.shape), rows, (rows.shape[2],), *statistics, None, None, [True, False, False]
        )[0]
        input_grad = grad.reshape(input.shape)
    if wants_weight:
        normal = (rows - statistics[0]) * statistics[1]
        weight_grad = (grad_out * normal.reshape(input.shape)).sum(by_channel)
    return input_grad, weight_grad, grad_out.sum(by_channel) if wants_bias else None


def _by_channel(input: Tensor) -> tuple[int, ...]:
    """The shape in which a number for each channel broadcasts."""
    return (input.shape[1],) + (1,) * (input.ndim - 2)


# -------------------- batches --------------------


def native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, momentum, eps):
    return ops.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def native_batch_norm_legit_no_stats(input, weight, bias, training, momentum, eps):
    return ops.native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


def native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps):
    return ops.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


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
