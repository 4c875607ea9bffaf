"""Kernels of factorizations, inverses and linear systems, which LAPACK computes through numpy.linalg.

Matrices of results lie column by column in memory, as LAPACK writes them and torch leaves them.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mindtorch._core.promotion import INT32, complex_of, real_of
from mindtorch._support import errors
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import (
    broadcast_shapes,
    broadcast_to,
    is_all,
    is_any,
    largest,
    ndindex,
    smallest,
)
from mindtorch.backends.cpu.common.casting import cast, deliver, deliver_castables, deliver_same
from mindtorch.backends.cpu.common.checks import check_fit, no_eigenvalues, not_implemented, scalar_name
from mindtorch.backends.cpu.common.precision import widen
from mindtorch.backends.cpu.linalg.lu_factors import exchanges, lapack_routine, permutation, triangles

Array = np.ndarray
Outs = Sequence[Array] | None


# -------------------- checks and results --------------------


def check_square(op: str, matrix: Array) -> None:
    check_matrix(op, matrix)
    rows, columns = matrix.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{op}: A must be batches of square matrices, but they are {rows} by {columns} matrices")


def check_matrix(op: str, matrix: Array) -> None:
    if matrix.ndim < 2:
        raise RuntimeError(f"{op}: The input tensor A must have at least 2 dimensions.")


def _check_float(op: str, matrix: Array, kernel: str | None = None) -> None:
    """`kernel`: what is missing for 16-bit floats; without it, the op itself refuses them."""
    if matrix.dtype.kind in "biu":
        raise RuntimeError(f"{op}: Expected a floating point or complex tensor as input. Got {scalar_name(matrix)}")
    if matrix.itemsize == 2 and kernel is None:
        raise RuntimeError(f"{op}: Low precision dtypes not supported. Got {scalar_name(matrix)}")
    if matrix.itemsize == 2 and matrix.size and kernel is not None:
        raise not_implemented(kernel, matrix)


def columns_of(matrix: Array) -> Array:
    """The same matrices, column by column in memory."""
    turned = np.ascontiguousarray(matrix.swapaxes(-1, -2))
    return turned.reshape(-1).reshape(turned.shape).swapaxes(-1, -2)


def _delivered(results: Sequence[Array], out: Outs) -> tuple[Array, ...]:
    pairs = zip(results, out or [None] * len(results), strict=True)
    return tuple([deliver_same(result, each) for result, each in pairs])


def _no_info(matrix: Array) -> Array:
    return np.zeros(matrix.shape[:-2], INT32)


def raise_singular(op: str, info: Array, text: Callable[[int], str]) -> None:
    """The error for the first matrix of a batch with which something is wrong."""
    if not is_any(info):
        return
    place = int(np.flatnonzero(info)[0])
    batch = f"(Batch element {place}): " if info.ndim else ""
    raise errors.LinAlgError(f"{op}: {batch}{text(int(info.reshape(-1)[place]))}")


def zero_diagonal(number: int) -> str:
    return (
        f"The diagonal element {number} is zero, the inversion could not be completed because the input matrix is "
        "singular."
    )


def not_positive(number: int) -> str:
    return (
        "The factorization could not be completed because the input is not positive-definite (the leading minor of "
        f"order {number} is not positive-definite)."
    )


def singular(number: int) -> str:
    return "The solver failed because the input matrix is singular."


# -------------------- LU --------------------


def factorized(matrix: Array) -> tuple[Array, Array, Array]:
    """L and U in one matrix, the rows that were exchanged (counted from 1), and the first zero on the diagonal."""
    rows, columns = matrix.shape[-2:]
    if min(rows, columns) > _FEW_ROWS and not _are_many_small(matrix) and (found := _by_lapack(matrix)) is not None:
        return *found, _no_info(matrix)
    lu = np.array(matrix, order="C")
    pivots = np.empty((*lu.shape[:-2], min(rows, columns)), INT32)
    if _are_many_small(matrix):
        return lu, pivots, quiet(_factorize_all, lu, pivots)
    info = _no_info(lu)
    for place in ndindex(lu.shape[:-2]):
        info[place] = quiet(_factorize, lu[place], pivots[place])
    return lu, pivots, info


def _factorize(lu: Array, pivots: Array) -> int:
    """The plainest order of steps: other orders round otherwise, so that singular matrices are not seen to be so."""
    first_zero = 0
    for step in range(len(pivots)):
        row = step + int(_absolute(lu[step:, step]).argmax())
        pivots[step] = row + 1
        if row != step:
            exchanged = lu[row].copy()
            lu[row], lu[step] = lu[step], exchanged
        pivot = lu[step, step]
        if pivot == 0:
            first_zero = first_zero or step + 1
            continue
        column, rest = lu[step + 1 :, step : step + 1], lu[step + 1 :, step + 1 :]
        np.divide(column, pivot, column)
        np.subtract(rest, np.multiply(column, lu[step, step + 1 :]), rest)
    return first_zero


def _are_many_small(matrix: Array) -> bool:
    """Whether a step for all matrices at once is quicker than one after the other."""
    return bool(matrix.size) and matrix.shape[-1] <= _SMALL and prod(matrix.shape[:-2]) >= _MANY


_SMALL, _MANY = 16, 8


def _factorize_all(lu: Array, pivots: Array) -> Array:
    """The steps of `_factorize`, each for all matrices at once; returns the first zeros on the diagonals."""
    batch = lu.shape[:-2]
    lu, pivots = lu.reshape(-1, *lu.shape[-2:]), pivots.reshape(-1, pivots.shape[-1])
    every, info = np.arange(len(lu)), np.zeros(len(lu), INT32)
    for step in range(pivots.shape[-1]):
        rows = step + _absolute(lu[:, step:, step]).argmax(-1)
        pivots[:, step] = rows + 1
        exchanged = lu[every, rows]
        lu[every, rows] = lu[:, step]
        lu[:, step] = exchanged
        pivot = lu[:, step, step]
        is_zero = pivot == 0
        info[is_zero & (info == 0)] = step + 1
        goes_on = ~is_zero[:, None, None]
        column, rest = lu[:, step + 1 :, step : step + 1], lu[:, step + 1 :, step + 1 :]
        np.divide(column, pivot[:, None, None], column, where=goes_on)
        np.subtract(rest, np.multiply(column, lu[:, step : step + 1, step + 1 :]), rest, where=goes_on)
    return info.reshape(batch)


def _absolute(column: Array) -> Array:
    """What LAPACK compares: of complex numbers the sum of both parts."""
    return np.abs(column) if column.dtype.kind == "f" else np.abs(column.real) + np.abs(column.imag)


_FEW_ROWS = 4  # up to which the plain steps are quick enough, and their rounding shows most
_SAFE = 1e-4  # how large a diagonal element is, beside the others, whose rounding error cannot make it zero


def _by_lapack(matrix: Array) -> tuple[Array, Array] | None:
    """L and U in one matrix, and the exchanged rows; None unless each matrix is far from a singular one."""
    if not matrix.size:
        return None
    factorize = lapack_routine("getrf", matrix.dtype)
    packed, pivots = np.empty(matrix.shape, matrix.dtype), np.empty((*matrix.shape[:-2], min(matrix.shape[-2:])), INT32)
    for place in ndindex(matrix.shape[:-2]):
        packed[place], exchanged, _ = factorize(matrix[place])
        size = np.abs(packed[place])
        if not smallest(size.diagonal()) > _SAFE * largest(size):  # NaN isn't either
            return None
        pivots[place] = exchanged + 1
    return packed, pivots


def lu_factor_ex(A, pivot=True, check_errors=False, out=None):
    if A.ndim < 2:
        raise RuntimeError(
            f"torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    if (A.dtype.kind not in "fc" or A.itemsize == 2) and A.size:
        raise not_implemented("lu_cpu", A)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    lu, pivots, info = factorized(A)
    if check_errors:
        raise_singular("torch.linalg.lu_factor_ex", info, zero_diagonal)
    return _delivered((columns_of(lu), pivots, info), out)


def lu(A, pivot=True, out=None):
    if A.ndim < 2:
        raise RuntimeError(f"linalg.lu: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead")
    if (A.dtype.kind not in "fc" or A.itemsize == 2) and A.size:
        raise not_implemented("lu_cpu", A)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    packed, pivots, _ = factorized(A)
    return _delivered([exchanges(pivots, A.shape[-2], A.dtype), *triangles(packed)], out)


def det(A, out=None):
    check_square("linalg.det", A)
    _check_float("linalg.det", A, "lu_cpu")
    packed, pivots, _ = factorized(_as_columns(A))
    result = quiet(np.multiply.reduce, _diagonal(packed), -1) * _parity(pivots, A.dtype)
    return _delivered((np.asarray(result, A.dtype), columns_of(packed), pivots), out)


def slogdet(A, out=None):
    check_square("linalg.slogdet", A)
    _check_float("linalg.slogdet", A)
    packed, pivots, _ = factorized(_as_columns(A))
    diagonal = _diagonal(packed)
    size = quiet(np.abs, diagonal)
    signs = np.where(size == 0, diagonal, quiet(np.divide, diagonal, size))
    sign = np.multiply.reduce(signs, -1) * _parity(pivots, A.dtype)
    logarithm = quiet(np.log, size).sum(-1)
    return _delivered(
        (np.asarray(sign, A.dtype), np.asarray(logarithm, real_of(A.dtype), order="C"), columns_of(packed), pivots), out
    )


def _as_columns(A: Array) -> Array:
    """The matrices, or their transposes, which have the same determinants: whichever has its columns in memory."""
    return A if A.dtype.kind == "c" or not A.flags.c_contiguous else A.swapaxes(-1, -2)


def _diagonal(matrix: Array) -> Array:
    return np.diagonal(matrix, 0, -2, -1)


def _parity(pivots: Array, dtype: np.dtype[Any]) -> Array:
    """1 or -1, by how often rows were exchanged."""
    exchanges = np.count_nonzero(pivots != np.arange(1, pivots.shape[-1] + 1), -1)
    return np.where(exchanges % 2, -1, 1).astype(dtype)


# -------------------- inverses and linear systems --------------------


def inv_ex(A, check_errors=False, out=None):
    check_square("linalg.inv", A)
    _check_float("linalg.inv", A)
    identity = broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
    inverse, _, _, info = _solved(A, identity)
    if check_errors:
        raise_singular("linalg.inv_ex", info, zero_diagonal)
    return _delivered((columns_of(inverse), info), out)


def solve_ex(A, B, left=True, check_errors=False, out=None):
    check_square("linalg.solve", A)
    if A.dtype == B.dtype or A.dtype.kind not in "fc":
        _check_float("linalg.solve", A, "lu_cpu")
    else:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{scalar_name(A)} and B of type {scalar_name(B)} instead"
        )
    is_vector = is_vector_for(A, B)
    right = B[..., None] if is_vector else B
    if right.ndim < 2:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 2 dimensions.")
    check_fit("linalg.solve", A, right, left)
    matrix, right = (A, right) if left else (A.swapaxes(-1, -2), right.swapaxes(-1, -2))
    batch = broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    matrix = broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    result, packed, pivots, info = _solved(matrix, broadcast_to(right, (*batch, *right.shape[-2:])))
    if check_errors:
        raise_singular("torch.linalg.solve_ex", info, singular)
    if not left:
        packed, pivots, _ = factorized(broadcast_to(A, matrix.shape))
    if batch != A.shape[:-2]:  # the factors are those of A, which the right-hand sides may share
        packed, pivots, info = (_without_batch(each, batch, A.shape[:-2]) for each in (packed, pivots, info))
    result = columns_of(result) if left else columns_of(result).swapaxes(-1, -2)
    if is_vector:
        result = columns_of(result[..., 0]) if B.ndim > 1 else result[..., 0]
    return _delivered((result, columns_of(packed), pivots, info), out)


def _without_batch(array: Array, batch: tuple[int, ...], own: tuple[int, ...]) -> Array:
    """What is alike along the dimensions of a batch that A was expanded to."""
    missing = len(batch) - len(own)
    shared = tuple(slice(1) if size == 1 else slice(None) for size in own)
    return array[(*(0,) * missing, *shared)] if array.size else array.reshape(*own, *array.shape[len(batch) :])


def is_vector_for(A: Array, B: Array) -> bool:
    """Whether B is a batch of vectors, not of matrices."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])


def _solved(matrix: Array, right: Array) -> tuple[Array, Array, Array, Array]:
    """The solution with the factors of the matrix; a singular one leaves inf and nan."""
    found = None if _are_many_small(matrix) else _by_lapack(matrix)
    packed, pivots, info = factorized(matrix) if found is None else (*found, _no_info(matrix))
    if is_any(info):
        return quiet(_substituted, packed, pivots, right), packed, pivots, info
    if not right.size:  # of any dtype
        return np.empty_like(right), packed, pivots, info
    return quiet(np.linalg.solve, matrix, right), packed, pivots, info


def _substituted(packed: Array, pivots: Array, right: Array) -> Array:
    order = permutation(pivots, packed.shape[-1])
    permuted = np.take_along_axis(right, order[..., None], -2)
    return triangular_solution(packed, triangular_solution(packed, permuted, False, True), True, False)


def triangular_solution(matrix: Array, right: Array, upper: bool, unitriangular: bool) -> Array:
    """By LAPACK, but for a singular matrix; only a triangle of it is read."""
    batch = broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    right = broadcast_to(right, (*batch, *right.shape[-2:]))
    if not right.size:
        return np.array(right)
    solve, matrices = lapack_routine("trtrs", matrix.dtype), broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    result = np.empty(right.shape, right.dtype)
    for place in ndindex(batch):
        result[place], info = solve(matrices[place], right[place], not upper, 0, unitriangular)
        if info:
            return _solution_by_rows(matrix, right, upper, unitriangular)
    return result


def _solution_by_rows(matrix: Array, right: Array, upper: bool, unitriangular: bool) -> Array:
    """The same row by row: what a zero on the diagonal leaves is inf and nan."""
    result = np.array(right)
    size = matrix.shape[-1]
    for number in range(size):
        row = size - 1 - number if upper else number
        others = slice(row + 1, None) if upper else slice(None, row)
        solution = result[..., row, :]
        if number:
            known = np.matmul(matrix[..., row : row + 1, others], result[..., others, :])[..., 0, :]
            np.subtract(solution, known, solution)
        if not unitriangular:
            np.divide(solution, matrix[..., row, row, None], solution)
    return result


def solve_triangular(input, B, upper, left=True, unitriangular=False, out=None):
    check_square("linalg.solve_triangular", input)
    if B.ndim < 2:
        raise RuntimeError("linalg.solve_triangular: The input tensor B must have at least 2 dimensions.")
    check_fit("linalg.solve_triangular", input, B, left)
    if input.dtype.kind not in "fc" or input.itemsize == 2:
        raise not_implemented("triangular_solve_cpu", input)
    if out is not None and out.dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(out)}")
    if B.dtype != input.dtype:
        B = cast(B, input.dtype)
    if left:
        return deliver(columns_of(quiet(triangular_solution, input, B, upper, unitriangular)), out)
    turned = [each.swapaxes(-1, -2) for each in (input, B)]
    result = quiet(triangular_solution, *turned, not upper, unitriangular)
    return deliver(columns_of(result.swapaxes(-1, -2)), out)


# -------------------- other factorizations --------------------


def cholesky_ex(input, upper=False, check_errors=False, out=None):
    check_square("linalg.cholesky", input)
    _check_float("linalg.cholesky", input, "cholesky_cpu")
    source = np.conj(input.swapaxes(-1, -2)) if upper else input
    factor, info = np.zeros(input.shape, input.dtype), _no_info(input)
    for place in ndindex(input.shape[:-2]):
        if source.shape[-1]:
            factor[place], info[place] = quiet(_cholesky, source[place])
    if check_errors:
        raise_singular("linalg.cholesky_ex", info, not_positive)
    factor = np.conj(factor.swapaxes(-1, -2)) if upper else factor
    return _delivered((columns_of(factor), info), out)


def _cholesky(matrix: Array) -> tuple[Array, int]:
    """The factor and 0, or the factor of the part before the first leading minor that is not positive."""
    try:
        factor = np.linalg.cholesky(matrix)
        if is_all(np.isfinite(factor)):
            return factor, 0
    except np.linalg.LinAlgError:
        pass
    factor = np.tril(matrix)
    for column in range(len(factor)):
        row = factor[column, :column]
        square = factor[column, column] - row @ row.conj()
        factor[column, column] = square
        if not square.real > 0:
            return factor, column + 1
        factor[column, column] = np.sqrt(square)
        factor[column + 1 :, column] -= factor[column + 1 :, :column] @ row.conj()
        factor[column + 1 :, column] /= factor[column, column]
    return factor, len(matrix)


def qr(A, mode="reduced", out=None):
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    check_matrix("linalg.qr", A)
    _check_float("linalg.qr", A, "geqrf_cpu")
    if A.itemsize == 2:  # without elements, too
        raise not_implemented("geqrf_cpu", A)
    if mode == "r":
        return _delivered((np.empty(0, A.dtype), columns_of(np.linalg.qr(A, "r"))), out)
    return _delivered([columns_of(each) for each in np.linalg.qr(A, mode)], out)


def svd(A, full_matrices=False, compute_uv=True, driver=None, out=None):
    check_matrix("linalg.svd", A)
    _check_float("linalg.svd", A, "linalg_svd_cpu")
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )
    if not is_all(np.isfinite(A)):
        raise errors.LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        )
    if not compute_uv:
        values = quiet(np.linalg.svd, widen(A), compute_uv=False).astype(real_of(A.dtype), copy=False)
        return _delivered((np.empty(0, A.dtype), np.ascontiguousarray(values), np.empty(0, A.dtype)), out)
    u, values, vh = quiet(np.linalg.svd, widen(A), full_matrices)  # of 16-bit floats, there are only empty ones
    if A.itemsize == 2:
        u, values, vh = (each.astype(A.dtype) for each in (u, values, vh))
    return _delivered((columns_of(u), np.ascontiguousarray(values), columns_of(vh)), out)


def eigh(A, UPLO="L", compute_v=True, out=None):
    check_square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    if A.dtype.kind not in "fc" or A.itemsize == 2:
        if A.size:
            raise not_implemented("linalg_eigh_cpu", A)
        values = np.empty(A.shape[:-1], A.dtype)
        return _delivered((values, np.empty(A.shape if compute_v else 0, A.dtype)), out)
    try:
        if not compute_v:
            values = quiet(np.linalg.eigvalsh, A, UPLO.upper())
            return _delivered((np.ascontiguousarray(values), np.empty(0, A.dtype)), out)
        values, vectors = quiet(np.linalg.eigh, A, UPLO.upper())
    except np.linalg.LinAlgError:
        raise no_eigenvalues(A) from None
    return _delivered((np.ascontiguousarray(values), columns_of(vectors)), out)


def eig(input, out=None):
    values, vectors = _eigen("linalg.eig", np.linalg.eig, input)
    names, results = ("eigenvalues", "eigenvectors"), (np.ascontiguousarray(values), columns_of(vectors))
    return deliver_castables("torch.linalg.eig", names, results, out)


def _eigen(op: str, function: Callable[..., Any], input: Array) -> Sequence[Array]:
    check_square(op, input)
    if input.dtype.kind in "biu":
        raise RuntimeError(f"Unknown Complex ScalarType for {scalar_name(input)}")
    if input.itemsize == 2:
        raise not_implemented("linalg_eig_out_cpu", input)
    if not is_all(np.isfinite(input)):
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return [each.astype(complex_of(input.dtype), copy=False) for each in quiet(function, input)]


# -------------------- exponentials --------------------

_TERMS = 18  # of the series, which for a norm of 1/2 leaves an error below that of double precision


def matrix_exp(input):
    """The series of a power of 2 smaller matrix, squared as often."""
    check_square("linalg.matrix_exp", input)
    if input.dtype.kind in "biu":
        raise RuntimeError(
            f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {scalar_name(input)}"
        )
    wide = input.astype(np.complex128 if input.dtype.kind == "c" else np.float64)
    return np.ascontiguousarray(quiet(quiet(_exponential, wide).astype, input.dtype))


def _exponential(matrix: Array) -> Array:
    largest = np.abs(matrix).sum(-1).max() if matrix.size else 0.0
    halvings = max(int(np.ceil(np.log2(largest))) + 1, 0) if np.isfinite(largest) and largest > 0 else 0
    small = matrix / 2.0**halvings
    term = broadcast_to(np.eye(matrix.shape[-1], dtype=matrix.dtype), matrix.shape)
    total = term.copy()
    for number in range(1, _TERMS):
        term = term @ small / number
        total += term
    for _ in range(halvings):
        total = total @ total
    return total
