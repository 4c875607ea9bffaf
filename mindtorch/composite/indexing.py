"""Ops of the indexing family that are written in other ops: stacking, diagonals and backward formulas."""

from mindtorch.backends import geometry
from mindtorch.dispatch import ops
from mindtorch.dtype import int64
from mindtorch.tensor import Tensor

# -------------------- stacking --------------------


def hstack(tensors):
    if not tensors:
        raise RuntimeError("hstack expects a non-empty TensorList")
    lifted = [tensor if tensor.ndim else tensor.reshape((1,)) for tensor in tensors]
    return ops.cat(lifted, 0 if lifted[0].ndim == 1 else 1)


def vstack(tensors):
    if not tensors:
        raise RuntimeError("vstack expects a non-empty TensorList")
    return ops.cat([_at_least_2d(tensor) for tensor in tensors], 0)


def _at_least_2d(tensor: Tensor) -> Tensor:
    if tensor.ndim > 1:
        return tensor
    return tensor.unsqueeze(0) if tensor.ndim else tensor.reshape((1, 1))


# -------------------- diagonals --------------------


def diag(input, diagonal):
    if input.ndim == 1:
        return ops.diag_embed(input, diagonal)
    if input.ndim == 2:
        return input.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")


def diag_embed(input, offset, dim1, dim2):
    ndim = input.ndim + 1
    first, second = geometry.wrap_dim(dim1, ndim), geometry.wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape = list(input._array.shape)
    extent = shape.pop() + abs(offset)
    for dim in sorted((first, second)):
        shape.insert(dim, extent)
    result = input.new_zeros(tuple(shape))
    result.diagonal(offset, first, second).copy_(input)
    return result


# -------------------- backward formulas --------------------


def index_select_backward(grad, self_sizes, dim, index):
    return grad.new_zeros(tuple(self_sizes)).index_add(dim, index, grad)


def gather_backward(grad, input, dim, index, sparse_grad):
    return grad.new_zeros(input._array.shape).scatter_add(dim, index, grad)


def value_selecting_reduction_backward(grad, dim, indices, sizes, keepdim):
    if not keepdim and sizes:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return ops.scatter(grad.new_zeros(tuple(sizes)), dim, indices, grad)


# -------------------- one_hot --------------------


def one_hot(input, num_classes):
    if input.dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    shape = input._array.shape
    if not input.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return input.new_empty((*shape, num_classes))
    if input.min().item() < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = input.max().item()
    if num_classes == -1:
        num_classes = largest + 1
    elif largest >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return ops.scatter(input.new_zeros((*shape, num_classes)), -1, input.unsqueeze(-1), 1)
