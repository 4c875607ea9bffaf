"""Kernels of symmetric matrices that need not be positive: L D L^T, by the pivoting of Bunch and Kaufman (1977).

The layout is LAPACK's, for the lower triangle: D has blocks of 1 or 2 rows. A pivot is the number, from 1 on, of the
row that was exchanged with the block's last one; of a block of 2 rows, both pivots are that number below 0.
"""

import math

import numpy as np

from mindtorch._core.promotion import INT32
from mindtorch._support import errors
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.casting import deliver_same
from mindtorch.backends.cpu.checks import not_implemented, scalar_name
from mindtorch.backends.cpu.decompositions import check_square, columns_of

Array = np.ndarray

_ALPHA = (1 + math.sqrt(17)) / 8  # keeps the growth of the elements least


def ldl_factor_ex(input, hermitian=False, check_errors=False, out=None):
    op = "torch.linalg.ldl_factor_ex"
    check_square(op, input)
    _check_float(op, input)
    if input.itemsize == 2 and input.size:
        raise not_implemented("ldl_factor_kernel_cpu", input)
    factors = np.tril(input)
    pivots, info = np.zeros(input.shape[:-1], INT32), np.zeros(input.shape[:-2], INT32)
    for place in np.ndindex(*input.shape[:-2]):
        info[place] = quiet(_factorize, factors[place], pivots[place], hermitian and input.dtype.kind == "c")
    if check_errors and info.any():
        raise _zero_pivot(int(info[info != 0].reshape(-1)[0]))
    results = columns_of(np.tril(factors)), pivots, info
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


def _factorize(matrix: Array, pivots: Array, is_hermitian: bool) -> int:
    """In place; the first row with nothing but zeros left, from 1 on, or 0."""
    first_zero = step = 0
    while step < len(matrix):
        size, row = _pivot(matrix, step, is_hermitian)
        last = step + size - 1
        if row != last:
            _exchange(matrix, step, last, row, is_hermitian)
        if is_hermitian:
            _make_real(matrix, step, size)
        pivots[step : step + size] = row + 1 if size == 1 else -(row + 1)
        if size == 2 or matrix[step, step] != 0:
            _eliminate(matrix, step, size, is_hermitian)
        else:
            first_zero = first_zero or step + 1
        step += size
    return first_zero


def _sizes(values: Array, is_real: bool = False) -> Array:
    """LAPACK's: the sum of the absolute real and imaginary parts."""
    return np.abs(values.real) if is_real else np.abs(values.real) + np.abs(values.imag)


def _pivot(matrix: Array, step: int, is_hermitian: bool) -> tuple[int, int]:
    """How many rows the next block has, and which row is to be its last one."""
    own = _sizes(matrix[step, step], is_hermitian)
    below = _sizes(matrix[step + 1 :, step])
    if not below.size or not max(own, below.max()) > 0 or own >= _ALPHA * below.max():
        return 1, step
    largest = below.max()
    row = step + 1 + int(below.argmax())
    along = np.concatenate([_sizes(matrix[row, step:row]), _sizes(matrix[row + 1 :, row])]).max()
    if own >= _ALPHA * largest * (largest / along):
        return 1, step
    if _sizes(matrix[row, row], is_hermitian) >= _ALPHA * along:
        return 1, row
    return 2, row


def _exchange(matrix: Array, step: int, last: int, row: int, is_hermitian: bool) -> None:
    """Rows and columns `last` and `row`, in the lower triangle."""
    below, between = slice(row + 1, None), slice(last + 1, row)
    matrix[below, [last, row]] = matrix[below, [row, last]]
    column, line = matrix[between, last].copy(), matrix[row, between].copy()
    matrix[between, last], matrix[row, between] = (line.conj(), column.conj()) if is_hermitian else (line, column)
    if is_hermitian:
        matrix[row, last] = matrix[row, last].conj()
    matrix[last, last], matrix[row, row] = matrix[row, row], matrix[last, last]
    if last > step:
        matrix[last, step], matrix[row, step] = matrix[row, step], matrix[last, step]


def _make_real(matrix: Array, step: int, size: int) -> None:
    """The diagonal of a Hermitian matrix is real; rounding leaves other parts."""
    for place in range(step, step + size):
        matrix[place, place] = matrix[place, place].real


def _block(matrix: Array, step: int, size: int, is_hermitian: bool) -> Array:
    """The block of D, both of its triangles."""
    block = np.tril(matrix[step : step + size, step : step + size])
    if size == 2:
        block[0, 1] = block[1, 0].conj() if is_hermitian else block[1, 0]
    return block


def _eliminate(matrix: Array, step: int, size: int, is_hermitian: bool) -> None:
    columns = matrix[step + size :, step : step + size]
    turned = columns.conj().T if is_hermitian else columns.T
    factors = _times_inverse(columns, _block(matrix, step, size, is_hermitian))
    matrix[step + size :, step + size :] -= factors @ turned
    matrix[step + size :, step : step + size] = factors


def _times_inverse(columns: Array, block: Array) -> Array:
    if len(block) == 1:
        return columns / block
    (a, b), (c, d) = block
    return columns @ np.array([[d, -b], [-c, a]], columns.dtype) / (a * d - b * c)


# -------------------- systems --------------------


def ldl_solve(LD, pivots, B, hermitian=False, out=None):
    op = "torch.linalg.ldl_solve"
    _check_system(op, LD, pivots, B)
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    factors = np.broadcast_to(LD, (*batch, *LD.shape[-2:]))
    rows = np.broadcast_to(pivots, (*batch, LD.shape[-1]))
    solution = np.array(np.broadcast_to(B, (*batch, *B.shape[-2:])))
    if LD.itemsize == 2:
        raise not_implemented("ldl_solve_kernel_cpu", LD)
    for place in np.ndindex(*batch):
        quiet(_solve, factors[place], rows[place].tolist(), solution[place], hermitian and LD.dtype.kind == "c")
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


def _solve(factors: Array, pivots: list[int], x: Array, is_hermitian: bool) -> None:
    """In place: L and D downwards, block by block, then L^T upwards."""
    steps = _blocks(pivots)
    for step, size, row in steps:
        x[[step + size - 1, row]] = x[[row, step + size - 1]]
        x[step + size :] -= factors[step + size :, step : step + size] @ x[step : step + size]
        x[step : step + size] = _times_inverse(x[step : step + size].T, _block(factors, step, size, is_hermitian).T).T
    for step, size, row in reversed(steps):
        columns = factors[step + size :, step : step + size]
        x[step : step + size] -= (columns.conj() if is_hermitian else columns).T @ x[step + size :]
        x[[step + size - 1, row]] = x[[row, step + size - 1]]


def _blocks(pivots: list[int]) -> list[tuple[int, int, int]]:
    """The first row of each block, its size, and the row that its last one was exchanged with."""
    blocks, step = [], 0
    while step < len(pivots):
        size = 1 if pivots[step] > 0 else 2
        blocks.append((step, size, abs(pivots[step]) - 1))
        step += size
    return blocks
