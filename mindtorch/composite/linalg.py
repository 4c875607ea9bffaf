"""Products of tensors of any rank, written in products of matrices."""

from math import prod

from mindtorch.autograd.outputs import write_out
from mindtorch.backends.cpu.casting import check_same
from mindtorch.composite.einsum import einsum as einsum
from mindtorch.dispatch import ops
from mindtorch.dtype import bool as boolean
from mindtorch.iterator import broadcast_shapes
from mindtorch.tensor import Tensor

# -------------------- matmul --------------------


def matmul(input, other):
    ranks = input._array.ndim, other._array.ndim
    if ranks == (2, 2):
        return ops.mm(input, other)
    if 0 in ranks:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {ranks[0]}D and {ranks[1]}D")
    small = _SMALL_PRODUCTS.get(ranks)
    if small is not None:
        return small(input, other)
    return _folded(input, other) if _should_fold(input, other) else _batched(input, other)


def matmul_out(input, other, out):
    product = _OUT_PRODUCTS.get((input._array.ndim, other._array.ndim))
    if product is not None:
        return getattr(ops, product)(input, other, out=out)
    if input.ndim > 2 and other.ndim == 1:
        *leading, inner = input._array.shape
        flat = ops.mv_out(input.reshape((prod(leading), inner)), other, out=out.new_empty((prod(leading),)))
        return write_out(out, flat.view(tuple(leading)))
    check_same(input._array, out._array)
    return write_out(out, matmul(input, other))


def _vector_matrix(input: Tensor, other: Tensor) -> Tensor:
    return ops._unsafe_view(ops.mm(input.unsqueeze(0), other), other._array.shape[1:])


_OUT_PRODUCTS = {(1, 1): "dot_out", (2, 1): "mv_out", (2, 2): "mm_out"}
_SMALL_PRODUCTS = {
    (1, 1): lambda input, other: input.dot(other),
    (2, 1): lambda input, other: input.mv(other),
    (1, 2): _vector_matrix,
}


def _should_fold(input: Tensor, other: Tensor) -> bool:
    """Whether to make one matrix of the larger tensor's leading dimensions, so that one matrix product does it all.

    Only when that takes no copy, or when the smaller one needs a gradient: expanded to a batch, its gradient would be a
    batch first and be summed after.
    """
    input_larger = input.ndim >= other.ndim
    large, small = (input, other) if input_larger else (other.transpose(-1, -2), input)
    if large.ndim < 3 or small.ndim > 2:
        return False
    if small.requires_grad:
        return True
    if input.ndim == 2:
        return False  # the product would have to be transposed and copied
    if not large.numel():
        return True
    shape, strides = large._array.shape, large.stride()
    return all(strides[dim] == strides[dim + 1] * shape[dim + 1] for dim in range(large.ndim - 2))


def _folded(input: Tensor, other: Tensor) -> Tensor:
    turned = other.ndim > input.ndim
    if turned:
        large, small = other.transpose(-1, -2), input.t() if input.ndim == 2 else input
    else:
        large, small = input, other
    *leading, inner = large._array.shape
    flat = large.reshape((prod(leading), inner))
    if small.ndim == 1:
        return ops._unsafe_view(flat.mv(small), tuple(leading))
    result = ops._unsafe_view(ops.mm(flat, small), (*leading, small._array.shape[1]))
    return result.transpose(-1, -2).contiguous() if turned else result


def _batched(input: Tensor, other: Tensor) -> Tensor:
    left, right = input._array.shape, other._array.shape
    if len(left) == 3 and len(right) == 3:
        if left[0] == right[0]:
            return ops._unsafe_view(ops.bmm(input, other), (*left[:2], right[2]))
        if left[0] == 1 and input.requires_grad:
            return matmul(input.squeeze(0), other)
        if right[0] == 1 and other.requires_grad:
            return matmul(input, other.squeeze(0))
    rows = left[-2:-1] or (1,)
    batch = broadcast_shapes(left[:-2], right[:-2])
    count = prod(batch)
    first = input.expand((*batch, *rows, left[-1])).reshape((count, *rows, left[-1]))
    second = other.expand((*batch, *right[-2:])).reshape((count, *right[-2:]))
    if len(right) == 1:
        return ops._unsafe_view(ops.bmm(first, second.unsqueeze(2)).squeeze(-1), (*batch, *left[-2:-1]))
    columns = right[-1:]
    return ops._unsafe_view(ops.bmm(first, second), (*batch, *left[-2:-1], *columns))


# -------------------- linear and outer --------------------


def linear(input, weight, bias):
    if bias is None:
        return matmul(input, weight.t())
    if input.ndim == 2 and weight.ndim == 2:
        return ops.addmm(bias, input, weight.t())
    if input.ndim and input.is_contiguous():
        *leading, inner = input._array.shape
        flat = ops.addmm(bias, input.reshape((prod(leading), inner)), weight.t())
        return flat.view((*leading, flat._array.shape[1]))
    return matmul(input, weight.t()).add_(bias)


def linear_out(input, weight, bias, out):
    check_same(input._array, out._array)
    return write_out(out, linear(input, weight, bias))


def outer(input, vec2):
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {tensor.ndim}-D")
    return input.reshape((input.numel(), 1)) * vec2


# -------------------- contractions --------------------


def tensordot(input, other, dims_self, dims_other):
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    for first, second in zip(dims_self, dims_other, strict=True):
        left, right = input.size(first), other.size(second)
        if right == 1:
            input = input.sum(first, True)
        elif left == 1:
            other = other.sum(second, True)
        elif left != right:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {left} in dim {first} and second has size "
                f"{right} in dim {second}"
            )
    inner_self = [dim % input.ndim for dim in dims_self]
    inner_other = [dim % other.ndim for dim in dims_other]
    outer_self = [dim for dim in range(input.ndim) if dim not in inner_self]
    outer_other = [dim for dim in range(other.ndim) if dim not in inner_other]
    count = prod([input.size(dim) for dim in inner_self])
    left = input.permute((*outer_self, *inner_self)).reshape((prod(input.size(dim) for dim in outer_self), count))
    right = other.permute((*inner_other, *outer_other)).reshape((count, prod(other.size(dim) for dim in outer_other)))
    size = [input.size(dim) for dim in outer_self] + [other.size(dim) for dim in outer_other]
    return ops.mm(left, right).reshape(tuple(size))


def ger(input, vec2):
    return outer(input, vec2)


def inner(input, other):
    if not input.ndim or not other.ndim:
        return input * other
    if input.size(-1) != other.size(-1):
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    if input.ndim == other.ndim == 1:
        return input.dot(other).view(())
    return tensordot(input, other, (-1,), (-1,))


def kron(input, other):
    rank = max(input.ndim, other.ndim)
    left = (1,) * (rank - input.ndim) + tuple(input.shape)
    right = (1,) * (rank - other.ndim) + tuple(other.shape)
    spread = [size for own in left for size in (own, 1)], [size for own in right for size in (1, own)]
    product = input.reshape(tuple(spread[0])) * other.reshape(tuple(spread[1]))
    return ops._unsafe_view(product, tuple([a * b for a, b in zip(left, right, strict=True)]))


def matrix_power(input, n):
    if input.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if n < 0:
        raise NotImplementedError("matrix_power with a negative exponent needs the inverse, which is not implemented")
    if n == 0:
        return input.clone().copy_(ops.eye(input.size(-1), dtype=input.dtype, device=input.device))
    result, square = None, input
    while n:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        square = square @ square if n else square
    return result.clone() if result is input else result


def linalg_vecdot(x, y, dim):
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            "linalg.vecdot: Expected a floating point or complex tensor as input. Got "
            + x.dtype.storage_name.removesuffix("Tensor")
        )
    return (x.conj() * y).sum(dim)


def trace(input):
    if input.ndim != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim " + str(input.ndim))
    if input.dtype is boolean:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return input.diagonal().sum()
