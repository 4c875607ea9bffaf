"""Formulas of products of Householder reflections, H = I - tau v v^H.

They are the product rule, reflection by reflection. For the gradient, K = L^H g R^H is that of one reflection between
the products L before and R behind it: tau has -v^H K v, and v has -conj(tau) K v - tau K^H v. K itself is not formed.
"""

from mindtorch.autograd.formulas.common import conj
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.batching import levels_of_tensor


def _turned(matrix):
    return conj(matrix.transpose(-2, -1))


def _reflections(input, tau):
    """The vectors, as columns, and their factors, from left to right."""
    rows, count = input.shape[-2], tau.shape[-1]
    unit = ops.eye(rows, count, dtype=input.dtype, device=input.device)
    vectors = input[..., :count].tril(-1) + unit
    return [(vectors[..., place : place + 1], tau[..., place, None, None]) for place in range(count)]


def _adjoint(reflections):
    return [(vector, conj(factor)) for vector, factor in reversed(reflections)]


def _reflected(vector, factor, matrix):
    return matrix - factor * vector * _turned(vector).matmul(matrix)


def _products(reflections, matrix):
    """The matrix behind each reflection, and the whole product."""
    products = [matrix]
    for vector, factor in reversed(reflections):
        products.append(_reflected(vector, factor, products[-1]))
    return products[::-1]


def _gradients(grad, reflections, matrix):
    """The gradients of the vectors, of the factors, and of the matrix that is reflected."""
    of_vectors, of_factors = [], []
    for (vector, factor), behind in zip(reflections, _products(reflections, matrix)[1:]):
        right = grad.matmul(_turned(behind).matmul(vector))  # K v
        left = behind.matmul(_turned(grad).matmul(vector))  # K^H v
        of_factors.append(-_turned(vector).matmul(right)[..., 0])
        of_vectors.append(-conj(factor) * right - factor * left)
        grad = _reflected(vector, conj(factor), grad)
    return of_vectors, of_factors, grad


def _of_inputs(of_vectors, of_factors, input):
    """Gradients in the places where the vectors and factors are kept, in memory as these are; none without any."""
    if not of_vectors:
        return None, None
    columns = ops.cat(of_vectors, -1)
    missing = input.shape[-1] - columns.shape[-1]
    padded = ops.constant_pad_nd(columns, [0, missing]) if missing else columns
    triangle = padded.tril(-1)
    if not levels_of_tensor(triangle):  # with samples, PyTorch joins columns
        triangle = ops.zeros_like(input) + triangle
    return triangle, ops.cat(of_factors, -1)


def _identity(input):
    return ops.eye(*input.shape[-2:], dtype=input.dtype, device=input.device).expand(input.shape)


def householder_product_backward(grad, input, tau):
    """The gradients of the vectors and the factors of a product of reflections."""
    of_vectors, of_factors, _ = _gradients(grad, _reflections(input, tau), _identity(input))
    return _of_inputs(of_vectors, of_factors, input)


def householder_product_jvp(input_t, tau_t, input, tau):
    """The tangent: that of each reflection, between the others."""
    value = _identity(input)
    tangent = ops.zeros_like(value)
    changes = [
        (input_t[..., place : place + 1].tril(-1 - place), tau_t[..., place, None, None])
        for place in range(tau.shape[-1])
    ]
    for (vector, factor), (vector_t, factor_t) in zip(reversed(_reflections(input, tau)), reversed(changes)):
        along = _turned(vector).matmul(value)
        changed = factor_t * vector * along + factor * (vector_t * along + vector * _turned(vector_t).matmul(value))
        tangent = _reflected(vector, factor, tangent) - changed
        value = value - factor * vector * along
    return tangent


def ormqr_backward(grad, input, tau, other, left, transpose):
    """The gradients of all three; what is multiplied from the right is its adjoint from the left."""
    reflections = _reflections(input, tau)
    is_adjoint = left == transpose
    if is_adjoint:
        reflections = _adjoint(reflections)
    turn = (lambda matrix: matrix) if left else _turned
    of_vectors, of_factors, _ = _gradients(turn(grad), reflections, turn(other))
    if is_adjoint:
        of_vectors, of_factors = of_vectors[::-1], [conj(each) for each in reversed(of_factors)]
    return *_of_inputs(of_vectors, of_factors, input), ops.ormqr(input, tau, grad, left, not transpose)
