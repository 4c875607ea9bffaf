"""Helpers of derivatives.yaml: functions of tensors that can be differentiated themselves."""

import mindtorch as torch


def beyond(tensor, threshold):
    """1 where soft_threshold lets values through, 0 where it gives 0."""
    return (tensor.abs() > threshold).to(tensor.dtype)


def zeros_for_missing(grads):
    """The gradients of all outputs; the gradient of an output that nothing used is None."""
    given = next(grad for grad in grads if grad is not None)
    return [torch.zeros_like(given) if grad is None else grad for grad in grads]


def spread(grad, shape, dim, keepdim):
    """The gradient of a sum, in the shape of what was summed."""
    if dim and not keepdim:
        for place in sorted(each % len(shape) for each in dim):
            grad = grad.unsqueeze(place)
    return grad.expand(shape)


def total(tensor, dim, keepdim):
    """The sum over some dimensions, or over all of them."""
    return tensor.sum(dim or tuple(range(tensor.ndim)), keepdim)
