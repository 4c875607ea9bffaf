"""Softmax, diagonals and products of sparse tensors."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def sparse(T):
    return T.tensor([[1.0, 0, 2, 0], [0, 0, 0, 0], [3, 4, 0, 5]]).to_sparse()


@pytest.mark.parametrize("dim", (0, 1, 2))
@pytest.mark.parametrize("name", ("softmax", "log_softmax"))
def test_sparse_softmax(name, dim):
    def soft(T):
        start = sparse(T).requires_grad_()
        result = getattr(T.sparse, name)(start, dim)
        (result.to_dense() * T.arange(12.0).reshape(3, 4)).sum().backward()
        return repr(result.detach()), start.grad.to_dense()

    assert_same(soft)


@program
def sparse_softmax_of_other_dimensions(T):
    hybrid = T.arange(12.0).reshape(2, 3, 2).to_sparse(1)
    soft = T.sparse.softmax
    found = soft(sparse(T), -1), T.sparse.log_softmax(hybrid, 2), soft(hybrid, 0), soft(sparse(T), 1, dtype=T.float64)
    return [repr(each) for each in found], tried(soft, sparse(T).int(), 1)


DIAGONALS = [
    (((3, 3), [0, -1, 2], (4, 4)), {}),
    (((3, 3), [0, -1, 2], (4, 4)), {"layout": "sparse_csr"}),
    (((3,), [0], (3, 5)), {}),
    (((2, 3), [0, 0], (3, 5)), {}),
    (((2, 3), [0], (3, 5)), {}),
    (((2, 3), [0, 9], (3, 5)), {}),
    (((2, 3), [0, 1], (3, 5, 2)), {}),
    (((2, 3), [0.0, 1], (3, 5)), {}),
    (((2, 3), [[0, 1]], (3, 5)), {}),
    (((2, 3), [0, 1], (3, 5)), {"layout": "strided"}),
]


@pytest.mark.filterwarnings("ignore:Sparse CSR")
@pytest.mark.parametrize(("args", "options"), DIAGONALS)
def test_diagonals(args, options):
    def diagonals(T):
        shape, offsets, size = args
        numbers = T.arange(9)[: T.zeros(shape).numel()].reshape(shape)
        layout = {key: getattr(T, value) for key, value in options.items()}
        result = tried(T.sparse.spdiags, numbers, T.tensor(offsets), size, **layout)
        return result if isinstance(result, str) else repr(result)

    assert_same(diagonals)


@program
def products_that_stay_sparse(T):
    x, d = sparse(T), T.ones(4, 2)
    results = T.hspmm(x, d), T.smm(x, d), x.smm(d), T.sspaddmm(T.ones(3, 2).to_sparse(), x, d, beta=2, alpha=3)
    return [repr(each) for each in results], tried(T.smm, d, d), tried(T.hspmm, x, T.ones(3, 2))
