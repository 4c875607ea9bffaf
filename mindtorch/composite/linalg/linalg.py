"""Products of tensors of any rank, written in products of matrices."""

from math import prod

import numpy as np

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.promotion import can_cast, promote_types
from mindtorch._core.tensor import Tensor, wrap
from mindtorch._support.float_errors import quiet
from mindtorch.autograd._engine.history import check_recorded_write
from mindtorch.autograd._engine.outputs import write_back, write_castable, write_out
from mindtorch.backends.cpu.common.casting import check_same
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.reduction.reduction import sum as add_all
from mindtorch.composite.common import out_forms
from mindtorch.composite.common.unseen import bare_floats
from mindtorch.composite.linalg.decompositions import linalg_inv as linalg_inv
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.level_views import share_memory
from mindtorch.iterator import BLOCK, broadcast_shapes

# -------------------- matmul --------------------


def matmul(input, other):
    ranks = input._mt_array.ndim, other._mt_array.ndim
    if ranks == (2, 2):
        return ops.mm(input, other)
    if 0 in ranks:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {ranks[0]}D and {ranks[1]}D")
    small = _SMALL_PRODUCTS.get(ranks)
    if small is not None:
        return small(input, other)
    return _folded(input, other) if _should_fold(input, other) else _batched(input, other)


def matmul_out(input, other, out):
    product = _OUT_PRODUCTS.get((input._mt_array.ndim, other._mt_array.ndim))
    if product is not None:
        return getattr(ops, product)(input, other, out=out)
    if input.ndim > 2 and other.ndim == 1:
        *leading, inner = input._mt_array.shape
        flat = ops.mv_out(input.reshape((prod(leading), inner)), other, out=out.new_empty((prod(leading),)))
        return write_out(out, flat.view(tuple(leading)))
    check_same(input._mt_array, out._mt_array)
    return write_out(out, matmul(input, other))


def _vector_matrix(input: Tensor, other: Tensor) -> Tensor:
    return ops._unsafe_view(ops.mm(input.unsqueeze(0), other), other._mt_array.shape[1:])


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
    shape, strides = large._mt_array.shape, large.stride()
    return all(strides[dim] == strides[dim + 1] * shape[dim + 1] for dim in range(large.ndim - 2))


def _folded(input: Tensor, other: Tensor) -> Tensor:
    turned = other.ndim > input.ndim
    if turned:
        large, small = other.transpose(-1, -2), input.t() if input.ndim == 2 else input
    else:
        large, small = input, other
    *leading, inner = large._mt_array.shape
    flat = large.reshape((prod(leading), inner))
    if small.ndim == 1:
        return ops._unsafe_view(flat.mv(small), tuple(leading))
    result = ops._unsafe_view(ops.mm(flat, small), (*leading, small._mt_array.shape[1]))
    return result.transpose(-1, -2).contiguous() if turned else result


def _batched(input: Tensor, other: Tensor) -> Tensor:
    left, right = input._mt_array.shape, other._mt_array.shape
    if len(left) == 3 and len(right) == 3:
        if left[0] == right[0]:
            return ops._unsafe_view(ops.bmm(input, other), (*left[:2], right[2]))
        if left[0] == 1 and input.requires_grad:
            return matmul(input.squeeze(0), other)
        if right[0] == 1 and other.requires_grad:
            return matmul(input, other.squeeze(0))
    rows = left[-2:-1] or (1,)
    batch = left[:-2]
    if batch != right[:-2]:
        batch = broadcast_shapes(batch, right[:-2])
        input, other = input.expand((*batch, *rows, left[-1])), other.expand((*batch, *right[-2:]))
    count = prod(batch)
    first = input.reshape((count, *rows, left[-1]))
    second = other.reshape((count, *right[-2:]))
    if len(right) == 1:
        return ops._unsafe_view(ops.bmm(first, second.unsqueeze(2)).squeeze(-1), (*batch, *left[-2:-1]))
    columns = right[-1:]
    return ops._unsafe_view(ops.bmm(first, second), (*batch, *left[-2:-1], *columns))


# -------------------- linear and outer --------------------


def linear(input, weight, bias):
    ndim = input._mt_array.ndim
    if not ndim or not weight._mt_array.ndim:
        ranks = f"{ndim}D and {weight.ndim}D"
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {ranks}")
    if bias is None:
        return matmul(input, weight.t())
    if ndim == 2 == weight._mt_array.ndim:
        return ops.addmm(bias, input, weight.t())
    if input.is_contiguous():
        *leading, inner = input._mt_array.shape
        flat = ops.addmm(bias, input.reshape((prod(leading), inner)), weight.t())
        return flat.view((*leading, flat._mt_array.shape[1]))
    return matmul(input, weight.t()).add_(bias)


def linear_out(input, weight, bias, out):
    check_same(input._mt_array, out._mt_array)
    return write_out(out, linear(input, weight, bias))


def outer(input, vec2):
    _check_outer(input, vec2)
    if (arrays := bare_floats(input, vec2)) is not None and (product := _outer_product(*arrays)) is not None:
        return wrap(product)
    return input.reshape((input.numel(), 1)) * vec2


def _outer_product(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Of few numbers. Large arrays are for those with threads, rows and columns for those who know their strides."""
    return quiet(np.multiply, a[:, None], b) if 1 < len(a) and 1 < len(b) and len(a) * len(b) <= BLOCK else None


def outer_out(input, vec2, out):
    _check_outer(input, vec2)
    return ops.mul(input.reshape((input.numel(), 1)), vec2, out=out)


def _check_outer(input, vec2):
    for name, tensor in (("self", input), ("vec2", vec2)):
        if tensor.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {tensor.ndim}-D")


def addr(input, vec1, vec2, beta, alpha):
    """beta * input + alpha * outer(vec1, vec2); of bools, which are true or not, `or` and `and`."""
    _check_addr(input, vec1, vec2, beta, alpha)
    if beta == 1 == alpha and (arrays := bare_floats(input, vec1, vec2)) is not None and arrays[0].flags.c_contiguous:
        product = _outer_product(*arrays[1:])
        if product is not None and product.shape == arrays[0].shape:
            return wrap(quiet(np.add, arrays[0], product, product))
    if not input.dtype is vec1.dtype is vec2.dtype:
        vec1 = vec1.to(promote_types(promote_types(input.dtype, vec1.dtype), vec2.dtype))
    beta, alpha = [checked_number(each, vec1.dtype.numpy).item() for each in (beta, alpha)]
    product = vec1.unsqueeze(1) * vec2
    if product.dtype is boolean and input.dtype is boolean:
        product = product & bool(alpha)
        return (input & bool(beta)) | product
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        nothing = ops.where(ops.ones_like(input, dtype=boolean), ops.zeros_like(input), input)
        return nothing + scaled  # nan in the input does not count
    return (input if beta == 1 else input * beta) + scaled


def addr_(input, vec1, vec2, beta, alpha):
    check_recorded_write(input)
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        _check_vector(name, vector)
    if input.ndim != 2:
        raise RuntimeError(f"2D tensor expected, got {input.ndim}D tensor for input")
    if tuple(input.shape) != (vec1.size(0), vec2.size(0)):
        raise RuntimeError(f"size mismatch, input: {list(input.shape)}, v1: {list(vec1.shape)}, v2: {list(vec2.shape)}")
    return write_back(input, addr(input, vec1, vec2, beta, alpha))


def _check_vector(name: str, vector: Tensor) -> None:
    if vector.ndim != 1:
        raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")


def _check_addr(input: Tensor, vec1: Tensor, vec2: Tensor, beta, alpha) -> None:
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        _check_vector(name, vector)
    shape = (vec1.size(0), vec2.size(0))
    if tuple(input.shape) != shape:
        input.expand(shape)
    is_boolean = all(each.dtype is boolean for each in (input, vec1, vec2))
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, bool) and not is_boolean:
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if not any(each.is_floating_point() or each.is_complex() for each in (input, vec1, vec2)):
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, (float, complex)):
                raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")


# -------------------- contractions --------------------


def tensordot_out(input, other, dims_self, dims_other, *, out):
    result = tensordot(input, other, dims_self, dims_other)
    if out.dtype is not result.dtype:
        raise RuntimeError(
            f"tensordot: Expected the output tensor to have dtype {result.dtype.storage_name}, but got an output "
            f"tensor with dtype {out.dtype.storage_name}"
        )
    return write_out(out, result)


def tensordot(input, other, dims_self, dims_other):
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    if input.dtype is not other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    for first, second in zip(dims_self, dims_other, strict=True):
        left, right = input.size(first), other.size(second)
        if right == 1:
            input = input.sum(first, True, dtype=input.dtype)
        elif left == 1:
            other = other.sum(second, True, dtype=other.dtype)
        elif left != right:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {left} in dim {first} and second has size "
                f"{right} in dim {second}"
            )
    inner_self = [dim % input.ndim for dim in dims_self]
    inner_other = [dim % other.ndim for dim in dims_other]
    outer_self = [dim for dim in range(input.ndim) if dim not in inner_self]
    outer_other = [dim for dim in range(other.ndim) if dim not in inner_other]
    rows, columns = [input.size(dim) for dim in outer_self], [other.size(dim) for dim in outer_other]
    left, right = input.permute((*outer_self, *inner_self)), other.permute((*inner_other, *outer_other))
    if prod(rows) == 1 == prod(columns):
        product = _inner_product(left, right)
    else:
        count = prod([input.size(dim) for dim in inner_self])
        product = ops.mm(left.reshape((prod(rows), count)), right.reshape((count, prod(columns))))
    return product.reshape((*rows, *columns))


def _inner_product(left, right):
    if left.is_contiguous() and right.is_contiguous():
        return ops.dot(left.reshape(-1), right.reshape(-1))
    return (left.squeeze() * right.squeeze()).sum(dtype=left.dtype)


def inner(input, other):
    if not input.ndim or not other.ndim:
        return input * other
    if input.size(-1) != other.size(-1):
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    if input._mt_array.dtype != other._mt_array.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if input.ndim == other.ndim == 1:
        return input.dot(other).view(())
    return tensordot(input, other, (-1,), (-1,))


def inner_out(input, other, out):
    if not input.ndim or not other.ndim:
        return ops.mul(input, other, out=out)
    return _inner_out(input, other, out=out)


_inner_out = out_forms.of_same_dtype(
    inner, "tensordot: Expected the output tensor to have dtype {result}, but got an output tensor with dtype {out}"
)


def kron(input, other):
    rank = max(input.ndim, other.ndim)
    left = (1,) * (rank - input.ndim) + tuple(input.shape)
    right = (1,) * (rank - other.ndim) + tuple(other.shape)
    spread = [size for own in left for size in (own, 1)], [size for own in right for size in (1, own)]
    parts = [
        share_memory(ops._unsafe_view(each, tuple(size)), each)
        for each, size in zip((input, other), spread, strict=True)
    ]
    product = parts[0] * parts[1]
    return ops._unsafe_view(product, tuple([a * b for a, b in zip(left, right, strict=True)]))


def kron_out(input, other, out):
    return out_forms.put(out, kron(input, other))


def matrix_power(input, n):
    if input.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if input.size(-2) != input.size(-1):
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{input.size(-2)} by {input.size(-1)} matrices"
        )
    if n < 0:
        return linalg_inv(input) if n == -1 else matrix_power(linalg_inv(input), -n)
    if n == 0:
        identity = ops.eye(input.size(-1), dtype=input.dtype, device=input.device)
        return input.clone(memory_format=contiguous_format).copy_(identity)
    result, square = None, input
    while n:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        square = square @ square if n else square
    return result.clone(memory_format=contiguous_format) if result is input else result


def matrix_power_out(input, n, out):
    if not can_cast(input.dtype, out.dtype) or n in (0, 1):
        return write_castable("matrix_power", "result", out, matrix_power(input, n))
    if n == 2:
        check_same(input._mt_array, out._mt_array)
    return _matrix_power_out(input, n, out=out)


_matrix_power_out = out_forms.of_same_dtype(matrix_power)


def linalg_vecdot(x, y, dim):
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            "linalg.vecdot: Expected a floating point or complex tensor as input. Got "
            + x.dtype.storage_name.removesuffix("Tensor")
        )
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {x.dtype.storage_name} and y "
            f"of type {y.dtype.storage_name} instead"
        )
    return (x.conj() * y).sum(dim)


linalg_vecdot_out = out_forms.of_same_dtype(
    linalg_vecdot, "linalg.vecdot: Expected out of dtype{result} but found {out}"
)


def trace(input):
    if input.ndim != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim " + str(input.ndim))
    if input.dtype is boolean:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    if (arrays := bare_floats(input)) is not None:
        return wrap(add_all(arrays[0].diagonal()))
    return input.diagonal().sum()
