"""Formulas of views: a gradient goes back to the places that were looked at."""

import math

from mindtorch._core import geometry
from mindtorch._core.batched_array import is_level_alive, level_numbered, levels_of
from mindtorch._core.dtype import int64
from mindtorch.autograd.formulas.common import wrapped
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.level_views import inside, left, share_memory


def permute_backward(grad, dims):
    """Gradient of permute: the inverse permutation."""
    ndim = len(dims)
    inverse = [0] * ndim
    for position, dim in enumerate(dims):
        inverse[wrapped(dim, ndim)] = position
    return grad.permute(inverse)


def slice_grad(grad, shape, dim, start, end, step):
    """Gradient of a slice; bounds that were left out are the ends."""
    end = shape[wrapped(dim, len(shape))] if end is None else end
    return ops.slice_backward(grad, shape, dim, 0 if start is None else start, end, step)


def narrow_copy_backward(grad, shape, dim, start, length):
    """Gradient of narrow_copy: zeros around it. The start may be counted from the end."""
    first = start + shape[dim] if start < 0 else start
    return ops.slice_backward(grad, shape, dim, first, first + length, 1)


def split_backward(grads, shape, split_size, dim):
    """Gradient of split: join the pieces, zeros for those without a gradient."""
    size = shape[wrapped(dim, len(shape))]
    sizes = [min(split_size, size - start) for start in range(0, size, split_size)] if split_size else [size]
    return split_with_sizes_backward(grads, shape, sizes or [0], dim)


def split_with_sizes_backward(grads, shape, split_sizes, dim):
    """Gradient of split_with_sizes: join the pieces, zeros for those without a gradient."""
    dim = wrapped(dim, len(shape))
    known = next(grad for grad in grads if grad is not None)
    pieces = []
    for grad, size in zip(grads, split_sizes, strict=True):
        piece_shape = (*shape[:dim], size, *shape[dim + 1 :])
        pieces.append(_zeros_beside(known, piece_shape) if grad is None else grad)
    return ops.cat(pieces, dim)


def _zeros_beside(known, shape):
    """Zeros of the class of a gradient; beside samples of vmap they are the same for all of these."""
    if levels_of(known._mt_array.shape):
        return ops.zeros(shape, dtype=known.dtype, device=known.device)
    return known.new_zeros(shape)


def unsqueeze_to(grad, shape, dim=None):
    """Gradient of squeeze: the dimensions of size 1 again, all of them or those that `dim` names."""
    ndim = len(shape)
    named = range(ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    for place in sorted([wrapped(each, ndim) for each in named]) if ndim else ():
        if shape[place] == 1:
            grad = grad.unsqueeze(place)
    return grad


def unbind_backward(grads, shape, dim):
    """Gradient of unbind: stack the pieces, zeros for those without a gradient."""
    known = next(grad for grad in grads if grad is not None)
    return ops.stack([ops.zeros_like(known) if grad is None else grad for grad in grads], dim)


def as_strided_backward(grad, shape, stride, storage_offset, size, out_stride, out_offset):
    """Gradient of as_strided: sum into the storage behind the input, then read the input's places.

    Places of the storage that several input elements share get the mean, so that an input which overlaps itself
    (expand) still sums to the right gradient. Where there are no elements the gradient is the same for all samples.
    """
    if 0 in shape or 0 in size:
        return ops.zeros(shape, dtype=grad.dtype, device=grad.device)
    out_offset = storage_offset if out_offset is None else out_offset
    base = min(storage_offset, out_offset)
    length = max(_extent(shape, stride, storage_offset), _extent(size, out_stride, out_offset)) - base
    storage = grad.new_zeros((length,))
    places = _places(size, out_stride, out_offset - base, grad)
    storage = storage.index_add(0, places.reshape(-1), grad.reshape(-1))
    if geometry.may_overlap(shape, stride):
        places = _places(shape, stride, storage_offset - base, grad).reshape(-1)
        count = storage.new_zeros(storage.shape, dtype=places.dtype).index_add(0, places, ops.ones_like(places))
        storage = storage / count.clamp(min=1)
    return storage.as_strided(shape, stride, storage_offset - base)


def as_strided_scatter_backward(grad, shape, stride, storage_offset, size, out_stride, out_offset):
    """Gradient of the input of as_strided_scatter: none reaches the elements that were replaced."""
    grad, offset = _laid_out(grad, shape, stride, storage_offset, out_offset)
    return grad.as_strided_scatter(grad.new_zeros(size), size, out_stride, offset)


def as_strided_scatter_src_backward(grad, shape, stride, storage_offset, size, out_stride, out_offset):
    """Gradient of the source of as_strided_scatter: that of the elements which it replaced."""
    grad, offset = _laid_out(grad, shape, stride, storage_offset, out_offset)
    return grad.as_strided(size, out_stride, offset)


def as_strided_scatter_jvp(self_t, self_p, src_t, size, stride, storage_offset):
    """Tangent of as_strided_scatter, which depends on how the input lies in memory."""
    tangent, offset = _laid_out(self_t, self_p.shape, self_p.stride(), self_p.storage_offset(), storage_offset)
    return tangent.as_strided_scatter(src_t, size, stride, offset)


def _laid_out(tensor, shape, stride, storage_offset, out_offset):
    """The elements with given strides from the start of a storage, and where `out_offset` is in it."""
    offset = 0 if out_offset is None else out_offset - storage_offset
    return tensor.new_empty_strided(shape, stride).copy_(tensor), offset


def _extent(size, stride, offset):
    """One more than the last place that a view touches."""
    if math.prod(size) == 0:
        return offset
    return offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def _places(size, stride, offset, like):
    """Storage positions of every element of a geometry, as an index tensor of that shape."""
    total = ops.full((), offset, dtype=int64, device=like.device)
    for dim, (count, step) in enumerate(zip(size, stride, strict=True)):
        along = ops.arange(count, device=like.device) * step
        total = total.unsqueeze(-1) + along if dim else total + along
    return total.reshape(tuple(size))


def add_batch_dim(grad, dim, level):
    """The samples of a gradient. To autograd they are a view of it, so that gradients which need no arithmetic are."""
    if not is_level_alive(level):  # nothing that was recorded inside is left, as behind a view from no_grad mode
        return None
    return inside(grad, dim, level_numbered(level))


def remove_batch_dim(grad, level, size, dim):
    """A gradient that is recorded may be a result and kept by nodes as well: all of them have its version."""
    found = level_numbered(level)
    if found in levels_of(grad._mt_array.shape):
        return left(grad, dim, found, moves_outside=False)
    return share_memory(ops._remove_batch_dim(grad, level, size, dim), grad)
