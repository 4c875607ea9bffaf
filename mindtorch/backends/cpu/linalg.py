"""Matrix products. Floating-point ones go to BLAS through NumPy, which takes transposed operands without a copy."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch.backends import view_geometry
from mindtorch.backends.cpu.casting import check_same, deliver
from mindtorch.backends.cpu.checks import c_name, not_implemented, scalar_name, times
from mindtorch.backends.cpu.elementwise import SHORT_CUT_FAILED
from mindtorch.backends.cpu.precision import widen
from mindtorch.backends.cpu.quiet import quiet, run_quietly
from mindtorch.promotion import FLOAT

Array = np.ndarray
Product = Callable[[Array, Array], Array]


def _dot(a: Array, b: Array) -> Array:
    return quiet(a.dot, b)


def _multiplied(product: Product, a: Array, b: Array) -> Array:
    """The product; that of 16-bit floats is computed in float32 and rounded once."""
    if a.itemsize != 2 or a.dtype.kind not in "fV":
        return product(a, b)
    return product(widen(a), widen(b)).astype(a.dtype)


def _batched(a: Array, b: Array) -> Array:
    return quiet(np.matmul, a, b)


# -------------------- products of matrices and vectors --------------------


def mm(input, mat2, out=None):
    if out is None and (input.dtype is FLOAT is mat2.dtype) and input.ndim == 2 == mat2.ndim:
        try:
            return run_quietly(input.dot, mat2)
        except SHORT_CUT_FAILED:
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
    _check_distinct(out)


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


def _check_distinct(out: Array | None) -> None:
    if out is not None:
        iterator.check_distinct(out)


def mv(input, vec, out=None):
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
        raise RuntimeError(f"result dtype {scalar_name(out)} does not match input dtype {scalar_name(input)}")
    if input.dtype.kind == "b":
        raise not_implemented("dot", input)
    return deliver(np.asarray(_multiplied(_dot, input, tensor)), out)


def bmm(input, mat2, out=None):
    for name, array in (("batch1", input), ("batch2", mat2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    _check_batches(input, mat2, "bmm", out)
    return deliver(_multiplied(_batched, input, mat2), out)


def _check_batches(batch1: Array, batch2: Array, kernel: str, out: Array | None) -> None:
    expected = [batch1.shape[0], batch1.shape[2]]
    given = list(batch2.shape[:2])
    if expected != given:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {given}."
        )
    if batch1.dtype != batch2.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(batch1)} but found {scalar_name(batch2)}")
    _check_numbers(kernel, batch1, batch2, out)


# -------------------- products added to a matrix --------------------


def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    if out is None and beta == 1 == alpha and mat1.ndim == 2 == mat2.ndim and mat1.dtype.char in "fd":
        if input.dtype is mat1.dtype is mat2.dtype and mat1.shape[1] == mat2.shape[0]:
            result = mat1.dot(mat2)
            if input.shape == result.shape or input.shape == result.shape[1:]:
                return quiet(np.add, result, input, result)
    for name, array in (("mat1", mat1), ("mat2", mat2)):
        if array.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {array.ndim}-D tensor")
    for name, array in (("self", input), ("mat1", mat1)):
        if array.dtype != mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and {scalar_name(mat2)}"
            )
    _check_matrix_shapes(mat1, mat2)
    shape = (mat1.shape[0], mat2.shape[1])
    _check_addend(input, shape, out)
    _check_numbers("addmm_impl_cpu_", mat1, mat2, out)
    _check_distinct(out)
    return _sum_with(_dot, input, mat1, mat2, beta, alpha, out)


def baddbmm(input, batch1, batch2, beta=1, alpha=1, out=None):
    if batch1.ndim > 1 and batch2.ndim > 2:
        _check_addend(input, (*batch1.shape[:2], batch2.shape[2]), out)
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if input.dtype != batch1.dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {c_name(input)}, batch1: {c_name(batch1)}, batch2: "
            f"{c_name(batch2)}"
        )
    _check_batches(batch1, batch2, "baddbmm", out)
    if out is not None and out is not input and beta != 0:  # torch copies the addend to `out` first
        iterator.check_distinct(out)
    return _sum_with(_batched, input, batch1, batch2, beta, alpha, out)


def _check_addend(input: Array, shape: tuple[int, ...], out: Array | None) -> None:
    """The addend expands to the product's shape; one that is written in place has it."""
    if input.shape == shape:
        return
    if input is out:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {list(input.shape)} and output tensor size {list(shape)} should "
            "match"
        )
    view_geometry.expand(input.shape, input.strides, 1, shape)


def _sum_with(product: Product, input: Array, a: Array, b: Array, beta: Any, alpha: Any, out: Array | None) -> Array:
    """beta * input + alpha * (a @ b), of 16-bit floats rounded once. With a beta of 0 `input` may hold anything."""
    if input.dtype.kind in "iu":
        alpha, beta = int(alpha), int(beta)
    result = product(widen(a), widen(b))
    if alpha != 1:
        result *= result.dtype.type(alpha)
    if beta == 1:
        quiet(np.add, result, widen(input), out=result)
    elif beta != 0:
        quiet(np.add, result, widen(input) * result.dtype.type(beta), out=result)
    return deliver(result.astype(input.dtype, copy=False), out)
