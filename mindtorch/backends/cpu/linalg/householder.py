"""Kernels of Householder reflections: `I - tau v v^H`, and the products of them that LAPACK keeps instead of Q."""

import numpy as np

from mindtorch._support.numpy_functions import ndindex
from mindtorch.backends.cpu.common.casting import deliver, deliver_castable, deliver_castables
from mindtorch.backends.cpu.common.checks import not_implemented, scalar_name
from mindtorch.backends.cpu.linalg.decompositions import columns_of
from mindtorch.backends.cpu.linalg.lu_factors import lapack_routine

Array = np.ndarray


def geqrf(input, out=None):
    _check_matrix("torch.geqrf: input", input)
    _check_dtype("geqrf_cpu", input)
    packed, tau = np.linalg.qr(input, "raw")
    results = columns_of(packed.swapaxes(-1, -2)), np.ascontiguousarray(tau)
    return deliver_castables("torch.geqrf", ("a", "tau"), results, out)


def householder_product(input, tau, out=None):
    _check_product(input, tau)
    _check_dtype("orgqr_cpu", input)
    product = np.empty(input.shape, input.dtype)
    if input.size:
        form = lapack_routine("ungqr" if input.dtype.kind == "c" else "orgqr", input.dtype)
        for place in ndindex(input.shape[:-2]):
            product[place] = form(input[place], tau[place])[0]
    return deliver_castable("torch.linalg.householder_product", "result", columns_of(product), out)


def ormqr(input, input2, input3, left=True, transpose=False, out=None):
    tau, other = input2, input3
    _check_factors(input, tau, other, -2 if left else -1)
    if out is not None:
        _check_dtypes("torch.ormqr", input, "result", out)
    _check_dtype("ormqr_cpu", input)
    product = np.empty(other.shape, other.dtype)
    if other.size:
        is_complex = input.dtype.kind == "c"
        apply = lapack_routine("unmqr" if is_complex else "ormqr", input.dtype)
        side, form = "L" if left else "R", ("C" if is_complex else "T") if transpose else "N"
        space = _BLOCK * max(other.shape[-2:])
        for place in ndindex(input.shape[:-2]):
            product[place] = apply(side, form, input[place][:, : tau.shape[-1]], tau[place], other[place], space)[0]
    return deliver(columns_of(product), out)


_BLOCK = 32  # rows or columns that LAPACK takes together


# -------------------- checks --------------------


def _check_matrix(name: str, matrix: Array) -> None:
    if matrix.ndim < 2:
        raise RuntimeError(f"{name} must have at least 2 dimensions.")


def _check_dtype(kernel: str, matrix: Array) -> None:
    if matrix.dtype.kind not in "fc" or matrix.itemsize == 2:
        raise not_implemented(kernel, matrix)


def _check_product(input: Array, tau: Array) -> None:
    op = "torch.linalg.householder_product"
    _check_matrix(f"{op}: input", input)
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{op}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.shape[-1] < _last(tau):
        raise RuntimeError(f"{op}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    _check_factors_fit(op, input, tau)
    if input.dtype != tau.dtype:
        raise RuntimeError(f"{op}: tau dtype {scalar_name(tau)} does not match input dtype {scalar_name(input)}")


def _last(array: Array) -> int:
    if not array.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    return array.shape[-1]


def _check_factors_fit(op: str, input: Array, tau: Array) -> None:
    """There must be a vector of factors for each matrix."""
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{op}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.ndim} and "
            f"input.ndim is equal to {input.ndim}"
        )
    _check_batch(op, "tau", tau.shape[:-1], input)


def _check_batch(op: str, name: str, batch: tuple[int, ...], input: Array) -> None:
    if batch != input.shape[:-2]:
        raise RuntimeError(
            f"{op}: Expected batch dimensions of {name} to be equal to input.shape[:-2], but got {list(batch)}"
        )


def _check_factors(input: Array, tau: Array, other: Array, dim: int) -> None:
    op = "torch.ormqr"
    _check_matrix(f"{op}: input", input)
    _check_matrix(f"{op}: other", other)
    if other.shape[dim] < _last(tau):
        raise RuntimeError(f"{op}: other.shape[{dim}] must be greater than or equal to tau.shape[-1]")
    if other.shape[dim] != input.shape[-2]:
        raise RuntimeError(f"{op}: other.shape[{dim}] must be equal to input.shape[-2]")
    if tau.shape[-1] != min(other.shape[dim], input.shape[-1]):
        raise RuntimeError(f"{op}: tau.shape[-1] must be equal to min(other.shape[{dim}], input.shape[-1])")
    _check_others(op, input, tau, other)


def _check_others(op: str, input: Array, tau: Array, other: Array) -> None:
    if input.ndim - tau.ndim == 1 and input.ndim != other.ndim:
        raise RuntimeError(
            f"{op}: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{other.ndim} and input.ndim is equal to {input.ndim}"
        )
    _check_factors_fit(op, input, tau)
    _check_batch(op, "other", other.shape[:-2], input)
    _check_dtypes(op, input, "tau", tau)
    _check_dtypes(op, input, "other", other)


def _check_dtypes(op: str, input: Array, name: str, array: Array) -> None:
    if array.dtype != input.dtype:
        raise RuntimeError(
            f"{op}: Expected input and {name} to have the same dtype, but input has dtype{scalar_name(input)} and "
            f"{name} has dtype {scalar_name(array)}"
        )
