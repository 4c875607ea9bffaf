"""What the formulas of several families share: numbers and tensors alike, dims, sums."""

import math

from mindtorch._core import state
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.state import thread
from mindtorch._core.tensor import Tensor
from mindtorch._support.errors import derivative_not_implemented
from mindtorch.autograd._engine.history import edge_of
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import is_batched_at, levels_of_tensor, tensors_in, without_levels
from mindtorch.dispatch.modes.forward_ad import has_tangents
from mindtorch.dispatch.modes.level_views import spread_over


def is_differentiated(*tensors):
    """Whether a formula that is about to run may be differentiated: it must then stay differentiable."""
    return thread.grad_enabled or has_tangents(tensors)


def is_traced(tensor):
    """Whether what is about to be made of the tensor is differentiated."""
    return thread.grad_enabled and edge_of(tensor) is not None or has_tangents((tensor,))


def conj(value):
    """Complex conjugate of a tensor or number; a real tensor is returned as it is. None stays None."""
    if isinstance(value, Tensor):
        return value.conj() if value._mt_array.dtype.kind == "c" else value
    return value.conjugate() if isinstance(value, complex) else value


def with_samples_of(tensor, indices):
    """A tensor with the samples of `vmap` that indices have: what is put to their places is another for each sample."""
    if not state.batch_levels:
        return tensor
    for index in tensors_in(indices):
        for level in levels_of_tensor(index):
            if not is_batched_at(tensor, level):
                tensor = spread_over(tensor, level)
    return tensor


def is_of_all_samples(tensor):
    """Whether a tensor has samples of a `vmap` that is over: what PyTorch differentiates is the op on all of them,
    which reduces over their dims, be it without dims inside."""
    return any(level not in state.thread.vmap_levels for level in levels_of_tensor(tensor))


def in_rows_of_samples(tensor):
    """What PyTorch computes for one sample after the other, if there are samples: they are stacked."""
    return tensor.contiguous() if levels_of_tensor(tensor) else tensor


def maybe_multiply(tensor, factor):
    """tensor * factor, without an op when the factor is 1."""
    if type(factor) is int and factor == 1:  # nearly always
        return tensor
    if isinstance(factor, Tensor):
        return tensor * factor
    return tensor if factor == 1 else scaled(tensor, factor)


def scaled(tensor, factor):
    """Times a number. As an op of a tensor and a number it keeps no tensor for a second derivative."""
    return ops.mul_Scalar(tensor, factor)


def divided(tensor, divisor):
    """The same for a number that the tensor is divided by."""
    return ops.div_Scalar(tensor, divisor)


def real(tensor):
    """The real part of a tensor that may already be real."""
    return tensor.real if tensor.is_complex() else tensor


def imag(tensor):
    """The imaginary part of a tensor; zeros for a real one."""
    return tensor.imag if tensor.is_complex() else ops.zeros_like(tensor)


def wrapped(dim, ndim):
    """A non-negative dim."""
    return dim + ndim if dim < 0 else dim


def reduced_dims(dim, ndim):
    """The dims that a reduction runs over: all of them for None or an empty list."""
    if dim is None or ndim == 0:
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    return tuple([wrapped(d, ndim) for d in dims]) or tuple(range(ndim))


def restore_dims(tensor, dim, ndim, keepdim):
    """Put back, with size 1, the dims that a reduction took away, so that the tensor broadcasts with its input."""
    if keepdim or ndim == 0:
        return tensor
    if isinstance(dim, tuple) and len(dim) == 1:  # counted from the end, it holds for an output with dims in front, too
        return tensor.unsqueeze(dim[0])
    for d in sorted(reduced_dims(dim, ndim)):
        tensor = tensor.unsqueeze(d)
    return tensor


def reduced_count(shape, dim):
    """How many elements go into each element of a reduction's result."""
    return math.prod(shape[d] for d in reduced_dims(dim, len(shape)))


def no_forward_derivative(op, *tangents):
    """Refuses: for an op of which torch has no derivative at all."""
    raise NotImplementedError(f"Trying to use forward AD with {op} that does not support it.")


def no_backward_derivative(op):
    """Refuses: for a backward pass that torch does not differentiate again."""
    raise derivative_not_implemented(op)


def sum_of(terms):
    """The sum of a list of tensors; None for an empty list."""
    total = None
    for term in terms:
        total = term if total is None else total + term
    return total


def sum_of_given(*terms):
    """The sum of those terms that are not None."""
    return sum_of([term for term in terms if term is not None])


def channel_dims(tensor):
    """All dims but that of the channels."""
    return [dim for dim in range(tensor.ndim) if dim != 1]


def is_unseen(tensor):
    """Whether torch cannot look at the values of a tensor, as it is one of a transform that runs."""
    running = thread.transforms
    return bool(running) and (running > len(thread.vmap_levels) or bool(levels_of_tensor(tensor)))


def in_rows_if_unseen(gradient, *tensors):
    """Where torch cannot look for zeros in a tensor, it takes the way that is right with them: it ends in rows."""
    return gradient.contiguous() if any(map(is_unseen, tensors)) else gradient


def zeros_of_any_sample(tensor):
    """Zeros in the shape of a tensor, which all samples share of a `vmap` that is not over."""
    if is_of_all_samples(tensor):
        return ops.zeros_like(tensor, memory_format=contiguous_format)
    return ops.zeros(tuple(tensor.shape), dtype=tensor.dtype, device=tensor.device)


def has_zeros(tensor):
    """Whether an element is zero: of any sample inside vmap, as a formula must take one way for all of them."""
    return bool((without_levels(tensor) == 0).any())


def others_along(tensor, dim):
    """The elements along a dim, last, once for each of them (the dimension before), with a one in its own place."""
    moved = tensor.movedim(dim, -1)
    count = moved.shape[-1]
    table = moved.unsqueeze(-2).expand(*moved.shape[:-1], count, count)
    return table.masked_fill(ops.eye(count, device=tensor.device) == 1, 1)
