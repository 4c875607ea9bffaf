"""Formulas of indexing, joining and repeating."""

import math

from mindtorch._core.memory_format import contiguous_format
from mindtorch._support.numpy_functions import broadcast_shapes
from mindtorch.autograd.formulas.common import with_samples_of, wrapped
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import levels_of_tensor


def index_backward(grad, shape, indices):
    """Gradient of advanced indexing: add up at the places that were read."""
    grad = with_samples_of(grad, indices)
    return grad.new_zeros(shape).index_put_(indices, grad, True)


def index_put_backward(grad, indices, accumulate):
    """Gradient of index_put with respect to the tensor written to: zero where it was overwritten."""
    return grad if accumulate else grad.index_put(indices, grad.new_zeros(()), False)


def index_select_grad(grad, shape, dim, index):
    """Gradient of index_select."""
    if len(shape) == 0:
        return grad.sum().reshape(())
    grad = with_samples_of(grad, (index,))
    return grad.new_zeros(shape).index_add_(dim, index, grad)


def gather_grad(grad, shape, dim, index):
    """Gradient of gather."""
    grad = with_samples_of(grad, (index,))
    return grad.new_zeros(shape).scatter_add_(dim, index, grad)


# torch keeps all of the input for its shape, here and in masked_select, so that a write to it is an error.


def gather_backward(grad, self, dim, index):
    """Gradient of gather, with respect to a tensor that is kept."""
    return gather_grad(grad, self.shape, dim, index)


def masked_select_backward(grad, self, mask):
    """Gradient of masked_select, in the shape that tensor and mask broadcast to, in the memory format of the tensor."""
    full = ops.zeros_like(self.expand(broadcast_shapes(self.shape, mask.shape)))
    if levels_of_tensor(grad) or levels_of_tensor(mask):
        return full.masked_scatter(mask, grad)
    return full.masked_scatter_(mask, grad)


def masked_scatter_source_backward(grad, mask, shape):
    """Gradient of masked_scatter with respect to its source: the elements in use, then zeros."""
    if levels_of_tensor(mask):
        return _masked_scatter_source_backward_of_samples(grad, mask, shape)
    used = grad.masked_select(mask.expand(grad.shape))
    missing = math.prod(shape) - used.numel()
    if missing > 0:
        used = ops.cat([used, used.new_zeros((missing,))], 0)
    return used[: math.prod(shape)].reshape(shape)


def _masked_scatter_source_backward_of_samples(grad, mask, shape):
    """Of masks that choose different numbers of elements: what is not in use goes to a place behind the source."""
    count = math.prod(shape)
    used = mask.expand(grad.shape).reshape(-1)
    places = ops.where(used, used.cumsum(0) - 1, count).clamp(max=count)
    source = grad.new_zeros((count + 1,)).scatter(0, places, grad.reshape(-1))
    return source[:count].clone(memory_format=contiguous_format).reshape(shape)


def stack_backward(grad, dim):
    """Gradients of stack: each a view of its own, which may be written in place."""
    return tuple([grad.select(dim, place) for place in range(grad.shape[dim])])


def cat_backward(grad, shapes, dim):
    """Gradients of cat: each input's stretch. Old-style empty 1-D inputs take no room, whichever sample it is."""
    dim = wrapped(dim, grad.ndim)
    grads, start = [], 0
    for shape in shapes:
        if tuple(shape) == (0,):
            grads.append(ops.zeros((0,), dtype=grad.dtype, device=grad.device))
            continue
        grads.append(grad.narrow(dim, start, shape[dim]))
        start += shape[dim]
    return grads


def block_diag_backward(grad, shapes):
    """Gradients of block_diag: each input's block. That of a vector is a row, which the engine sums to its shape."""
    grads, top, left = [], 0, 0
    for shape in shapes:
        rows, columns = (1, 1, *shape)[-2:]
        block = grad.narrow(0, top, rows).narrow(1, left, columns)
        top, left = top + rows, left + columns
        grads.append(block if shape else block.squeeze(1).squeeze(0))
    return grads


def repeat_backward(grad, repeats, shape):
    """Gradient of repeat: sum over the copies."""
    if 0 in repeats:
        return grad.new_zeros(shape)
    extra = len(repeats) - len(shape)
    folded, copies = [], []
    for dim, count in enumerate(repeats):
        size = 1 if dim < extra else shape[dim - extra]
        copies.append(len(folded))
        folded += [count, size]
    summed = grad.reshape(folded).sum(copies) if folded else grad
    return summed.reshape(shape)


def roll_backward(grad, shifts, dims):
    """Gradient of roll: roll back."""
    shifts = (shifts,) if isinstance(shifts, int) else shifts
    return grad.roll([-shift for shift in shifts], dims)


def index_copy_source_backward(grad, dim, index, source):
    """Gradient of what was copied: that of the rows where it went."""
    if not source.ndim:
        return grad.index_select(dim, index.reshape(-1)).reshape(())
    return grad.index_select(dim, index).expand(source.shape)


def take_backward(grad, self, index):
    """Gradient of elements by number, added up where one was taken several times."""
    return ops.zeros_like(self).put(index, grad, True)
