"""Kernels of symmetric matrices that need not be positive: L D L^T, by the pivoting of Bunch and Kaufman (1977).

The layout is LAPACK's, for the lower triangle: D has blocks of 1 or 2 rows. A pivot is the number, from 1 on, of the
row that was exchanged with the block's last one; of a block of 2 rows, both pivots are that number below 0.
"""

import numpy as np

from mindtorch._core.promotion import INT32
from mindtorch._support import errors
from mindtorch._support.numpy_functions import broadcast_shapes, broadcast_to, is_any, ndindex
from mindtorch.backends.cpu.common.casting import deliver_same
from mindtorch.backends.cpu.common.checks import not_implemented, scalar_name
from mindtorch.backends.cpu.linalg.decompositions import check_square, columns_of
from mindtorch.backends.cpu.linalg.lu_factors import lapack_routine

Array = np.ndarray


def ldl_factor_ex(input, hermitian=False, check_errors=False, out=None):
    op = "torch.linalg.ldl_factor_ex"
    check_square(op, input)
    _check_float(op, input)
    if input.itemsize == 2 and input.size:
        raise not_implemented("ldl_factor_kernel_cpu", input)
    factors = columns_of(np.zeros(input.shape, input.dtype))
    pivots, info = np.zeros(input.shape[:-1], INT32), np.zeros(input.shape[:-2], INT32)
    if input.size:
        _factorize(input, hermitian and input.dtype.kind == "c", factors, pivots, info)
    if check_errors and is_any(info):
        raise _zero_pivot(int(info[info != 0].reshape(-1)[0]))
    results = factors, pivots, info
    return tuple([deliver_same(result, each) for result, each in zip(results, out or (None,) * 3, strict=True)])


def _zero_pivot(number: int) -> Exception:
    return errors.LinAlgError(
        f"torch.linalg.ldl_factor_ex: The diagonal block of D in row {number} is zero, so that systems with these "
        "factors have no solution."
    )


def _check_float(op: str, matrix: Array) -> None:
    if matrix.dtype.kind in "biu":
        raise RuntimeError(f"{op}: Expected a floating point or complex tensor as input. Got {scalar_name(matrix)}")


# -------------------- the factors --------------------


def _factorize(matrices: Array, is_hermitian: bool, factors: Array, pivots: Array, info: Array) -> None:
    """The lower triangles of L and D, without what LAPACK leaves above them."""
    name, rows = "hetrf" if is_hermitian else "sytrf", matrices.shape[-1]
    factorize = lapack_routine(name, matrices.dtype)
    space = int(lapack_routine(name + "_lwork", matrices.dtype)(rows, lower=1)[0].real)
    is_lower = np.tri(rows, dtype=bool)
    for place in ndindex(matrices.shape[:-2]):
        packed, pivots[place], info[place] = factorize(matrices[place], lower=1, lwork=space)
        np.copyto(factors[place], packed, where=is_lower)


# -------------------- systems --------------------


def ldl_solve(LD, pivots, B, hermitian=False, out=None):
    op = "torch.linalg.ldl_solve"
    _check_system(op, LD, pivots, B)
    batch = broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    factors = broadcast_to(LD, (*batch, *LD.shape[-2:]))
    rows = broadcast_to(pivots.astype(INT32), (*batch, LD.shape[-1]))
    solution = np.array(broadcast_to(B, (*batch, *B.shape[-2:])))
    if LD.itemsize == 2:
        raise not_implemented("ldl_solve_kernel_cpu", LD)
    for place in ndindex(batch) if solution.size else ():
        solution[place] = _solve(factors[place], rows[place], solution[place], hermitian and LD.dtype.kind == "c")
    return deliver_same(columns_of(solution), out)


def _check_system(op: str, LD: Array, pivots: Array, B: Array) -> None:
    check_square(op, LD)
    _check_float(op, LD)
    _check_right(op, LD, B)
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            f"{op}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    if pivots.dtype.kind not in "iu":
        raise RuntimeError(f"{op}: Expected pivots to be integers. Got {scalar_name(pivots)}")


def _check_right(op: str, LD: Array, B: Array) -> None:
    if B.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got -2)")
    if LD.shape[-1] != B.shape[-2]:
        sizes = [f"{each.shape[-2]} by {each.shape[-1]}" for each in (LD, B)]
        raise RuntimeError(
            f"Incompatible matrix sizes for {op}: each A matrix is {sizes[0]} but each b matrix is {sizes[1]}"
        )
    if LD.dtype != B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {scalar_name(B)} and A of type "
            f"{scalar_name(LD)} instead."
        )


def _solve(factors: Array, pivots: Array, right: Array, is_hermitian: bool) -> Array:
    _check_pivots(pivots.tolist())
    solve = lapack_routine("hetrs" if is_hermitian else "sytrs", factors.dtype)
    return solve(factors, pivots, right, lower=1)[0]


def _check_pivots(pivots: list[int]) -> None:
    """LAPACK would read beyond the matrix: each row that is named must be there, and the second of a block of 2."""
    step = 0
    while step < len(pivots):
        if not 0 < abs(pivots[step]) <= len(pivots):
            raise IndexError(f"torch.linalg.ldl_solve: pivot {pivots[step]} is not a row of {len(pivots)}")
        step += 1 if pivots[step] > 0 else 2
    if step > len(pivots):
        raise IndexError("torch.linalg.ldl_solve: the last pivot is that of a block of 2 rows, of which one is missing")
