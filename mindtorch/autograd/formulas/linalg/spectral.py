"""Formulas of eigenvalues and singular values with their vectors, which have none where two values are equal."""

from mindtorch._core.state import thread
from mindtorch.autograd.formulas.common import conj, real
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import without_levels


def _adjoint(matrix):
    return conj(matrix.transpose(-2, -1))


def _diagonal_of(matrix):
    return matrix.diagonal(0, -2, -1)


def _gaps(values):
    """The differences of all pairs, with ones on the diagonal."""
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
    return gaps + ops.eye(values.shape[-1], dtype=gaps.dtype, device=gaps.device)


def _off_diagonal(matrix):
    return matrix - ops.diag_embed(_diagonal_of(matrix))


def _skew(matrix):
    return matrix - _adjoint(matrix)


_ILL_DEFINED = (
    "{{}}: The {} in the complex case are specified up to multiplication by e^{{{{i phi}}}}. The specified loss "
    "function depends on this {}, {} ill-defined."
)
_EIGENVECTORS = _ILL_DEFINED.format("eigenvectors", "quantity", "so it is")
_SINGULAR_VECTORS = _ILL_DEFINED.format("singular vectors", "phase term", "making it")


def _refuse_phases(op, text, change):
    """Vectors of complex numbers may be turned by any phase: a gradient that depends on the phases means nothing.

    Inside of transforms nothing is checked, as in PyTorch.
    """
    if thread.transforms or change.is_meta or not change.is_complex():
        return
    phases = without_levels(_diagonal_of(change).detach()).imag  # of all samples of a vmap that is over
    if not (phases.abs() <= 1e-2).all():
        raise RuntimeError(text.format(op))


# ---- eigenvalues ----


def eigh_backward(values_grad, vectors_grad, values, vectors):
    """Gradient of the eigenvalues and vectors of a symmetric matrix."""
    if values_grad is None and vectors_grad is None:
        return None
    inner = 0 if values_grad is None else ops.diag_embed(values_grad)
    if vectors_grad is None:
        return (vectors * values_grad.unsqueeze(-2)).matmul(_adjoint(vectors))
    change = _adjoint(vectors).matmul(vectors_grad)
    _refuse_phases("linalg_eigh_backward", _EIGENVECTORS, change)
    turn = 0.5 * _skew(change)  # vectors that stay orthonormal can only turn
    inner = inner + _off_diagonal(turn) / _gaps(values)
    return vectors.matmul(inner).matmul(_adjoint(vectors))


def eigh_values_jvp(A_t, vectors):
    """Tangent of the eigenvalues of a symmetric matrix."""
    return real(_diagonal_of(_adjoint(vectors).matmul(A_t).matmul(vectors)))


def eigh_vectors_jvp(A_t, values, vectors):
    """Tangent of the eigenvectors of a symmetric matrix."""
    product = _adjoint(vectors).matmul(A_t).matmul(vectors)
    return vectors.matmul(_off_diagonal(product) / _gaps(values))


def eig_backward(values_grad, vectors_grad, is_complex, values, vectors):
    """Gradient of eigenvalues and vectors, which have the length 1."""
    inner = 0 if values_grad is None else ops.diag_embed(values_grad)
    adjoint = _adjoint(vectors)
    if vectors_grad is not None:
        product = adjoint.matmul(vectors_grad)
        _refuse_phases("linalg_eig_backward", _EIGENVECTORS, product)
        along = ops.complex(_diagonal_of(product).real, ops.zeros_like(_diagonal_of(product).real))
        change = product - adjoint.matmul(vectors * along.unsqueeze(-2))
        inner = inner + _off_diagonal(change / conj(_gaps(values)))
    grad = ops.linalg_solve(adjoint, inner.matmul(adjoint))
    return grad if is_complex else grad.real


def _eig_change(self_t, vectors):
    tangent = self_t if self_t.is_complex() else self_t.to(vectors.dtype)
    return ops.linalg_solve(vectors, tangent.matmul(vectors))


def eig_values_jvp(self_t, vectors):
    """Tangent of the eigenvalues."""
    return _diagonal_of(_eig_change(self_t, vectors))


def eig_vectors_jvp(self_t, values, vectors):
    """Tangent of the eigenvectors, whose length stays 1."""
    turned = vectors.matmul(_off_diagonal(_eig_change(self_t, vectors)) / _gaps(values))
    along = (conj(vectors) * turned).sum(-2, True).real
    return turned - vectors * along


# ---- singular values ----


def _svd_gaps(S):
    return _gaps(S * S)


def svd_backward(U_grad, S_grad, Vh_grad, U, S, Vh):
    """Gradient of singular values and vectors. Vectors beyond the singular values have none."""
    count = S.shape[-1]
    U, Vh = U[..., :count], Vh[..., :count, :]
    if U_grad is None and Vh_grad is None:
        return None if S_grad is None else (U * S_grad.unsqueeze(-2)).matmul(Vh)
    inner = 0 if S_grad is None else ops.diag_embed(S_grad)
    U_grad = None if U_grad is None else U_grad[..., :count]
    Vh_grad = None if Vh_grad is None else Vh_grad[..., :count, :]
    left = None if U_grad is None else _skew(_adjoint(U).matmul(U_grad))
    right = None if Vh_grad is None else _skew(Vh.matmul(_adjoint(Vh_grad)))
    _refuse_phases("svd_backward", _SINGULAR_VECTORS, sum(each for each in (left, right) if each is not None))
    if left is not None:
        inner = inner + (left / _svd_gaps(S)) * S.unsqueeze(-2)
        if U.is_complex():
            inner = inner + ops.diag_embed(_diagonal_of(left) / (2 * S)) - _diagonal_part(left, S)
    if right is not None:
        inner = inner + S.unsqueeze(-1) * (_off_diagonal(right) / _svd_gaps(S))
    return _svd_outside(U.matmul(inner).matmul(Vh), U_grad, Vh_grad, U, S, Vh)


def _diagonal_part(left, S):
    """What the division by the gaps, which are 1 on the diagonal, has left there."""
    return ops.diag_embed(_diagonal_of(left) * S)


def _svd_outside(grad, U_grad, Vh_grad, U, S, Vh):
    """The parts of the vectors' gradients that point out of their space."""
    if U_grad is not None and U.shape[-2] > S.shape[-1]:
        outside = U_grad - U.matmul(_adjoint(U).matmul(U_grad))
        grad = grad + (outside / S.unsqueeze(-2)).matmul(Vh)
    if Vh_grad is not None and Vh.shape[-1] > S.shape[-1]:
        outside = Vh_grad - Vh_grad.matmul(_adjoint(Vh)).matmul(Vh)
        grad = grad + (U / S.unsqueeze(-2)).matmul(outside)
    return grad


def svd_values_jvp(A_t, U, S, Vh):
    """Tangent of the singular values."""
    count = S.shape[-1]
    product = _adjoint(U[..., :count]).matmul(A_t).matmul(_adjoint(Vh[..., :count, :]))
    return real(_diagonal_of(product))


def svd_u_jvp(A_t, U, S, Vh):
    """Tangent of the left singular vectors; those beyond the singular values count as constant."""
    count, beyond = S.shape[-1], ops.zeros_like(U[..., S.shape[-1] :])
    U, V = U[..., :count], _adjoint(Vh[..., :count, :])
    product = _adjoint(U).matmul(A_t).matmul(V)
    inner = _off_diagonal((product * S.unsqueeze(-2) + _adjoint(product * S.unsqueeze(-2))) / _svd_gaps(S))
    if U.is_complex():
        inner = inner + ops.diag_embed(_diagonal_of(_skew(product)) / (2 * S))
    tangent = U.matmul(inner)
    if U.shape[-2] > S.shape[-1]:
        change = A_t.matmul(V)
        tangent = tangent + (change - U.matmul(_adjoint(U).matmul(change))) / S.unsqueeze(-2)
    return ops.cat((tangent, beyond), -1) if beyond.shape[-1] else tangent


def svd_vh_jvp(A_t, U, S, Vh):
    """Tangent of the right singular vectors, likewise."""
    count, beyond = S.shape[-1], ops.zeros_like(Vh[..., S.shape[-1] :, :])
    U, Vh = U[..., :count], Vh[..., :count, :]
    product = _adjoint(U).matmul(A_t).matmul(_adjoint(Vh))
    weighted = S.unsqueeze(-1) * product
    inner = _off_diagonal((weighted + _adjoint(weighted)) / _svd_gaps(S))
    tangent = _adjoint(inner).matmul(Vh)
    if Vh.shape[-1] > S.shape[-1]:
        change = _adjoint(U).matmul(A_t)
        tangent = tangent + (change - change.matmul(_adjoint(Vh)).matmul(Vh)) / S.unsqueeze(-1)
    return ops.cat((tangent, beyond), -2) if beyond.shape[-2] else tangent
