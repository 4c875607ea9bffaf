"""Formulas of running products and of running logarithms of sums."""

from mindtorch._core.dtype import finfo
from mindtorch.autograd.formulas.common import has_zeros, is_differentiated, others_along
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import without_levels


def _from_the_end(running, tensor, dim):
    return running(tensor.flip(dim), dim).flip(dim)


# ---- products ----


def cumprod_grad(grad, self, dim, result):
    """Gradient of a running product: what each product owes to an element is the product of its other factors."""
    if self.ndim == 0 or not self.numel() or self.shape[dim] == 1:
        return grad
    if not has_zeros(self):
        return _from_the_end(ops.cumsum, grad * result.conj(), dim) / self.conj()
    if without_levels(self) is self and not is_differentiated(grad, self):
        return _around_first_zero(grad, self.conj(), dim, result.conj())
    slopes = _cumprod_slopes(self, dim).conj()
    return (grad.movedim(dim, -1).unsqueeze(-2) * slopes).sum(-1).movedim(-1, dim).contiguous()


def _around_first_zero(grad, self, dim, result):
    """The same in linear time, which is not differentiable: no product depends on what follows the first zero."""
    is_zero = self == 0
    passed = is_zero.cumsum(dim)
    earlier, between = passed == 0, passed == 1
    before = _from_the_end(ops.cumsum, (grad * result).masked_fill(~earlier, 0), dim) / self
    place = between.byte().argmax(dim, True)
    products = self.masked_fill(~between | is_zero, 1).cumprod(dim) * grad.masked_fill(~between, 0)
    leading = result.gather(dim, (place - 1).clamp(min=0)).masked_fill(place == 0, 1)
    at_zero = products.sum(dim, True) * leading
    return ops.where(between & is_zero, at_zero, before.masked_fill(~earlier, 0))


def cumprod_jvp(self_t, self, dim, result):
    """Tangent of a running product."""
    if self.ndim == 0:
        return cumprod_jvp(self_t.reshape(1), self.reshape(1), 0, result.reshape(1)).reshape(())
    if not has_zeros(self):
        return (self_t / self).cumsum(dim) * result
    slopes = _cumprod_slopes(self, dim)
    return (self_t.movedim(dim, -1).unsqueeze(-1) * slopes).sum(-2).movedim(-1, dim)


def _cumprod_slopes(self, dim):
    """The derivative of every product (the last dimension) in every element (the one before it)."""
    return others_along(self, dim).cumprod(-1).triu()


# ---- logarithms of sums ----


def logcumsumexp_backward(grad, self, result, dim):
    """Gradient of the running logarithm of a sum, computed in logarithms so that large numbers don't overflow."""
    if self.ndim == 0 or not self.numel():
        return grad
    if self.is_complex():
        log = grad.log() - result.conj()
        return (_from_the_end(ops.logcumsumexp, log, dim) + self.conj()).exp()
    log, nothing = grad.abs().log(), float(finfo(grad.dtype).min)
    signed = ((ops.where(grad > 0, log, nothing), 1), (ops.where(grad < 0, log, nothing), -1))
    parts = [sign * (_from_the_end(ops.logcumsumexp, each - result, dim) + self).exp() for each, sign in signed]
    return parts[0] + parts[1]


def logcumsumexp_jvp(self_t, self, dim):
    """Tangent of the running logarithm of a sum: a mean of tangents, 0 while none of them has weight."""
    if not self.numel():
        return self_t
    largest = (self.real if self.is_complex() else self).amax(dim, True)
    weights = (self - largest).exp()
    return (self_t * weights).cumsum(dim) / (weights.cumsum(dim) + 1e-13)
