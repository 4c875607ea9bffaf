"""Formulas of inverses, determinants, linear systems and factorizations.

They follow from the product rule for the equation that defines the result: of A X = B, for example, dX is the solution
of A dX = dB - dA X. `g` is a gradient, `^H` the conjugate transpose.
"""

from mindtorch._core.state import thread
from mindtorch.autograd.formulas.common import conj, has_zeros, in_rows_if_unseen, others_along, real
from mindtorch.dispatch import ops


def _adjoint(matrix):
    return conj(matrix.transpose(-2, -1))


def _diagonal_of(matrix):
    return matrix.diagonal(0, -2, -1)


def _as_matrices(numbers):
    return numbers.unsqueeze(-1).unsqueeze(-1)


def _trace(matrix):
    return _diagonal_of(matrix).sum(-1)


# ---- inverses and determinants ----


def inv_backward(grad, inverse):
    """Gradient of the inverse."""
    adjoint = _adjoint(inverse)
    return -adjoint.matmul(grad).matmul(adjoint)


def inv_jvp(A_t, inverse):
    """Tangent of the inverse."""
    return -inverse.matmul(A_t).matmul(inverse)


def det_backward(grad, A, result):
    """Gradient of the determinant: the cofactors, by singular values where there is no inverse."""
    if not A.numel():
        return ops.empty_like(A)
    if A.shape[-1] == 1:
        return _as_matrices(grad).expand(A.shape)
    if has_zeros(result) and not (thread.grad_enabled and result.any()):  # the slope of equal singular values is nan
        return _as_matrices(grad) * conj(_cofactors(A))
    return in_rows_if_unseen(_solved(A, grad * conj(result)), A, grad)


def _solved(A, slope):
    """The inverse of the adjoint times a number: as `solve` gives it, the matrices lie in columns."""
    return ops.linalg_solve_ex(_adjoint(A), ops.diag_embed(slope.unsqueeze(-1).expand(A.shape[:-1])))[0]


def _cofactors(A):
    U, S, Vh = ops.linalg_svd(A)
    others = others_along(S, -1).prod(-1)
    turn = ops.linalg_det(U) * ops.linalg_det(Vh)
    return conj(_as_matrices(conj(turn)) * (U * others.unsqueeze(-2)).matmul(Vh))


def det_jvp(A_t, A, result):
    """Tangent of the determinant."""
    return result * _trace(ops.linalg_inv_ex(A)[0].matmul(A_t))


def slogdet_backward(grad_sign, grad_logabsdet, A, sign):
    """Gradient of the sign and the logarithm of the determinant; the sign of a real one is flat."""
    slope = grad_logabsdet
    if A.is_complex() and grad_sign is not None:
        turn = (conj(grad_sign) * sign).imag
        size = ops.zeros_like(turn) if grad_logabsdet is None else grad_logabsdet
        slope = ops.complex(size, -turn)
    return None if slope is None else _solved(A, slope.to(A.dtype))


def slogdet_sign_jvp(A_t, A, sign):
    """Tangent of the sign."""
    if not A.is_complex():
        return ops.zeros_like(sign)
    turn = _trace(ops.linalg_inv_ex(A)[0].matmul(A_t)).imag
    return ops.complex(ops.zeros_like(turn), turn) * sign


def slogdet_jvp(A_t, A):
    """Tangent of the logarithm of the size of the determinant."""
    return real(_trace(ops.linalg_inv_ex(A)[0].matmul(A_t)))


# ---- linear systems ----


def _is_vector(A, shape):
    return len(shape) == 1 or (A.ndim - 1 == len(shape) and tuple(shape) == tuple(A.shape[:-1]))


def solve_backward(grad, A, shape, result, left):
    """Gradients of the matrix and of the right-hand side."""
    if _is_vector(A, shape):
        A_grad, B_grad = solve_backward(grad.unsqueeze(-1), A, (*shape, 1), result.unsqueeze(-1), left)
        return A_grad, B_grad.squeeze(-1)
    B_grad = ops.linalg_solve(_adjoint(A), grad, left=left)
    product = B_grad.matmul(_adjoint(result)) if left else _adjoint(result).matmul(B_grad)
    return -product, B_grad


def solve_jvp(A_t, B_t, A, shape, result, left):
    """Tangent of the solution."""
    if _is_vector(A, shape):
        change = A_t.matmul(result.unsqueeze(-1)).squeeze(-1)
    else:
        change = A_t.matmul(result) if left else result.matmul(A_t)
    return ops.linalg_solve(A, B_t - change, left=left)


def triangle_of(matrix, upper, unitriangular):
    return matrix.triu(int(unitriangular)) if upper else matrix.tril(-int(unitriangular))


def solve_triangular_backward(grad, A, result, upper, left, unitriangular):
    """Gradients of the triangular matrix and of the right-hand side."""
    options = {"upper": not upper, "left": left, "unitriangular": unitriangular}
    B_grad = ops.linalg_solve_triangular(_adjoint(A), grad, **options)
    product = B_grad.matmul(_adjoint(result)) if left else _adjoint(result).matmul(B_grad)
    return triangle_of(-product, upper, unitriangular), B_grad


def solve_triangular_jvp(A_t, B_t, A, result, upper, left, unitriangular):
    """Tangent of the solution."""
    part = triangle_of(A_t, upper, unitriangular)
    change = part.matmul(result) if left else result.matmul(part)
    return ops.linalg_solve_triangular(A, B_t - change, upper=upper, left=left, unitriangular=unitriangular)


# ---- triangular factors ----


def _with_half_diagonal(matrix):
    return matrix.tril() - ops.diag_embed(_diagonal_of(matrix)) * 0.5


def cholesky_backward(grad, L, upper):
    """Gradient of the Cholesky factor, as that of a symmetric matrix."""
    if upper:
        grad, L = _adjoint(grad), _adjoint(L)
    lower = _adjoint(L).matmul(grad).tril()
    inner = lower + _adjoint(lower.tril(-1))
    left = ops.linalg_solve_triangular(_adjoint(L), inner, upper=True)
    return ops.linalg_solve_triangular(L, left, upper=False, left=False) * 0.5


def cholesky_jvp(self_t, L, upper):
    """Tangent of the Cholesky factor."""
    L = _adjoint(L) if upper else L
    half = ops.linalg_solve_triangular(L, self_t, upper=False)
    inner = ops.linalg_solve_triangular(_adjoint(L), half, upper=True, left=False)
    tangent = L.matmul(_with_half_diagonal(inner))
    return _adjoint(tangent) if upper else tangent


def _check_qr(Q, R, mode):
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to require gradients through Q or R."
        )
    if mode == "complete" and Q.shape[-2] > R.shape[-1]:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")


def qr_backward(Q_grad, R_grad, Q, R, mode):
    """Gradient of both factors. Columns beyond a square are products of the orthogonal factor with their part of R."""
    _check_qr(Q, R, mode)
    count = Q.shape[-1]
    if R.shape[-1] == count:
        return _square_qr_backward(Q_grad, R_grad, Q, R)
    rest, square = R[..., count:], R[..., :count]
    if R_grad is None:
        return ops.cat([_square_qr_backward(Q_grad, None, Q, square), ops.zeros_like(rest)], -1)
    more = Q.matmul(rest).matmul(_adjoint(R_grad[..., count:]))
    Q_grad = more if Q_grad is None else Q_grad + more
    first = _square_qr_backward(Q_grad, R_grad[..., :count], Q, square)
    return ops.cat([first, Q.matmul(R_grad[..., count:])], -1)


def _square_qr_backward(Q_grad, R_grad, Q, R):
    inner = 0
    if R_grad is not None:
        inner = inner + R_grad.matmul(_adjoint(R))
    if Q_grad is not None:
        inner = inner - _adjoint(Q).matmul(Q_grad)
    upper = inner.triu()
    grad = Q.matmul(upper + _adjoint(upper) - ops.diag_embed(_real_part(_diagonal_of(upper))))
    grad = grad if Q_grad is None else grad + Q_grad
    return ops.linalg_solve_triangular(_adjoint(R), grad, upper=False, left=False)


def _real_part(tensor):
    """In the same dtype."""
    return ops.complex(tensor.real, ops.zeros_like(tensor.real)) if tensor.is_complex() else tensor


def _qr_tangents(A_t, Q, R, mode):
    _check_qr(Q, R, mode)
    count = Q.shape[-1]
    square = R[..., :count]
    ratio = ops.linalg_solve_triangular(square, A_t[..., :count], upper=True, left=False)
    product = _adjoint(Q).matmul(ratio)
    upper = (product + _adjoint(product)).triu()
    upper = upper - ops.diag_embed(_diagonal_of(upper)) * 0.5
    Q_t = ratio - Q.matmul(upper)
    R_t = _adjoint(Q).matmul(A_t - Q_t.matmul(R))
    return Q_t, R_t


def qr_q_jvp(A_t, Q, R, mode):
    """Tangent of the orthogonal factor."""
    return _qr_tangents(A_t, Q, R, mode)[0]


def qr_r_jvp(A_t, Q, R, mode):
    """Tangent of the triangular factor."""
    return _qr_tangents(A_t, Q, R, mode)[1].triu()


# Of A = P L U, the smaller side of the matrix gives the square parts of the factors: L is square, and U a square beside
# a rest, if A is wide; L is a square above a rest, and U square, if A is tall. The change of the square part is
# L F U, where the strict lower triangle of F belongs to L and the upper one to U; the rests follow from the square.


def _split_columns(matrix, count):
    """The first columns, and the rest."""
    return matrix[..., :count], matrix[..., count:]


def _split_rows(matrix, count):
    """The first rows, and the rest."""
    return matrix[..., :count, :], matrix[..., count:, :]


def _divided_by_lower(L, matrix):
    return ops.linalg_solve_triangular(L, matrix, upper=False, unitriangular=True)


def _divided_by_upper(U, matrix):
    return ops.linalg_solve_triangular(U, matrix, upper=True, left=False)


def _adjoint_divided_by_lower(L, matrix):
    return ops.linalg_solve_triangular(_adjoint(L), matrix, upper=True, unitriangular=True)


def _adjoint_divided_by_upper(U, matrix):
    return ops.linalg_solve_triangular(_adjoint(U), matrix, upper=False, left=False)


def lu_backward(L_grad, U_grad, P, L, U):
    """Gradient of both factors."""
    L_grad = ops.zeros_like(L) if L_grad is None else L_grad
    U_grad = ops.zeros_like(U) if U_grad is None else U_grad
    is_wide = L.shape[-2] <= U.shape[-1]
    return P.matmul((_wide_lu_backward if is_wide else _tall_lu_backward)(L_grad, U_grad, L, U))


def _wide_lu_backward(L_grad, U_grad, L, U):
    square, rest = _split_columns(U, L.shape[-1])
    square_grad, rest_grad = _split_columns(U_grad, L.shape[-1])
    lower = _adjoint(L).matmul(L_grad) - rest_grad.matmul(_adjoint(rest))
    inner = lower.tril(-1) + square_grad.matmul(_adjoint(square)).triu()
    parts = [_adjoint_divided_by_upper(square, inner), rest_grad]
    return _adjoint_divided_by_lower(L, ops.cat(parts, -1))


def _tall_lu_backward(L_grad, U_grad, L, U):
    square, rest = _split_rows(L, U.shape[-2])
    square_grad, rest_grad = _split_rows(L_grad, U.shape[-2])
    upper = U_grad.matmul(_adjoint(U)) - _adjoint(rest).matmul(rest_grad)
    inner = _adjoint(square).matmul(square_grad).tril(-1) + upper.triu()
    parts = [_adjoint_divided_by_lower(square, inner), rest_grad]
    return _adjoint_divided_by_upper(U, ops.cat(parts, -2))


def _lu_tangents(A_t, P, L, U):
    permuted = P.transpose(-2, -1).matmul(A_t)
    is_wide = L.shape[-2] <= U.shape[-1]
    return (_wide_lu_tangents if is_wide else _tall_lu_tangents)(permuted, L, U)


def _wide_lu_tangents(permuted, L, U):
    square, rest = _split_columns(U, L.shape[-1])
    square_t, rest_t = _split_columns(_divided_by_lower(L, permuted), L.shape[-1])
    change = _divided_by_upper(square, square_t)
    lower = change.tril(-1)
    return L.matmul(lower), ops.cat([change.triu().matmul(square), rest_t - lower.matmul(rest)], -1)


def _tall_lu_tangents(permuted, L, U):
    square, rest = _split_rows(L, U.shape[-2])
    square_t, rest_t = _split_rows(_divided_by_upper(U, permuted), U.shape[-2])
    change = _divided_by_lower(square, square_t)
    upper = change.triu()
    return ops.cat([square.matmul(change.tril(-1)), rest_t - rest.matmul(upper)], -2), upper.matmul(U)


def lu_lower_jvp(A_t, P, L, U):
    """Tangent of the lower factor."""
    return _lu_tangents(A_t, P, L, U)[0]


def lu_upper_jvp(A_t, P, L, U):
    """Tangent of the upper factor."""
    return _lu_tangents(A_t, P, L, U)[1]


def _unpacked(LU):
    """The two factors that are together in one matrix."""
    rows, columns = LU.shape[-2:]
    count = min(rows, columns)
    ones = ops.eye(rows, count, dtype=LU.dtype, device=LU.device)
    return LU[..., :count].tril(-1) + ones, LU[..., :count, :].triu()


def _exchange(LU, pivots):
    """The matrix P: row after row was exchanged with the one that the pivots number, from 1."""
    rows = LU.shape[-2]
    order = ops.arange(rows, device=LU.device).expand((*LU.shape[:-2], rows))
    for row in range(pivots.shape[-1]):
        place = pivots[..., row : row + 1].long() - 1
        other = order.gather(-1, place).squeeze(-1)
        order = order.scatter(-1, place, order[..., row : row + 1]).select_scatter(other, -1, row)
    return (order.unsqueeze(-2) == ops.arange(rows, device=LU.device).unsqueeze(-1)).to(LU.dtype)


def lu_factor_backward(grad, LU, pivots):
    """Gradient of both factors in one matrix."""
    count = min(LU.shape[-2:])
    L_grad, U_grad = grad[..., :count].tril(-1), grad[..., :count, :].triu()
    return lu_backward(L_grad, U_grad, _exchange(LU, pivots), *_unpacked(LU))


def lu_factor_jvp(A_t, LU, pivots):
    """Tangent of both factors in one matrix."""
    L_t, U_t = _lu_tangents(A_t, _exchange(LU, pivots), *_unpacked(LU))
    wider, taller = U_t.shape[-1] - L_t.shape[-1], L_t.shape[-2] - U_t.shape[-2]
    return ops.constant_pad_nd(L_t, [0, wider]) + ops.constant_pad_nd(U_t, [0, 0, 0, taller])


# ---- exponentials ----


def _exponential_differential(A, change):
    """The corner of the exponential of a block matrix."""
    count = A.shape[-1]
    above = ops.cat([A, change], -1)
    below = ops.cat([ops.zeros_like(A), A], -1)
    return ops.linalg_matrix_exp(ops.cat([above, below], -2))[..., :count, count:]


def matrix_exp_backward(grad, self):
    """Gradient of the matrix exponential."""
    return _exponential_differential(_adjoint(self), grad)


def matrix_exp_jvp(self_t, self):
    """Tangent of the matrix exponential."""
    return _exponential_differential(self, self_t)
