"""Formulas of reductions: sums, products, extrema, variances, norms."""

import math

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.state import thread
from mindtorch.autograd.formulas.common import (
    conj,
    divided,
    has_zeros,
    in_rows_if_unseen,
    is_differentiated,
    is_of_all_samples,
    is_unseen,
    others_along,
    real,
    reduced_count,
    reduced_dims,
    restore_dims,
    wrapped,
)
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import without_levels


def sum_backward(grad, shape, dim, keepdim):
    """Gradient of a sum over dims: every summand gets the result's gradient."""
    return restore_dims(grad, dim, len(shape), keepdim).expand(shape)


def mean_backward(grad, shape, dim, keepdim):
    """Gradient of a mean over dims."""
    return divided(sum_backward(grad, shape, dim, keepdim), reduced_count(shape, dim))


def prod_backward(grad, self, result):
    """Gradient of the product of all elements, right with zeros among them too.

    Two zeros leave nothing of it, not even of an infinite `grad`; but a second derivative needs the way there.
    """
    if self.ndim == 0:
        return grad
    if self.numel() == 1 and is_unseen(self):
        return grad.reshape(self.shape)
    if not has_zeros(self):
        return in_rows_if_unseen(grad * conj(result / self), self)
    if not is_differentiated(grad, self) and without_levels(self) is self and int((self == 0).sum()) > 1:
        return ops.zeros_like(self, memory_format=contiguous_format)
    flat = prod_dim_backward(grad, self.contiguous().view(-1), result, 0, False)
    return flat.reshape(self.shape)


def prod_dim_backward(grad, self, result, dim, keepdim):
    """Gradient of a product over one dim: product / element, and where an element is 0 the product of the others."""
    if self.ndim == 0:
        return grad
    grad = restore_dims(grad, dim, self.ndim, keepdim)
    if self.shape[dim] == 1 and (is_unseen(self) or has_zeros(self)):
        return grad
    if not has_zeros(self):
        return in_rows_if_unseen(grad * conj(restore_dims(result, dim, self.ndim, keepdim) / self), self)
    return grad * conj(_product_of_others(self, dim))


def _product_of_others(self, dim):
    """For each element the product of all others along dim."""
    return others_along(self, dim).prod(-1).movedim(-1, dim).contiguous()


def extremal_reduction_backward(grad, self, result, dim, keepdim):
    """Gradient of amax/amin: shared evenly among the elements that equal the extremum. None equals nan: 0 / 0."""
    dims = reduced_dims(dim, self.ndim)
    reached = self == restore_dims(result, dims, self.ndim, keepdim)
    return _shared(restore_dims(grad, dims, self.ndim, keepdim), reached, dims)


def extremum_of_all_backward(grad, self, result):
    """Gradient of the max, min or median of all elements: shared evenly among those that reach it, as a nan does."""
    reached = _reached(self, result)
    share = grad / reached.sum()
    if thread.transforms:  # where torch writes to no zeros, as they may have fewer samples than the gradient
        return reached * share
    return ops.zeros_like(self).masked_fill(reached, share)


def _shared(grad, reached, dims):
    count = reached.sum(dims, True) if reached.ndim else reached.sum()
    return grad / count * reached


def aminmax_backward(grad_min, grad_max, self, min, max, dim, keepdim):
    """Gradient of both extremes."""
    pairs = ((grad_min, min), (grad_max, max))
    dims = () if dim is None else dim
    parts = [extremal_reduction_backward(grad, self, end, dims, keepdim) for grad, end in pairs if grad is not None]
    return sum(parts[1:], parts[0])


def extremum_along_jvp(self_t, self, result, dim, keepdim):
    """Tangent of amax/amin: the mean over the elements that reach the extremum."""
    dims = reduced_dims(dim, self.ndim)
    reached = self == restore_dims(result, dims, self.ndim, keepdim)
    if self.ndim == 0:
        return ops.where(reached, self_t, 0) / reached
    return ops.where(reached, self_t, 0).sum(dims, keepdim) / reached.sum(dims, keepdim)


def extremum_of_all_jvp(self_t, self, result):
    """Tangent of max/min: the same, in torch's way, in which what is infinite elsewhere makes it nan."""
    reached = self == result
    if self.ndim == 0:
        return self_t * reached / reached
    return (self_t * reached).sum() / reached.sum()


def median_jvp(self_t, self, result):
    """Tangent of the median of all elements; zero where there are none."""
    return extremum_of_all_jvp(self_t, self, result) if self.numel() else self_t.sum()


def _reached(self, extremum):
    reached = self == extremum
    return ops.where(extremum.isnan(), self.isnan(), reached) if self.is_floating_point() else reached


def running_extreme_backward(grad, self, dim, indices):
    """Gradient of cummax/cummin. torch keeps the input, so that it must not be written in between; so it is here."""
    if not self.numel():
        return self
    return grad.new_zeros(self.shape).scatter_add(dim, indices, grad)


def pick_backward(grad, dim, indices, shape, keepdim):
    """Gradient of an op that picks elements along dim by index (max.dim, sort, topk): scatter it back."""
    if len(shape) == 0:
        return grad.clone()  # which is new, as what is scattered is
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(shape).scatter(dim, indices, grad)


def pick_jvp(self_t, dim, indices, keepdim):
    """Tangent of an op that picks elements along dim by index."""
    if self_t.ndim == 0:
        return self_t
    if keepdim:
        return self_t.gather(dim, indices)
    return self_t.gather(dim, indices.unsqueeze(dim)).squeeze(dim)


def var_backward(grad, self, dim, correction, keepdim):
    """Gradient of the variance."""
    grad = restore_dims(grad, dim, self.ndim, keepdim)
    freedom = _degrees_of_freedom(self, dim, correction)
    if freedom <= 0 and (dim is None or not self.ndim) and not is_of_all_samples(self):
        return grad * ops.where(self == self.mean(), math.nan, math.inf)
    return grad * (2.0 / freedom if freedom else math.inf) * _centred(self, reduced_dims(dim, self.ndim))


def _degrees_of_freedom(self, dim, correction):
    return reduced_count(self.shape, dim) - (1 if correction is None else correction)


def _centred(self, dims):
    return self - (self.mean(dims, True) if self.ndim else self)


def var_jvp(self_t, self, dim, correction, keepdim):
    """Tangent of the variance."""
    is_whole = (dim is None or not self.ndim) and not is_of_all_samples(self)
    if is_whole and _degrees_of_freedom(self, dim, correction) <= 0:
        slopes = real(var_backward(conj(self_t), self, dim, correction, True))
        return slopes.sum(reduced_dims(dim, self.ndim), keepdim) if self.ndim else slopes
    product = real(conj(_centred(self, reduced_dims(dim, self.ndim))) * self_t)
    total = product.sum(reduced_dims(dim, self.ndim), keepdim) if self.ndim else product
    freedom = _degrees_of_freedom(self, dim, correction)
    return total * (2.0 / freedom if freedom else math.nan) if self.numel() else total


def std_backward(grad, self, result, dim, correction, keepdim):
    """Gradient of the standard deviation; flat where it is 0."""
    slope = (grad / (result * 2)).masked_fill(result == 0, 0)
    return var_backward(slope, self, dim, correction, keepdim)


def std_jvp(self_t, self, result, dim, correction, keepdim):
    """Tangent of the standard deviation; zero where it is 0."""
    tangent = var_jvp(self_t, self, dim, correction, keepdim) / (result * 2)
    return tangent.masked_fill(result == 0, 0)


def var_mean_backward(grad_var, grad_mean, self, dim, correction, keepdim):
    """Gradient of the variance and of the mean."""
    of_var = None if grad_var is None else var_backward(grad_var, self, dim, correction, keepdim)
    return _plus_mean(of_var, grad_mean, self, dim, keepdim)


def std_mean_backward(grad_std, grad_mean, self, std, dim, correction, keepdim):
    """Gradient of the standard deviation and of the mean."""
    of_std = None if grad_std is None else std_backward(grad_std, self, std, dim, correction, keepdim)
    return _plus_mean(of_std, grad_mean, self, dim, keepdim)


def _plus_mean(gradient, grad_mean, self, dim, keepdim):
    if grad_mean is None:
        return gradient
    of_mean = mean_backward(grad_mean, self.shape, dim, keepdim)
    return of_mean if gradient is None else gradient + of_mean


def mean_jvp(self_t, dim, keepdim):
    """Tangent of the mean, of all elements without dims."""
    return self_t.mean(reduced_dims(dim, self_t.ndim), keepdim) if self_t.ndim else self_t.clone()


def logsumexp_backward(grad, self, result, dim, keepdim):
    """Gradient of logsumexp: softmax weights."""
    result = restore_dims(result, dim, self.ndim, keepdim)
    return restore_dims(grad, dim, self.ndim, keepdim) * conj((self - result).exp())


def logsumexp_jvp(self_t, self, dim, keepdim):
    """Tangent of logsumexp: the softmax-weighted mean of the tangent."""
    weights = (self - self.logsumexp(dim, True)).exp()
    return (weights * self_t).sum(dim, keepdim) / weights.sum(dim, keepdim)


def cumsum_backward(grad, dim):
    """Gradient of a running sum: the running sum from the other end."""
    if grad.ndim == 0 or grad.numel() <= 1 or grad.shape[dim] == 1:
        return grad
    return grad.flip(dim).cumsum(dim).flip(dim)


def softmax_double_backward(grad, grad_output, dim, output):
    """Gradient of softmax's backward with respect to softmax's output."""
    weighted = (grad_output * output).sum(dim, True)
    return (grad_output - weighted) * grad - grad_output * (grad * output).sum(dim, True)


def softmax_backward_output_jvp(output_t, grad_output, dim, output):
    """Tangent of softmax's backward in the direction of softmax's output."""
    weighted = (grad_output * output).sum(dim, True)
    return output_t * (grad_output - weighted) - output * (grad_output * output_t).sum(dim, True)


def vector_norm_backward(grad, self, ord, norm, dim, keepdim):
    """Gradient of the vector norm of order `ord`; a subgradient of 0 where the norm is not smooth. None for a count."""
    if ord == 0:
        return None
    grad = restore_dims(grad, dim, self.ndim, keepdim)
    norm = restore_dims(norm, dim, self.ndim, keepdim)
    return _times_norm_slope(grad, self, ord, norm, dim)


def _times_norm_slope(factor, self, ord, norm, dim):
    """A factor for each norm times the norm's gradient. The operands are in torch's order, for its strides."""
    if ord == 1:
        return self.sgn() * factor
    if math.isinf(ord):
        reached = _reached(self.abs(), norm)
        dims = reduced_dims(dim, self.ndim)
        return self.sgn() * (factor / (reached.sum(dims, True) if self.ndim else reached.sum()) * reached)
    if ord == 2:
        return factor * (self / norm).masked_fill_(norm == 0, 0)
    if ord < 1:
        slope = self.sgn() * self.abs().pow(ord - 1).masked_fill(self == 0, 0)
        return slope * factor * norm.pow(1 - ord)
    slope = self.sgn() * self.abs().pow(ord - 1) if ord < 2 else self * self.abs().pow(ord - 2)
    return slope * (factor / norm.pow(ord - 1)).masked_fill(norm == 0, 0)


def norm_backward(grad, self, p, norm, dim, keepdim):
    """Gradient of a norm of order `p`, 2 if none is given; the dims may be none, which are all, too."""
    return vector_norm_backward(grad.to(self.dtype), self, 2 if p is None else p, norm, dim, keepdim)


def vector_norm_jvp(self_t, self, ord, norm, dim, keepdim):
    """Tangent of the vector norm."""
    if ord == 0:
        return ops.zeros_like(norm)
    full = restore_dims(norm, dim, self.ndim, keepdim)
    product = real(conj(_times_norm_slope(1, self, ord, full, dim)) * self_t)
    return product.sum(reduced_dims(dim, self.ndim), keepdim) if self.ndim else product


def renorm_backward(grad, self, p, dim, maxnorm):
    """Gradient of renorm: parts whose norm is large enough are divided by it."""
    kept = wrapped(dim, self.ndim)
    others = [each for each in range(self.ndim) if each != kept]
    norms = ops.linalg_vector_norm(self, p, others, True)
    along = real(conj(self) * grad).sum(others, True)
    turned = vector_norm_backward(along, self, p, norms, others, True)
    inverse = (norms + 1e-7).reciprocal()
    return ops.where(norms > maxnorm, maxnorm * inverse * (grad - inverse * turned), grad)


def dist_grads(grad, self, other, p, result):
    """Gradients of the norm of a difference."""
    slope = vector_norm_backward(grad, self - other, p, result, None, False)
    return (ops.zeros_like(self), ops.zeros_like(other)) if slope is None else (slope, -slope)
