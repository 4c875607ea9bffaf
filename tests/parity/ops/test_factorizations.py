"""Householder reflections, and factors of symmetric and Hermitian systems: results and errors."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same

# By name: a call with a tall matrix, its factors, and a matrix to multiply.
REFLECTIONS = {
    "a vector": lambda T, a, tau, c: T.linalg.householder_product(a[0], tau),
    "a wide matrix": lambda T, a, tau, c: T.linalg.householder_product(a.T, tau),
    "too many factors": lambda T, a, tau, c: T.linalg.householder_product(a, c[0, :3]),
    "factors of another dtype": lambda T, a, tau, c: T.linalg.householder_product(a, tau.double()),
    "integers": lambda T, a, tau, c: T.linalg.householder_product(a.int(), tau.int()),
    "fewer factors": lambda T, a, tau, c: T.linalg.householder_product(a, tau[:1]),
    "factors without a batch": lambda T, a, tau, c: T.linalg.householder_product(a.expand(2, 3, 2), tau),
    "another batch of factors": lambda T, a, tau, c: T.linalg.householder_product(a.expand(2, 3, 2), tau.expand(3, 2)),
    "into doubles": lambda T, a, tau, c: T.linalg.householder_product(a, tau, out=T.empty(3, 2, dtype=T.float64)),
    "orgqr": lambda T, a, tau, c: [T.orgqr(a, tau), a.orgqr(tau)],
    "Q": lambda T, a, tau, c: [T.orgqr(*T.geqrf(a)) @ a.new_ones(2, 1), T.linalg.qr(a)[0] @ a.new_ones(2, 1)],
    "geqrf": lambda T, a, tau, c: T.geqrf(a),
    "geqrf of a vector": lambda T, a, tau, c: T.geqrf(a[0]),
    "geqrf of halves": lambda T, a, tau, c: T.geqrf(a.half()),
    "ormqr of another height": lambda T, a, tau, c: T.ormqr(a, tau, c.T),
    "ormqr with too many factors": lambda T, a, tau, c: T.ormqr(a, c[0, :3], c),
    "ormqr with a scalar": lambda T, a, tau, c: T.ormqr(a, tau[0], c),
    "ormqr of a vector": lambda T, a, tau, c: T.ormqr(a[0], tau, c),
    "ormqr with a vector": lambda T, a, tau, c: T.ormqr(a, tau, c[0]),
    "ormqr of doubles": lambda T, a, tau, c: T.ormqr(a, tau, c.double()),
    "ormqr with factors of doubles": lambda T, a, tau, c: T.ormqr(a, tau.double(), c),
    "ormqr without a batch": lambda T, a, tau, c: T.ormqr(a.expand(2, 3, 2), tau.expand(2, 2), c),
    "ormqr with another batch": lambda T, a, tau, c: T.ormqr(a.expand(2, 3, 2), tau.expand(2, 2), c.expand(3, 3, 4)),
    "ormqr into others": lambda T, a, tau, c: T.ormqr(a, tau, c, out=T.empty(0, dtype=T.float64)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFLECTIONS)
def test_reflections(name):
    def reflected(T):
        T.manual_seed(1)
        return tried(REFLECTIONS[name], T, T.randn(3, 2), T.randn(2), T.randn(3, 4))

    assert_same(reflected)


SYMMETRIC = {
    "no square": lambda L, T, s, b: L.ldl_factor(s[:2]),
    "a vector": lambda L, T, s, b: L.ldl_factor(s[0]),
    "integers": lambda L, T, s, b: L.ldl_factor(s.int()),
    "halves": lambda L, T, s, b: L.ldl_factor(s.half()),
    "zeros": lambda L, T, s, b: L.ldl_factor_ex(T.zeros(3, 3)),
    "a solution": lambda L, T, s, b: s @ L.ldl_solve(*L.ldl_factor(s), b) - b < 1e-4,
    "a Hermitian solution": lambda L, T, s, b: hermitian(T, s) @ solved(L, hermitian(T, s), b) - b,
    "a vector on the right": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s), b[:, 0]),
    "another height": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s), b[:2]),
    "pivots that are no integers": lambda L, T, s, b: L.ldl_solve(s, T.ones(3), b),
    "pivots of int64": lambda L, T, s, b: L.ldl_solve(s, T.tensor([1, 2, 3]), b),
    "exchanged rows": lambda L, T, s, b: L.ldl_solve(s, T.tensor([3, 2, 3], dtype=T.int32), b),
    "a block of two rows": lambda L, T, s, b: L.ldl_solve(s, T.tensor([-3, -3, 3], dtype=T.int32), b),
    "nothing on the right": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s), b[:, :0]),
    "an empty matrix": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s[:0, :0]), b[:0]),
    "too few pivots": lambda L, T, s, b: L.ldl_solve(s, T.tensor([1, 2]), b),
    "another dtype": lambda L, T, s, b: L.ldl_solve(s, T.tensor([1, 2, 3]), b.double()),
    "integer factors": lambda L, T, s, b: L.ldl_solve(s.int(), T.tensor([1, 2, 3]), b.int()),
    "a batch on the right": lambda L, T, s, b: L.ldl_solve(*L.ldl_factor(s), b.expand(4, 3, 2)),
    "into others": lambda L, T, s, b: L.ldl_factor(s, out=(T.empty(0), T.empty(0, dtype=T.int32))),
}


def hermitian(T, s):
    return T.complex(s, T.triu(s, 1) - T.tril(s, -1))


def solved(L, matrix, b):
    return L.ldl_solve(*L.ldl_factor(matrix, hermitian=True), b.to(matrix.dtype), hermitian=True)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_systems(name):
    def computed(T):
        s = T.tensor([[0.5, 2.0, -1.0], [2.0, 0.25, 3.0], [-1.0, 3.0, 4.0]])
        result = tried(SYMMETRIC[name], T.linalg, T, s, T.arange(6.0).view(3, 2))
        return (result.abs() < 1e-4) if name == "a Hermitian solution" else result

    assert_same(computed)


@pytest.mark.parametrize("size", [1, 2, 5, 12])
@pytest.mark.parametrize("seed", range(8))
def test_random_factorizations(size, seed):
    """Pivots of both kinds, in real, symmetric complex and Hermitian matrices."""

    def factorized(T):
        T.manual_seed(seed)
        real, imaginary = (T.randint(-2, 3, (size, size)).double() for _ in range(2))
        symmetric = T.complex(real, imaginary)
        results = [T.linalg.ldl_factor_ex(real), T.linalg.ldl_factor_ex(symmetric)]
        real_diagonal = symmetric - 1j * T.diag(imaginary.diagonal())
        return [*results, T.linalg.ldl_factor_ex(real_diagonal, hermitian=True)]

    assert_same(factorized)
