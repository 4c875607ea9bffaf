"""Factorizations: what they give multiplies back to the matrix, and derivatives of what does not depend on signs."""

import numpy as np
import pytest

import mindtorch as torch

SHAPES = ((3, 3), (4, 3), (3, 4), (2, 3, 3))
linalg = torch.linalg


def matrix(shape, dtype="float64"):
    random = np.random.RandomState(sum(shape))
    values = random.randn(*shape)
    if dtype.startswith("complex"):
        values = values + 1j * random.randn(*shape)
    return torch.from_numpy(values.astype(dtype))


def adjoint(tensor):
    return tensor.transpose(-2, -1).conj()


def symmetric(tensor):
    return tensor + adjoint(tensor)


def positive(tensor):
    return tensor @ adjoint(tensor) + 2 * torch.eye(tensor.size(-2), dtype=tensor.dtype)


REBUILT = {
    "qr": (lambda a: linalg.qr(a), lambda q, r: q @ r),
    "svd": (lambda a: linalg.svd(a, full_matrices=False), lambda u, s, vh: (u * s.unsqueeze(-2)) @ vh),
    "lu": (lambda a: linalg.lu(a), lambda p, lower, upper: p @ lower @ upper),
}
REBUILT_SQUARE = {
    "cholesky": (positive, lambda a: (linalg.cholesky(a),), lambda factor: factor @ adjoint(factor)),
    "eigh": (symmetric, linalg.eigh, lambda values, vectors: (vectors * values.unsqueeze(-2)) @ adjoint(vectors)),
    "eig": (
        lambda a: a,
        linalg.eig,
        lambda values, vectors: (vectors * values.unsqueeze(-2)) @ linalg.inv(vectors),
    ),
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", REBUILT)
def test_factors_multiply_back(name, shape, dtype):
    factorize, multiply = REBUILT[name]
    a = matrix(shape, dtype)
    torch.testing.assert_close(multiply(*factorize(a)), a)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", REBUILT_SQUARE)
def test_factors_of_square_matrices_multiply_back(name, dtype):
    prepare, factorize, multiply = REBUILT_SQUARE[name]
    a = prepare(matrix((2, 3, 3), dtype))
    result = multiply(*factorize(a))
    torch.testing.assert_close(result, a.to(result.dtype))


DIFFERENTIATED = {
    "cholesky": lambda a: linalg.cholesky(positive(a)),
    "eigvalsh": lambda a: linalg.eigvalsh(symmetric(a)),
    "eigh": lambda a: linalg.eigh(symmetric(a))[1].abs(),
    "eig": lambda a: linalg.eig(a)[1].abs(),
    "eigvals": lambda a: linalg.eigvals(a),
    "lu": lambda a: linalg.lu(a)[1:],
    "svd U": lambda a: linalg.svd(a, False)[0].abs(),
    "svd V": lambda a: linalg.svd(a, False)[2].abs(),
    "svd polar": lambda a: (lambda u, s, vh: u @ vh)(*linalg.svd(a, False)),
    "qr": lambda a: linalg.qr(a),
    "pinv": lambda a: linalg.pinv(a),
}
ONLY_SQUARE = {"eigvalsh", "eigh", "eig", "eigvals"}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives(name, shape, dtype):
    if name in ONLY_SQUARE and shape[-1] != shape[-2]:
        pytest.skip("defined for square matrices")
    assert torch.autograd.gradcheck(
        DIFFERENTIATED[name], (matrix(shape, dtype).requires_grad_(),), check_forward_ad=True
    )


def test_scatter_reduce_by_products_has_tangents():
    places = torch.tensor([0, 1, 1, 0])

    def function(input, values):
        return input.scatter_reduce(0, places, values, "prod")

    inputs = [torch.tensor(values, dtype=torch.float64) for values in ([2.0, 3.0, 4.0], [1.5, 0.0, 2.0, -1.0])]
    assert torch.autograd.gradcheck(function, [each.requires_grad_() for each in inputs], check_forward_ad=True)


def test_determinant_of_a_singular_matrix_has_a_gradient():
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    linalg.det(a).backward()
    torch.testing.assert_close(a.grad, torch.tensor([[4.0, -2.0], [-2.0, 1.0]]))


@pytest.mark.parametrize("pivots", [[4, 2, 3], [0, 2, 3], [1, -4, -4], [1, 2, -3]])
def test_pivots_beyond_the_matrix_are_not_followed(pivots):
    with pytest.raises(IndexError, match="torch.linalg.ldl_solve: .* pivot|torch.linalg.ldl_solve: pivot"):
        linalg.ldl_solve(torch.eye(3), torch.tensor(pivots), torch.ones(3, 2))
