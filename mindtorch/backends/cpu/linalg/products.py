"""Matrix products. Floating-point ones go to BLAS through NumPy, which takes transposed operands without a copy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core import geometry
from mindtorch._core.fast_path import FAST_PATH_FAILED
from mindtorch._core.promotion import FLOAT
from mindtorch._support.float_errors import quiet, run_quietly
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.common.casting import cast, check_same, deliver
from mindtorch.backends.cpu.common.checks import c_name, not_implemented, scalar_name, times
from mindtorch.backends.cpu.common.computing import widened
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.view.view import type_name
from mindtorch.iterator import is_at_hand

Array = np.ndarray
Product = Callable[[Array, Array], Array]


def _dot(a: Array, b: Array) -> Array:
    if 1 in (a.size, b.size):  # where NumPy takes 0 times infinity for 0
        return np.asarray(quiet(np.multiply, a, b)).reshape(a.shape[:-1] + b.shape[1:])
    return quiet(_exactly, np.dot, a, b)


def _multiplied(product: Product, a: Array, b: Array) -> Array:
    """The product; that of 16-bit floats is computed in float32 and rounded once."""
    if a.itemsize != 2 or a.dtype.kind not in "fV":
        return product(a, b)
    return cast(product(widen(a), widen(b)), a.dtype)


def _batched(a: Array, b: Array) -> Array:
    return quiet(_exactly, np.matmul, a, b)


def _exactly(product: Product, a: Array, b: Array) -> Array:
    """The product; that of large matrices of integers in float64, which BLAS takes, if it holds all the sums."""
    if a.dtype.kind not in "iu" or a.size < _MANY or b.size < _MANY:
        return product(a, b)
    if a.shape[-1] * _largest(a) * _largest(b) >= _EXACT:
        return product(a, b)
    return product(a.astype(np.float64), b.astype(np.float64)).astype(np.int64).astype(a.dtype, copy=False)


_MANY = 1 << 10
_EXACT = 1 << 53


def _largest(integers: Array) -> int:
    return max(int(integers.max()), -int(integers.min()))


# -------------------- products of matrices and vectors --------------------


def mm(input, mat2, out=None):
    if (input.dtype is FLOAT is mat2.dtype) and input.ndim == 2 == mat2.ndim and len(mat2) > 1:
        if out is None or is_at_hand(out, (len(input), mat2.shape[1]), FLOAT, (input, mat2)):
            try:
                return run_quietly(input.dot, mat2, out)
            except FAST_PATH_FAILED:
                pass
    _check_mm(input, mat2, out)
    return deliver(_multiplied(_dot, input, mat2), out)


def _check_mm(input: Array, mat2: Array, out: Array | None) -> None:
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_matrix_shapes(input, mat2)
    if input.dtype != mat2.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {c_name(input)} != {c_name(mat2)}")
    _check_numbers("addmm_impl_cpu_", input, mat2, out)
    _check_distinct(out, (input.shape[0], mat2.shape[1]))


def _check_matrix_shapes(mat1: Array, mat2: Array) -> None:
    if mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({times(mat1.shape, 'x')} and {times(mat2.shape, 'x')})"
        )


def _check_numbers(kernel: str, a: Array, b: Array, out: Array | None) -> None:
    """torch has no products of bools, but does not look at the dtype when there is nothing to multiply."""
    check_same(a, out)
    if a.dtype.kind == "b" and a.size and b.size:
        raise not_implemented(kernel, a)


def _check_distinct(out: Array | None, shape: tuple[int, ...]) -> None:
    """An output of another shape gives way to a new one."""
    if out is not None and out.shape == shape:
        iterator.check_distinct(out)


def mv(input, vec, out=None):
    if not input.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    if input.shape[1] != vec.shape[0]:
        rows, columns = input.shape
        raise RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({vec.shape[0]})")
    _check_vectors(vec, input, vec)
    if out is not None and out.shape == input.shape[:1]:  # then torch takes it for the vector to be added
        _check_vectors(out, input, vec)
    _check_numbers("addmv_impl_cpu", input, vec, out)
    return deliver(_multiplied(_dot, input, vec), out)


def _check_vectors(added: Array, input: Array, vec: Array) -> None:
    if not added.dtype == input.dtype == vec.dtype:
        names = [scalar_name(array) for array in (added, input, vec)]
        raise RuntimeError("addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*names))


def dot(input, tensor, out=None):
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.dtype != tensor.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {scalar_name(input)} and {scalar_name(tensor)}"
        )
    if input.size != tensor.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{input.size}] and src [{tensor.size}] to have the same number "
            f"of elements, but got {input.size} and {tensor.size} elements respectively"
        )
    if out is not None and out.dtype != input.dtype:
        iterator.needs_resize(out, ())
        raise RuntimeError(f"result dtype {scalar_name(out)} does not match input dtype {scalar_name(input)}")
    if input.dtype.kind == "b":
        raise not_implemented("dot", input)
    return deliver(np.asarray(_multiplied(_dot, input, tensor)), out)


def bmm(input, mat2, out=None):
    if (input.dtype is FLOAT is mat2.dtype) and input.ndim == 3 == mat2.ndim and input.size and mat2.size:
        shape = input.shape[:2] + mat2.shape[2:]
        if input.shape[::2] == mat2.shape[:2] and (out is None or is_at_hand(out, shape, FLOAT, (input, mat2))):
            return quiet(np.matmul, input, mat2, out=out)
    for name, array in (("batch1", input), ("batch2", mat2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    _check_batches(input, mat2)
    if 0 in (*input.shape, mat2.shape[2]):  # nothing is computed, so that the dtypes don't matter
        return deliver(np.zeros((*input.shape[:2], mat2.shape[2]), mat2.dtype), out)
    _check_factors("bmm", input, mat2, out)
    return deliver(_multiplied(_batched, input, mat2), out)


def _check_batches(batch1: Array, batch2: Array) -> None:
    expected = [batch1.shape[0], batch1.shape[2]]
    given = list(batch2.shape[:2])
    if expected != given:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {given}."
        )


_FEW = 400  # multiplications; torch has a loop of its own for less


def _check_factors(kernel: str, batch1: Array, batch2: Array, out: Array | None) -> None:
    """Both of one dtype. torch's loop for small matrices goes by the dtype of the first, other ways by the second's."""
    first, second = batch1, batch2
    if batch1.shape[1] * batch1.shape[2] * batch2.shape[2] >= _FEW:
        first, second = batch2, batch1
    _check_numbers(kernel, first, second, out)
    if first.dtype != second.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(first)} but found {scalar_name(second)}")


# -------------------- products added to a matrix --------------------


def _product_and_sum(mat1: Array, mat2: Array, addend: Array, out: Array | None) -> Array:
    result = mat1.dot(mat2, out)
    return np.add(result, addend, result)


def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    if beta == 1 == alpha and mat1.ndim == 2 == mat2.ndim and mat1.dtype.char in "fd":
        if input.dtype is mat1.dtype is mat2.dtype and 1 < mat1.shape[1] == mat2.shape[0]:
            shape = mat1.shape[0], mat2.shape[1]
            if input.shape == shape or input.shape == shape[1:]:
                if out is None or is_at_hand(out, shape, mat1.dtype, (input, mat1, mat2)):
                    return quiet(_product_and_sum, mat1, mat2, input, out)
    for name, array in (("self", input), ("mat1", mat1)):
        if array.dtype != mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and {scalar_name(mat2)}"
            )
    for name, array in (("mat1", mat1), ("mat2", mat2)):
        if array.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {array.ndim}-D tensor")
    _check_matrix_shapes(mat1, mat2)
    shape = (mat1.shape[0], mat2.shape[1])
    _check_addend(input, shape, out)
    _check_numbers("addmm_impl_cpu_", mat1, mat2, out)
    _check_distinct(out, shape)
    return _sum_with(_dot, input, mat1, mat2, beta, alpha, out)


def baddbmm(input, batch1, batch2, beta=1, alpha=1, out=None):
    for batch, dim in ((batch1, 0), (batch1, 1), (batch2, 2)):
        geometry.wrap_dim(dim, batch.ndim)
    _check_addend(input, (*batch1.shape[:2], batch2.shape[2]), out)
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if input.dtype != batch1.dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {c_name(input)}, batch1: {c_name(batch1)}, batch2: "
            f"{c_name(batch2)}"
        )
    _check_batches(batch1, batch2)
    _check_factors("baddbmm", batch1, batch2, out)
    if out is not input and beta != 0:  # torch copies the addend to `out` first
        _check_distinct(out, (*batch1.shape[:2], batch2.shape[2]))
    return _sum_with(_batched, input, batch1, batch2, beta, alpha, out)


def addmv(input, mat, vec, beta=1, alpha=1, out=None):
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}")
    rows, columns = mat.shape
    if columns != vec.shape[0] or input.size not in (1, rows):
        if not input.ndim:  # whose size the message asks for
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(f"size mismatch, got input ({input.size}), mat ({rows}x{columns}), vec ({vec.shape[0]})")
    _check_vectors(input, mat, vec)
    _check_addend(input, (rows,), out)
    _check_numbers("addmv_impl_cpu", mat, vec, out)
    _check_distinct(out, (rows,))
    alpha, beta = [checked_number(each, input.dtype).item() for each in (alpha, beta)]
    return _sum_with(_dot, input, mat, vec, beta, alpha, out)


def addbmm(input, batch1, batch2, beta=1, alpha=1, out=None):
    """The sum of a batch of products is one product of the matrices side by side."""
    for batch, dim in ((batch1, 1), (batch2, 2)):
        geometry.wrap_dim(dim, batch.ndim)
    _check_addend(input, (batch1.shape[1], batch2.shape[2]), out)
    _check_summed_batches(batch1, batch2)
    for name, array in (("self", input), ("mat1", batch1)):
        if array.dtype != batch2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and {scalar_name(batch2)}"
            )
    _check_out_dtype(input, out)
    _check_numbers("addmm_impl_cpu_", batch1, batch2, out)
    _check_distinct(out, (batch1.shape[1], batch2.shape[2]))
    if input.itemsize == 2 and input.dtype.kind in "fV":
        return deliver(_rounded_sum(input, batch1, batch2, beta, alpha), out)
    return _sum_with(_summed_products, input, batch1, batch2, beta, alpha, out)


def _rounded_sum(input: Array, batch1: Array, batch2: Array, beta: Any, alpha: Any) -> Array:
    """Of 16-bit floats torch adds one product after the other, and rounds each time."""
    total = _sum_with(_dot, input, batch1[0], batch2[0], beta, alpha, None)
    for left, right in zip(batch1[1:], batch2[1:]):
        total = _sum_with(_dot, total, left, right, 1, alpha, None)
    return total


def _check_summed_batches(batch1: Array, batch2: Array) -> None:
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({times(batch1.shape[1:], 'x')} and {times(batch2.shape[1:], 'x')})"
        )


def _check_out_dtype(input: Array, out: Array | None) -> None:
    if out is not None and out.dtype != input.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {scalar_name(out)} and {scalar_name(input)}"
        )


def _summed_products(a: Array, b: Array) -> Array:
    count = b.shape[0] * b.shape[1]
    return _dot(a.transpose(1, 0, 2).reshape(a.shape[1], count), b.reshape(count, b.shape[2]))


def _check_addend(input: Array, shape: tuple[int, ...], out: Array | None) -> None:
    """The addend expands to the product's shape; one that is written in place has it."""
    if input.shape == shape:
        return
    if input is out:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {list(input.shape)} and output tensor size {list(shape)} should "
            "match"
        )
    _check_rank(input, shape)
    view_geometry.expand(input.shape, input.strides, 1, shape)


def _check_rank(input: Array, shape: tuple[int, ...]) -> None:
    if input.ndim > len(shape):
        raise RuntimeError(
            f"expand({type_name(input)}{{{list(input.shape)}}}, size={list(shape)}): the number of sizes "
            f"provided ({len(shape)}) must be greater or equal to the number of dimensions in the tensor "
            f"({input.ndim})"
        )


def _sum_with(product: Product, input: Array, a: Array, b: Array, beta: Any, alpha: Any, out: Array | None) -> Array:
    """beta * input + alpha * (a @ b), of 16-bit floats rounded once. With a beta of 0 `input` may hold anything."""
    alpha, beta = [checked_number(each, widened(input.dtype)) for each in (alpha, beta)]
    result = product(widen(a), widen(b))
    if alpha != 1:
        quiet(np.multiply, result, alpha.astype(result.dtype), out=result)
    if beta == 1:
        quiet(np.add, result, widen(input), out=result)
    elif beta != 0:
        quiet(np.add, result, quiet(np.multiply, widen(input), beta.astype(result.dtype)), out=result)
    return deliver(cast(result, input.dtype), out)
