"""Formulas of linear systems whose matrix is given by its factors, of such inverses, and of pseudo-inverses.

Of A X = B, the gradient of B is A^-H g and that of A is -(A^-H g) X^H; the factors get their shares of the latter.
"""

from mindtorch.autograd.formulas.common import sum_of_given
from mindtorch.autograd.formulas.linalg.decompositions import triangle_of
from mindtorch.dispatch import ops


def cholesky_solve_backward(grad, input2, result, upper):
    """Gradients of the right-hand side and of the factor."""
    own = ops.cholesky_solve(grad, input2, upper)
    product = own.matmul(result.mH)
    return own, _cholesky_factor_gradient(product + product.mH, input2, upper)


def cholesky_inverse_backward(grad, self, result, upper):
    """Gradient of the factor of the matrix that was inverted."""
    return _cholesky_factor_gradient(result.matmul(grad + grad.mH).matmul(result), self, upper)


def _cholesky_factor_gradient(change, factor, upper):
    return -(factor.matmul(change) if upper else change.matmul(factor))


def triangular_solve_backward(grad, copy_grad, A, solution, upper, transpose, unitriangular):
    """Gradients of the right-hand side and of the matrix, of which there also is a copy among the results."""
    if grad is None:
        return ops.zeros_like(solution), copy_grad
    adjoint = A.conj() if transpose else A.mH
    own = ops.linalg_solve_triangular(adjoint, grad, upper=upper == transpose, unitriangular=unitriangular)
    product = solution.conj().matmul(own.mT) if transpose else own.matmul(solution.mH)
    matrix = triangle_of(-product, upper, unitriangular)
    return own, matrix if copy_grad is None else matrix + copy_grad


def lu_solve_backward(grad, LU, pivots, result, left, adjoint):
    """Gradients of the two factors, which are in one matrix, and of the right-hand side."""
    own = ops.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)
    one, other = (own, result) if left != adjoint else (result, own)
    matrix = -(one.matmul(other.mH) if left else one.mH.matmul(other))
    exchange, lower, upper = ops.lu_unpack(LU, pivots)
    permuted = exchange.mT.matmul(matrix)
    return permuted.matmul(upper.mH).tril(-1) + lower.mH.matmul(permuted).triu(), own


def lu_solve_jvp(LU_t, B_t, LU, pivots, result, left, adjoint):
    """Tangent of the solution."""
    exchange, lower, upper = ops.lu_unpack(LU, pivots)
    change = exchange.matmul(LU_t.tril(-1).matmul(upper) + lower.matmul(LU_t.triu()))
    change = change.mH if adjoint else change
    moved = change.matmul(result) if left else result.matmul(change)
    return ops.linalg_lu_solve(LU, pivots, B_t - moved, left=left, adjoint=adjoint)


def lu_unpack_jvp(LU_t, unpack_data):
    """Tangents of the triangles."""
    if not unpack_data:
        return LU_t.new_empty(0), LU_t.new_empty(0)
    least = min(LU_t.shape[-2:])
    return LU_t.narrow(-1, 0, least).tril(-1), LU_t.narrow(-2, 0, least).triu()


def lu_unpack_backward(L_grad, U_grad, shape):
    """Gradient of the matrix that holds both factors; zeros where they were not asked for and hold nothing."""
    rows, columns = shape[-2:]
    given = U_grad if L_grad is None else L_grad
    if given.ndim < 2:
        return given.new_zeros(shape)
    parts = []
    if U_grad is not None:
        parts.append(ops.constant_pad_nd(U_grad.triu(), [0, 0, 0, rows - U_grad.shape[-2]]))
    if L_grad is not None:
        parts.append(ops.constant_pad_nd(L_grad.tril(-1), [0, columns - L_grad.shape[-1]]))
    return sum(parts[1:], parts[0])


def lstsq_backward(grad, residuals_grad, A, b, solution):
    """Gradients of the matrix and of the right-hand side: the solution is the pseudo-inverse times the latter.

    The sum of squares that is left does not change with the solution, for it is the least.
    """
    if A.ndim - 1 == b.ndim:
        columns = [each if each is None else each.unsqueeze(-1) for each in (grad, b, solution)]
        A_grad, b_grad = lstsq_backward(columns[0], residuals_grad, A, *columns[1:])
        return A_grad, b_grad if b_grad is None else b_grad.squeeze(-1)
    A_grad = b_grad = None
    if grad is not None:
        inverse = ops.linalg_pinv(A, rtol=None, atol=None)
        A_grad, b_grad = pinv_backward(grad.matmul(b.mH), A, inverse), inverse.mH.matmul(grad)
    if residuals_grad is not None and residuals_grad.numel():
        slope = 2 * residuals_grad.unsqueeze(-2) * (A.matmul(solution) - b)
        A_grad, b_grad = sum_of_given(A_grad, slope.matmul(solution.mH)), sum_of_given(b_grad, -slope)
    return A_grad, b_grad


def pinv_backward(grad, self, result):
    """Gradient of the pseudo-inverse, by the smaller of its two dimensions (Golub and Pereyra).

    The sum begins with what is transposed, and lies in memory like it.
    """
    adjoint, inverse_adjoint = grad.mH, result.mH
    if self.shape[-2] <= self.shape[-1]:
        product = adjoint.matmul(result)
        right = product.matmul(inverse_adjoint)
        outside = inverse_adjoint.matmul(result).matmul(adjoint - product.matmul(self))
        return -result.matmul(product).mH + right - self.matmul(result).matmul(right) + outside
    product = result.matmul(adjoint)
    left = inverse_adjoint.matmul(product)
    outside = (adjoint - self.matmul(product)).matmul(result).matmul(inverse_adjoint)
    return -product.matmul(result).mH + left - left.matmul(result).matmul(self) + outside
