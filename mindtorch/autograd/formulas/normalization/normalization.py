"""Formulas of batch and layer normalization."""

import math

from mindtorch.autograd.formulas.common import channel_dims, is_traced, sum_of, sum_of_given
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.tangents import without_forward_ad


def batch_norm_grads(grad, input, weight, running_mean, running_var, mean, rstd, training, eps, mask):
    """Gradients of native_batch_norm."""
    return ops.native_batch_norm_backward(
        grad, input, weight, running_mean, running_var, mean, rstd, training, eps, mask
    )


def layer_norm_grads(grad, input, normalized_shape, mean, rstd, weight, bias, mask):
    """Gradients of native_layer_norm."""
    return ops.native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, mask)


def _per_channel(vector, ndim):
    """A vector of channel values in a shape that broadcasts over dim 1."""
    return None if vector is None else vector.reshape([1, -1] + [1] * (ndim - 2))


def _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps):
    if training:
        mean, rstd = _per_channel(mean, input.ndim), _per_channel(rstd, input.ndim)
        return statistics_with_history(input, mean, rstd, channel_dims(input))
    return _per_channel(running_mean, input.ndim), _per_channel((running_var + eps).rsqrt(), input.ndim)


def sum_leading(tensor, normalized_shape):
    """The sum over the dims in front of those that are normalized."""
    dims = list(range(tensor.ndim - len(normalized_shape)))
    return tensor.sum(dims) if dims else tensor


def _normalized_jvp(normalized, tangent, rstd, dims):
    """Tangent of (x - mean) * rstd when mean and rstd are computed from x over dims."""
    centred = tangent - tangent.mean(dims, True)
    return rstd * (centred - normalized * (normalized * tangent).mean(dims, True))


def batch_norm_jvp(input, input_t, weight, weight_t, bias_t, running_mean, running_var, mean, rstd, training, eps):
    """Tangent of batch normalization."""
    mean, rstd = _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps)
    normalized, dims = (input - mean) * rstd, channel_dims(input)
    tangent = _normalized_jvp(normalized, input_t, rstd, dims) if training else input_t * rstd
    return _affine_jvp(normalized, tangent, *(_per_channel(v, input.ndim) for v in (weight, weight_t, bias_t)))


def layer_norm_jvp(input, input_t, weight, weight_t, bias_t, mean, rstd, normalized_shape):
    """Tangent of layer normalization."""
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    mean, rstd = statistics_with_history(input, mean, rstd, dims)
    normalized = (input - mean) * rstd
    return _affine_jvp(normalized, _normalized_jvp(normalized, input_t, rstd, dims), weight, weight_t, bias_t)


def batch_norm_input_grad_jvp(
    grad_out, grad_out_t, input, input_t, weight, weight_t, running_mean, running_var, mean, rstd, training, eps
):
    """Tangent of the input's gradient in batch normalization."""
    mean, rstd = _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps)
    weight, weight_t = (_per_channel(vector, input.ndim) for vector in (weight, weight_t))
    scaled, scaled_t = _scaled(grad_out, weight), _scaled_jvp(grad_out, grad_out_t, weight, weight_t)
    if not training:
        return scaled_t * rstd
    return _normalization_backward_jvp(scaled, scaled_t, (input - mean) * rstd, input_t, rstd, channel_dims(input))


def batch_norm_weight_grad_jvp(
    grad_out, grad_out_t, input, input_t, running_mean, running_var, mean, rstd, training, eps
):
    """Tangent of the weight's gradient in batch normalization."""
    mean, rstd = _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps)
    normalized, dims = (input - mean) * rstd, channel_dims(input)
    tangent = _normalized_jvp(normalized, input_t, rstd, dims) if training else input_t * rstd
    return (grad_out_t * normalized + grad_out * tangent).sum(dims)


def layer_norm_input_grad_jvp(grad_out, grad_out_t, input, input_t, weight, weight_t, mean, rstd, normalized_shape):
    """Tangent of the input's gradient in layer normalization."""
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    mean, rstd = statistics_with_history(input, mean, rstd, dims)
    scaled, scaled_t = _scaled(grad_out, weight), _scaled_jvp(grad_out, grad_out_t, weight, weight_t)
    return _normalization_backward_jvp(scaled, scaled_t, (input - mean) * rstd, input_t, rstd, dims)


def layer_norm_weight_grad_jvp(grad_out, grad_out_t, input, input_t, mean, rstd, normalized_shape):
    """Tangent of the weight's gradient in layer normalization."""
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    mean, rstd = statistics_with_history(input, mean, rstd, dims)
    normalized = (input - mean) * rstd
    tangent = _normalized_jvp(normalized, input_t, rstd, dims)
    return sum_leading(grad_out_t * normalized + grad_out * tangent, normalized_shape)


def _scaled(grad_out, weight):
    return grad_out if weight is None else grad_out * weight


def _scaled_jvp(grad_out, grad_out_t, weight, weight_t):
    return grad_out_t if weight is None else grad_out_t * weight + grad_out * weight_t


def _normalization_backward_jvp(scaled, scaled_t, normalized, input_t, rstd, dims):
    """Tangent of rstd * P(scaled), the first backward pass of Note [Normalization twice], by the product rule."""
    normalized_t = _normalized_jvp(normalized, input_t, rstd, dims)
    rstd_t = -rstd * rstd * (normalized * input_t).mean(dims, True)
    projected_t = (
        _project(scaled_t, normalized, dims)
        - normalized_t * (scaled * normalized).mean(dims, True)
        - normalized * (scaled * normalized_t).mean(dims, True)
    )
    return rstd_t * _project(scaled, normalized, dims) + rstd * projected_t


def _affine_jvp(normalized, tangent, weight, weight_t, bias_t):
    result = tangent if weight is None else tangent * weight
    if weight_t is not None:
        result = result + normalized * weight_t
    return result if bias_t is None else result + bias_t


def batch_norm_double_backward(
    grad_input, grad_weight, grad_bias, grad_out, input, weight, running_mean, running_var, mean, rstd, training, eps
):
    """Gradients of native_batch_norm_backward with respect to grad_out, input and weight."""
    mean, rstd = _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps)
    dims = channel_dims(input)
    incoming = (grad_input, _per_channel(grad_weight, input.ndim), _per_channel(grad_bias, input.ndim))
    rule = _normalization_double_backward if training else _fixed_normalization_double_backward
    out_part, input_part, weight_part = rule(
        *incoming, grad_out, (input - mean) * rstd, rstd, _per_channel(weight, input.ndim), dims
    )
    if weight is not None and weight_part is not None:
        weight_part = weight_part.sum(dims)
    return out_part, input_part, weight_part


def layer_norm_double_backward(
    grad_input, grad_weight, grad_bias, grad_out, input, weight, mean, rstd, normalized_shape
):
    """Gradients of native_layer_norm_backward with respect to grad_out, input and weight."""
    first = input.ndim - len(normalized_shape)
    dims = list(range(first, input.ndim))
    mean, rstd = statistics_with_history(input, mean, rstd, dims)
    out_part, input_part, weight_part = _normalization_double_backward(
        grad_input, grad_weight, grad_bias, grad_out, (input - mean) * rstd, rstd, weight, dims
    )
    if weight is not None and weight_part is not None and first:
        weight_part = weight_part.sum(list(range(first)))
    return out_part, input_part, weight_part


def statistics_with_history(input, mean, rstd, dims):
    """The saved statistics as functions of the input, if the formula that uses them is differentiated."""
    if not is_traced(input):
        return mean, rstd
    with without_forward_ad():
        eps = (1 / (rstd * rstd) - _variance(input, mean, dims)).detach()
    mean = input.mean(dims, True)
    return mean, (_variance(input, mean, dims) + eps).rsqrt()


def _variance(input, mean, dims):
    return (input - mean).square().mean(dims, True)


def _normalization_double_backward(grad_input, grad_weight, grad_bias, grad_out, normalized, rstd, weight, dims):
    """Second derivatives of x -> (x - mean) * rstd * weight + bias; see Note [Normalization twice].

    Note [Normalization twice]: the backward pass gives rstd * P(g w), sum(g x^) and sum(g), where x^ is the normalized
    input and P(v) = v - mean(v) - x^ mean(v x^). Written as a scalar, with G, W and B for the gradients that come in,
    it is rstd <G, P(g w)> + <W g, x^> + <B, g>. Its derivatives with respect to g, w, x^ and rstd follow by the product
    rule (P is symmetric), and those of x^ and rstd with respect to x are the first backward pass again.
    """
    scaled = grad_out if weight is None else grad_out * weight
    out_terms, normalized_slope, rstd_slope, weight_part = [], None, None, None
    if grad_input is not None:
        projected = _project(grad_input, normalized, dims) * rstd
        out_terms.append(projected if weight is None else projected * weight)
        weight_part = None if weight is None else grad_out * projected
        with_grad = (scaled * normalized).mean(dims, True)
        with_incoming = (grad_input * normalized).mean(dims, True)
        normalized_slope = -rstd * (grad_input * with_grad + scaled * with_incoming)
        rstd_slope = (scaled * _project(grad_input, normalized, dims)).sum(dims, True)
    if grad_weight is not None:
        out_terms.append(grad_weight * normalized)
        normalized_slope = sum_of([t for t in (normalized_slope, grad_weight * grad_out) if t is not None])
    if grad_bias is not None:
        out_terms.append(grad_bias.expand(grad_out.shape))
    input_part = None
    if normalized_slope is not None:
        input_part = rstd * _project(normalized_slope, normalized, dims)
    if rstd_slope is not None:
        count = math.prod(normalized.shape[dim] for dim in dims)
        input_part = input_part - rstd * rstd * normalized * rstd_slope / count
    return sum_of(out_terms), input_part, weight_part


def _project(value, normalized, dims):
    """Take away from value what a normalization over dims cannot see: its mean and its part along the input."""
    return value - value.mean(dims, True) - normalized * (value * normalized).mean(dims, True)


def _fixed_normalization_double_backward(grad_input, grad_weight, grad_bias, grad_out, normalized, rstd, weight, dims):
    """As _normalization_double_backward when mean and rstd are constants."""
    out_terms, weight_part, input_part = [], None, None
    if grad_input is not None:
        scaled = grad_input * rstd
        out_terms.append(scaled if weight is None else scaled * weight)
        weight_part = None if weight is None else scaled * grad_out
    if grad_weight is not None:
        out_terms.append(grad_weight * normalized)
        input_part = grad_weight * grad_out * rstd
    if grad_bias is not None:
        out_terms.append(grad_bias.expand(grad_out.shape))
    return sum_of(out_terms), input_part, weight_part


# -------------------- groups --------------------


def group_norm_grads(grad, mean_grad, rstd_grad, input, mean, rstd, weight, N, C, HxW, group, mask):
    """Gradients of native_group_norm; those of the statistics are rarely there."""
    grads = [None, None, None]
    if grad is not None:
        grads = list(ops.native_group_norm_backward(grad, input, mean, rstd, weight, N, C, HxW, group, mask))
    if mask[0] and not mean_grad is rstd_grad is None:
        rows = input.reshape(N, group, C // group * HxW)
        extra = _group_statistics_backward(mean_grad, rstd_grad, rows, mean.unsqueeze(2), rstd.unsqueeze(2))
        grads[0] = sum_of_given(grads[0], extra.reshape(input.shape))
    return tuple(grads)


def _group_statistics_backward(mean_grad, rstd_grad, rows, mean, rstd):
    size = rows.shape[2]
    grads = []
    if mean_grad is not None:
        grads.append((mean_grad.unsqueeze(2) / size).expand(rows.shape))
    if rstd_grad is not None:
        grads.append(rstd_grad.unsqueeze(2) * rstd.pow(3) * (mean - rows) / size)
    return sum_of(grads)
