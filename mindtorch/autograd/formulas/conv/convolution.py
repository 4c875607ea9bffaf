"""Formulas of convolutions."""

from mindtorch.autograd.formulas.common import channel_dims, sum_of
from mindtorch.dispatch import ops


def convolution_grads(grad, input, weight, stride, padding, dilation, transposed, output_padding, groups, mask):
    """Gradients of convolution; the bias's shape is the number of output channels."""
    return ops.convolution_backward(
        grad, input, weight, [grad.shape[1]], stride, padding, dilation, transposed, output_padding, groups, mask
    )


def convolution_jvp(
    input, input_t, weight, weight_t, bias_t, stride, padding, dilation, transposed, output_padding, groups
):
    """Tangent of convolution: it is linear in input, weight and bias."""
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    return ops.convolution(input_t, weight, bias_t, *geometry) + ops.convolution(input, weight_t, None, *geometry)


def convolution_double_backward(
    grad_input, grad_weight, grad_bias, grad_output, input, weight,
    stride, padding, dilation, transposed, output_padding, groups, mask,
):  # fmt: skip
    """Gradients of convolution_backward. It is bilinear, so each part is again a convolution or its backward."""
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    output_part = input_part = weight_part = None
    if mask[0]:
        terms = []
        if grad_input is not None:
            terms.append(ops.convolution(grad_input, weight, None, *geometry))
        if grad_weight is not None:
            terms.append(ops.convolution(input, grad_weight, None, *geometry))
        if grad_bias is not None:
            per_channel = [1, -1] + [1] * (grad_output.ndim - 2)
            terms.append(grad_bias.reshape(per_channel).expand(grad_output.shape))
        output_part = sum_of(terms)
    if mask[1] and grad_weight is not None:
        only_input = [True, False, False]
        input_part = ops.convolution_backward(grad_output, input, grad_weight, None, *geometry, only_input)[0]
    if mask[2] and grad_input is not None:
        only_weight = [False, True, False]
        weight_part = ops.convolution_backward(grad_output, grad_input, weight, None, *geometry, only_weight)[1]
    return output_part, input_part, weight_part


def convolution_input_grad_jvp(
    grad_output,
    grad_output_t,
    input,
    weight,
    weight_t,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    mask,
):
    """Tangent of the input's gradient, which is bilinear in grad_output and weight."""
    geometry = (stride, padding, dilation, transposed, output_padding, groups, [True, False, False])
    if not mask[0]:
        return None
    return (
        ops.convolution_backward(grad_output_t, input, weight, None, *geometry)[0]
        + ops.convolution_backward(grad_output, input, weight_t, None, *geometry)[0]
    )


def convolution_weight_grad_jvp(
    grad_output,
    grad_output_t,
    input,
    input_t,
    weight,
    stride,
    padding,
    dilation,
    transposed,
    output_padding,
    groups,
    mask,
):
    """Tangent of the weight's gradient, which is bilinear in grad_output and input."""
    geometry = (stride, padding, dilation, transposed, output_padding, groups, [False, True, False])
    if not mask[1]:
        return None
    return (
        ops.convolution_backward(grad_output_t, input, weight, None, *geometry)[1]
        + ops.convolution_backward(grad_output, input_t, weight, None, *geometry)[1]
    )


def convolution_bias_grad_jvp(grad_output_t, mask):
    """Tangent of the bias's gradient, which is a sum."""
    return grad_output_t.sum(channel_dims(grad_output_t)) if mask[2] else None
