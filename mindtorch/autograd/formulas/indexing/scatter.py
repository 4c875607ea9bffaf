"""Gradients of scatter_reduce and index_reduce.

Both put together, by a sum, product, mean or extremum, what is in a place and the values that go there. They differ in
how places are read and written, which `_Access` hides.
"""

from dataclasses import dataclass
from typing import Any

from mindtorch.dispatch import ops


@dataclass(frozen=True, slots=True)
class _Access:
    """The places of an op: read for every value, added up from the values, or reduced again."""

    read: Any
    added: Any
    reduced: Any
    cleared: Any


def _scattered(self, dim, index, reduce, include_self):
    return _Access(
        read=lambda tensor: tensor.gather(dim, index),
        added=lambda tensor, values: tensor.scatter_add(dim, index, values),
        reduced=lambda tensor, values: tensor.scatter_reduce(dim, index, values, reduce, include_self=include_self),
        cleared=lambda tensor: tensor.scatter(dim, index, 0),
    )


def _indexed(self, dim, index, reduce, include_self):
    return _Access(
        read=lambda tensor: tensor.index_select(dim, index),
        added=lambda tensor, values: tensor.index_add(dim, index, values),
        reduced=lambda tensor, values: tensor.index_reduce(dim, index, values, reduce, include_self=include_self),
        cleared=lambda tensor: tensor.index_fill(dim, index, 0),
    )


def scatter_reduce_backward(grad, self, dim, index, src, reduce, include_self, result):
    """Gradients of the input and of the values."""
    access = _scattered(self, dim, index, reduce, include_self)
    return _grads(access, grad, self, src, reduce, include_self, result)


def index_reduce_backward(grad, self, dim, index, source, reduce, include_self, result):
    """Gradients of the input and of the values."""
    access = _indexed(self, dim, index, reduce, include_self)
    return _grads(access, grad, self, source, reduce, include_self, result)


def scatter_reduce_jvp(self_t, src_t, self, dim, index, src, reduce, include_self, result):
    """Tangent, by the slopes that the gradients of ones are."""
    access = _scattered(self, dim, index, reduce, include_self)
    return _tangent(access, self_t, src_t, self, src, reduce, include_self, result)


def index_reduce_jvp(self_t, source_t, self, dim, index, source, reduce, include_self, result):
    """Tangent, by the slopes that the gradients of ones are."""
    access = _indexed(self, dim, index, reduce, include_self)
    return _tangent(access, self_t, source_t, self, source, reduce, include_self, result)


def _tangent(access, self_t, src_t, self, src, reduce, include_self, result):
    self_slope, src_slope = _grads(access, ops.ones_like(result), self, src, reduce, include_self, result)
    return access.added(self_t * self_slope, src_t * src_slope)


def _grads(access, grad, self, src, reduce, include_self, result):
    slopes = {"prod": _of_product, "mean": _of_mean, "amax": _of_extremum, "amin": _of_extremum}.get(reduce)
    if slopes is None:
        self_grad, src_grad = grad, access.read(grad)
    else:
        self_grad, src_grad = slopes(access, grad, self, src, include_self, result)
    return (self_grad if include_self else access.cleared(self_grad)), src_grad


def index_add_backward(grad, dim, index, source):
    """Gradient of what index_add adds. torch keeps all of `source` for its shape, so that a write to it is an error."""
    return grad.index_select(dim, index).expand_as(source) if source.ndim else grad.index_select(dim, index.squeeze(0))


def _of_mean(access, grad, self, src, include_self, result):
    counts = access.added(ops.full_like(grad, int(include_self)), ops.ones_like(src))
    share = grad / counts.masked_fill(counts == 0, 1)
    return share, access.read(share)


def _of_extremum(access, grad, self, src, include_self, result):
    """Shared evenly among the elements that reach the extremum."""
    self_reaches = (self == result).to(grad.dtype)
    src_reaches = (src == access.read(result)).to(grad.dtype)
    share = grad / access.added(self_reaches, src_reaches)
    return self_reaches * share, src_reaches * access.read(share)


def _of_product(access, grad, self, src, include_self, result):
    """The product of the other factors, which a factor of 0 hides in the result."""
    self_or_one = self.masked_fill(self == 0, 1)
    self_grad = grad * access.reduced(self_or_one, src) / self_or_one
    is_zero = src == 0
    zeros = access.read(access.added(ops.zeros_like(self), is_zero.to(self.dtype)))
    is_only_zero = is_zero & (zeros == 1)
    without_zero = access.reduced(self, src.masked_fill(is_only_zero, 1))
    src_grad = access.read(grad * result) / src.masked_fill(is_zero, 1)
    return self_grad, ops.where(is_only_zero, access.read(grad * without_zero), src_grad)
