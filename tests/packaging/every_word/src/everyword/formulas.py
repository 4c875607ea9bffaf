"""Helpers of derivatives.yaml."""

import mindtorch as torch


def first_of(grads):
    (grad,) = grads
    return grad


def both(grad_whole, grad_part, part):
    """The gradient of `(2 * x, exp(x))`, of which one may be missing."""
    whole = None if grad_whole is None else 2 * grad_whole
    if grad_part is None:
        return whole
    return grad_part * part if whole is None else whole + grad_part * part


def index_of(index):
    return torch.ones_like(index, dtype=torch.float32)


def none_as_zeros(grad, tensor):
    return torch.zeros_like(tensor) if grad is None else grad


def pair_grads(grad, first, second, needs_first, needs_second):
    assert needs_first or needs_second
    return grad * second if needs_first else None, grad * first if needs_second else None


def spread_facts(grad, shape, dtype, ndim, device, layout, count, strides, offset, dim, size, length, step, *others):
    is_complex, is_floating_point, other_shape = others
    assert (ndim, count, offset, dim) == (len(shape), shape[0] * shape[1], 0, len(shape))
    assert (tuple(size), length, step) == (tuple(shape), shape[0], strides[0])
    assert (dtype, device.type, layout) == (torch.float32, "cpu", torch.strided)
    assert (is_complex, is_floating_point) == (False, True)
    assert other_shape is None or tuple(other_shape) == (2,)
    return grad.expand(shape)


def split_facts(grad, shapes, dtypes):
    return [grad.expand(shape).to(dtype) for shape, dtype in zip(shapes, dtypes)]


def total_of(tensors):
    return sum(tensor.sum() for tensor in tensors)


def twice(grads):
    return [None if grad is None else 2 * grad for grad in grads]


def rejoined(grads, shape, size):
    sizes = [min(size, shape[0] - start) for start in range(0, shape[0], size)]
    parts = [torch.zeros(length, *shape[1:]) if grad is None else grad for grad, length in zip(grads, sizes)]
    return torch.cat(parts)
