"""Linear algebra: results and errors of odd arguments, one call after the other."""

import warnings

import pytest

from tests.parity.ops.calls import operands
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same

# Each is called with the library, its `tensor`, and the operands.
CALLS = {
    "addbmm": lambda T, t, m: [
        lambda: T.addbmm(T.zeros(3, 5), m.batch, m.other_batch, beta=0.5, alpha=2),
        lambda: T.addbmm(T.zeros(5), m.batch, m.other_batch).shape,
        lambda: T.addbmm(T.zeros(2, 5), m.batch, m.other_batch),
        lambda: T.addbmm(T.zeros(3, 5), m.batch, m.batch),
        lambda: T.addbmm(T.zeros(3, 5), m.batch[0], m.other_batch),
        lambda: T.addbmm(T.zeros(3, 5), m.batch, m.other_batch[0]),
        lambda: T.addbmm(T.zeros(3, 5), m.batch, m.other_batch[:1]),
        lambda: T.addbmm(T.zeros(3, 5, dtype=T.int32), m.batch, m.other_batch),
        lambda: T.addbmm(T.zeros(3, 5).bool(), m.batch.bool(), m.other_batch.bool()),
        lambda: T.addbmm(T.zeros(3, 5), m.batch, m.other_batch.double()),
        lambda: T.addbmm(T.zeros(3, 5), m.batch, m.other_batch, out=T.empty(0, dtype=T.float64)),
        lambda: T.addbmm(T.zeros(3, 5).int(), m.batch.int(), m.other_batch.int(), alpha=0.5),
        lambda: T.addbmm(T.zeros(3, 5), m.batch, m.other_batch, alpha=1j),
    ],
    "addmv": lambda T, t, m: [
        lambda: T.addmv(t([1.0, 2]), t([[1.0, 2], [3, 4]]), t([1.0, 1]), beta=2, alpha=3),
        lambda: T.addmv(t(1.0), t([[1.0, 2], [3, 4]]), t([1.0, 1])),
        lambda: T.addmv(t([1.0, 2, 3]), t([[1.0, 2], [3, 4]]), t([1.0, 1])),
        lambda: T.addmv(t([[1.0, 2]]), t([[1.0, 2], [3, 4]]), t([1.0, 1])),
        lambda: T.addmv(t([1.0, 2]), t([[1.0, 2], [3, 4]]), t([1.0, 1, 2])),
        lambda: T.addmv(t([1, 2]), t([[1.0, 2], [3, 4]]), t([1.0, 1])),
        lambda: T.addmv(t([1, 2]), t([[1, 2], [3, 4]]), t([1, 1]), alpha=0.5),
        lambda: T.addmv(t([True, True]), t([[True, False]] * 2), t([True, True])),
    ],
    "addr": lambda T, t, m: [
        lambda: T.addr(T.zeros(2, 3), t([1.0, 2]), t([1.0, 2, 3]), beta=2, alpha=3),
        lambda: T.addr(T.zeros(3), t([1.0, 2]), t([1.0, 2, 3])),
        lambda: T.addr(T.zeros(2, 2), t([1.0, 2]), t([1.0, 2, 3])),
        lambda: T.addr(T.zeros(2, 2), t([[1.0, 2]]), t([1.0, 2, 3])),
        lambda: T.addr(T.zeros(2, 2), t([1.0, 2]), t([[1.0, 2, 3]])),
        lambda: T.addr(T.zeros(2, 3).int(), t([1, 2]), t([1, 2, 3]), alpha=0.5),
        lambda: T.addr(T.zeros(2, 3).bool(), t([True, False]), t([True, True, False])),
        lambda: T.addr(T.zeros(2, 3).int(), t([1.0, 2]), t([1, 2, 3])),
        lambda: T.addr(T.zeros(2, 3).bool(), t([True, False]), t([True, True, False]), alpha=2),
    ],
    "cdist": lambda T, t, m: [
        lambda: T.cdist(T.ones(2, 3), T.zeros(4, 3)),
        lambda: T.cdist(T.ones(2, 3), T.zeros(4, 2)),
        lambda: T.cdist(T.ones(3), T.zeros(4, 3)),
        lambda: T.cdist(T.ones(2, 3), T.zeros(3)),
        lambda: T.cdist(T.ones(2, 3), T.zeros(4, 3), p=-1),
        lambda: T.cdist(T.ones(2, 3), T.zeros(4, 3), compute_mode="x"),
        lambda: T.cdist(T.ones(2, 3).int(), T.zeros(4, 3).int()),
        lambda: T.cdist(T.ones(2, 3), T.zeros(4, 3).double()),
        lambda: T.cdist(T.ones(2, 3) * 1j, T.zeros(4, 3) * 1j),
        lambda: T.cdist(T.ones(0, 3), T.zeros(4, 3)),
        lambda: T.cdist(T.ones(2, 0), T.zeros(4, 0)),
        lambda: T.cdist(T.arange(60.0).reshape(30, 2), T.ones(2, 2)),
        lambda: T.cdist(T.arange(60.0).reshape(30, 2), T.ones(3, 1, 2, 2)).stride(),
        lambda: T.cdist(T.ones(30, 2, dtype=T.float16), T.ones(2, 2, dtype=T.float16)),
        lambda: T.cdist(T.ones(25, 2, dtype=T.float16), T.ones(2, 2, dtype=T.float16)),
        lambda: T.cdist(T.ones(3, 2, dtype=T.bfloat16), T.ones(2, 2).bfloat16(), compute_mode="use_mm_for_euclid_dist"),
        lambda: T.cdist(T.ones(30, 2).bfloat16(), T.ones(2, 2).bfloat16(), compute_mode="donot_use_mm_for_euclid_dist"),
    ],
    "chain_matmul": lambda T, t, m: [
        lambda: T.chain_matmul(T.ones(2, 3)),
        lambda: T.chain_matmul(),
    ],
    "cholesky": lambda T, t, m: [
        lambda: T.cholesky(m.positive),
        lambda: T.cholesky(m.positive, upper=True),
    ],
    "cholesky_solve": lambda T, t, m: [
        lambda: T.cholesky_solve(m.wide.t(), m.positive),
    ],
    "cross": lambda T, t, m: [
        lambda: T.cross(T.ones(2, 3), T.ones(2, 3)),
        lambda: T.cross(T.ones(2, 2), T.ones(2, 2)),
        lambda: T.cross(T.ones(3), T.ones(2, 3)),
        lambda: T.cross(T.ones(2, 3), T.ones(2, 3), dim=0),
        lambda: T.cross(T.ones(3), T.ones(1, 3)),
    ],
    "det": lambda T, t, m: [
        lambda: T.det(m.square),
    ],
    "inverse": lambda T, t, m: [
        lambda: T.inverse(m.square),
    ],
    "linalg.cholesky": lambda T, t, m: [
        lambda: T.linalg.cholesky(m.indefinite),
        lambda: T.linalg.cholesky(T.stack([m.positive, m.indefinite])),
        lambda: T.linalg.cholesky(m.positive, upper=True),
    ],
    "linalg.cholesky_ex": lambda T, t, m: [
        lambda: T.linalg.cholesky_ex(m.indefinite),
    ],
    "linalg.cholesky_inverse": lambda T, t, m: [
        lambda: T.cholesky_inverse(T.linalg.cholesky(m.positive)),
    ],
    "linalg.cholesky_solve": lambda T, t, m: [
        lambda: T.cholesky_solve(m.wide, T.linalg.cholesky(m.positive)),
    ],
    "linalg.cond": lambda T, t, m: [
        lambda: T.linalg.cond(m.square),
        lambda: T.linalg.cond(m.square, 1),
        lambda: T.linalg.cond(m.square, "fro"),
        lambda: T.linalg.cond(m.square, "nuc"),
        lambda: T.linalg.cond(m.singular, 1),
        lambda: T.linalg.cond(m.wide),
        lambda: T.linalg.cond(m.wide, 1),
        lambda: T.linalg.cond(m.square, 3),
        lambda: T.linalg.cond(m.square, -2),
        lambda: T.linalg.cond(m.square, float("-inf")),
        lambda: T.linalg.cond(m.square, "x"),
    ],
    "linalg.cross": lambda T, t, m: [
        lambda: T.linalg.cross(T.ones(2, 2), T.ones(2, 2)),
        lambda: T.linalg.cross(T.ones(3), T.ones(2, 3)),
        lambda: T.linalg.cross(T.ones(4, 3), T.ones(2, 3)),
        lambda: T.linalg.cross(T.ones(2, 3), T.ones(2, 3).int()),
        lambda: T.linalg.cross(T.ones(2, 3), T.ones(2, 3), dim=5),
        lambda: T.linalg.cross(T.ones(2, 3).bool(), T.ones(2, 3).bool()),
    ],
    "linalg.diagonal": lambda T, t, m: [
        lambda: T.linalg.diagonal(m.square),
    ],
    "linalg.eigh": lambda T, t, m: [
        lambda: T.linalg.eigh(m.square, UPLO="U").eigenvalues,
    ],
    "linalg.eigvalsh": lambda T, t, m: [
        lambda: T.linalg.eigvalsh(m.square, UPLO="L"),
    ],
    "linalg.inv": lambda T, t, m: [
        lambda: T.linalg.inv(T.stack([m.positive, m.singular])),
    ],
    "linalg.inv_ex": lambda T, t, m: [
        lambda: T.linalg.inv_ex(m.singular),
        lambda: T.linalg.inv_ex(m.singular, check_errors=True),
    ],
    "linalg.lstsq": lambda T, t, m: [
        lambda: T.linalg.lstsq(m.wide.t(), t([1.0, 2, 3])),
        lambda: T.linalg.lstsq(m.wide, t([[1.0], [2], [3]])),
        lambda: T.linalg.lstsq(m.wide, t([[1.0], [2]]), driver="x"),
        lambda: T.linalg.lstsq(t([1.0]), t([1.0])),
    ],
    "linalg.lu": lambda T, t, m: [
        lambda: T.linalg.lu(m.square),
        lambda: T.linalg.lu(m.square, pivot=False),
        lambda: T.linalg.lu(T.zeros(0, 3))[1].shape,
    ],
    "linalg.lu_factor": lambda T, t, m: [
        lambda: T.linalg.lu_factor(m.square),
        lambda: T.linalg.lu_factor(m.singular),
        lambda: T.linalg.lu_factor(m.wide),
        lambda: T.linalg.lu_factor(m.wide.t()),
        lambda: T.linalg.lu_factor(T.zeros(2, 2)),
    ],
    "linalg.lu_factor_ex": lambda T, t, m: [
        lambda: T.linalg.lu_factor_ex(m.singular),
    ],
    "linalg.matmul": lambda T, t, m: [
        lambda: T.linalg.matmul(m.square, m.square),
    ],
    "linalg.matrix_exp": lambda T, t, m: [
        lambda: T.linalg.matrix_exp(m.square * 1j),
        lambda: T.linalg.matrix_exp(t([[0.0, 1], [0, 0]])),
    ],
    "linalg.matrix_norm": lambda T, t, m: [
        lambda: T.linalg.matrix_norm(m.square, "nuc"),
        lambda: T.linalg.matrix_norm(m.square, 2),
        lambda: T.linalg.matrix_norm(m.square, 1),
        lambda: T.linalg.matrix_norm(m.square, float("inf")),
        lambda: T.linalg.matrix_norm(m.square, -2),
        lambda: T.linalg.matrix_norm(m.square, 3),
        lambda: T.linalg.matrix_norm(m.square, "x"),
        lambda: T.linalg.matrix_norm(m.square, dim=(0, 0)),
        lambda: T.linalg.matrix_norm(m.square, dim=(0, 1, 2)),
        lambda: T.linalg.matrix_norm(m.square, keepdim=True),
        lambda: T.linalg.matrix_norm(m.square, 2, keepdim=True, dtype=T.float64),
        lambda: T.linalg.matrix_norm(m.square.int()),
    ],
    "linalg.matrix_power": lambda T, t, m: [
        lambda: T.linalg.matrix_power(m.square, 3),
        lambda: T.linalg.matrix_power(m.square, -2),
        lambda: T.linalg.matrix_power(m.square, 0),
        lambda: T.linalg.matrix_power(m.wide, 2),
        lambda: T.linalg.matrix_power(m.square.int(), -1),
        lambda: T.linalg.matrix_power(m.singular, -1),
    ],
    "linalg.matrix_rank": lambda T, t, m: [
        lambda: T.linalg.matrix_rank(m.square),
        lambda: T.linalg.matrix_rank(m.singular),
        lambda: T.linalg.matrix_rank(m.square, tol=4.0),
        lambda: T.linalg.matrix_rank(m.square, atol=0.1, rtol=0.9),
        lambda: T.linalg.matrix_rank(m.positive, hermitian=True),
        lambda: T.linalg.matrix_rank(T.stack([m.square, m.singular])),
        lambda: T.linalg.matrix_rank(m.square, t(3.0)),
        lambda: T.linalg.matrix_rank(t([1.0])),
    ],
    "linalg.multi_dot": lambda T, t, m: [
        lambda: T.linalg.multi_dot([T.ones(2, 3)]),
        lambda: T.linalg.multi_dot([T.ones(2, 3), T.ones(4)]),
        lambda: T.linalg.multi_dot([T.ones(2, 3), T.ones(2, 3, 3)]),
        lambda: T.linalg.multi_dot([T.ones(3), T.ones(3, 3), T.ones(3)]),
        lambda: T.linalg.multi_dot([T.ones(2, 3), T.ones(2, 3, 3), T.ones(3)]),
        lambda: T.linalg.multi_dot([T.ones(2, 3, 3), T.ones(3, 3), T.ones(3)]),
        lambda: T.linalg.multi_dot([T.ones(2, 3), T.ones(3, 3).int(), T.ones(3)]),
        lambda: T.linalg.multi_dot([m.square, m.square, m.wide]),
    ],
    "linalg.norm": lambda T, t, m: [
        lambda: T.linalg.norm(m.square),
        lambda: T.linalg.norm(m.square, 2),
        lambda: T.linalg.norm(m.square, "fro"),
        lambda: T.linalg.norm(m.square, "nuc"),
        lambda: T.linalg.norm(m.square, 2, 1),
        lambda: T.linalg.norm(m.square, dim=(0, 1)),
        lambda: T.linalg.norm(t([1.0, 2]), "fro"),
        lambda: T.linalg.norm(T.ones(2, 2, 2), 2),
        lambda: T.linalg.norm(T.ones(2, 2, 2)),
        lambda: T.linalg.norm(m.square, float("inf"), (0, 1)),
        lambda: T.linalg.norm(m.square, 2, (0, 1), True),
        lambda: T.linalg.norm(m.square, "fro", 0),
        lambda: T.linalg.norm(m.square, 2, (0, 1, 1)),
        lambda: T.linalg.norm(t([3.0, 4]), 1),
        lambda: T.linalg.norm(m.square, dtype=T.float64),
        lambda: T.linalg.norm(T.ones(2, 2, 2), dim=(0, 1, 2)),
    ],
    "linalg.pinv": lambda T, t, m: [
        lambda: T.linalg.pinv(m.wide),
        lambda: T.linalg.pinv(m.wide, rcond=0.5),
        lambda: T.linalg.pinv(m.positive, hermitian=True),
        lambda: T.linalg.pinv(m.wide, atol=1.0, rtol=0.1),
        lambda: T.linalg.pinv(m.wide, t(0.1)),
    ],
    "linalg.qr": lambda T, t, m: [
        lambda: T.linalg.qr(m.square, mode="r"),
        lambda: T.linalg.qr(m.square, mode="complete"),
        lambda: T.linalg.qr(m.square, "x"),
        lambda: T.linalg.qr(m.wide.t(), "complete").R.shape,
        lambda: T.linalg.qr(m.square),
    ],
    "linalg.slogdet": lambda T, t, m: [
        lambda: T.linalg.slogdet(m.square * 1j),
    ],
    "linalg.solve": lambda T, t, m: [
        lambda: T.linalg.solve(m.singular, t([1.0, 2])),
        lambda: T.linalg.solve(m.square, t([1.0, 2])),
        lambda: T.linalg.solve(m.square, m.wide),
        lambda: T.linalg.solve(m.square, m.wide.t()),
        lambda: T.linalg.solve(m.square, m.wide.t(), left=False),
        lambda: T.linalg.solve(m.square, t([1.0, 2, 3])),
        lambda: T.linalg.solve(T.stack([m.square, m.positive]), T.ones(2, 2)),
        lambda: T.linalg.solve(m.square, m.wide.double()),
        lambda: T.linalg.solve(m.square.int(), m.wide.int()),
        lambda: T.linalg.solve(m.wide, m.wide),
        lambda: T.linalg.solve(T.stack([m.square, m.positive]), m.wide),
    ],
    "linalg.solve_triangular": lambda T, t, m: [
        lambda: T.linalg.solve_triangular(m.square, m.wide, upper=True),
        lambda: T.linalg.solve_triangular(m.square, m.wide, upper=False),
        lambda: T.linalg.solve_triangular(m.square, m.wide.t(), upper=True, left=False),
        lambda: T.linalg.solve_triangular(m.square, m.wide, upper=True, unitriangular=True),
        lambda: T.linalg.solve_triangular(m.square, t([1.0]), upper=True),
        lambda: T.linalg.solve_triangular(m.wide, m.wide, upper=True),
        lambda: T.linalg.solve_triangular(m.square, m.wide.t(), upper=True),
        lambda: T.linalg.solve_triangular(m.square.int(), m.wide.int(), upper=True),
    ],
    "linalg.svd": lambda T, t, m: [
        lambda: T.linalg.svd(m.wide, full_matrices=False)[2].shape,
        lambda: T.linalg.svd(m.wide)[2].shape,
    ],
    "linalg.tensorinv": lambda T, t, m: [
        lambda: T.linalg.tensorinv(T.eye(4).reshape(2, 2, 2, 2)).shape,
    ],
    "linalg.tensorsolve": lambda T, t, m: [
        lambda: T.linalg.tensorsolve(T.eye(4).reshape(2, 2, 4), T.ones(2, 2)),
    ],
    "linalg.vander": lambda T, t, m: [
        lambda: T.linalg.vander(t([[1, 2.0]]), N=3),
        lambda: T.linalg.vander(t([1]), N=1),
        lambda: T.linalg.vander(t(1.0)),
        lambda: T.linalg.vander(t([True])),
        lambda: T.linalg.vander(t([1.0, 2])),
    ],
    "linalg.vecdot": lambda T, t, m: [
        lambda: T.linalg.vecdot(m.square, m.square),
    ],
    "logdet": lambda T, t, m: [
        lambda: T.logdet(m.square),
        lambda: T.logdet(m.indefinite),
        lambda: T.logdet(m.singular),
    ],
    "matrix_power": lambda T, t, m: [
        lambda: T.matrix_power(m.square, -1),
    ],
    "pinverse": lambda T, t, m: [
        lambda: T.pinverse(m.wide),
    ],
    "qr": lambda T, t, m: [
        lambda: T.qr(m.square),
    ],
    "slogdet": lambda T, t, m: [
        lambda: T.slogdet(m.indefinite),
    ],
    "svd": lambda T, t, m: [
        lambda: T.svd(m.wide)[2].shape,
        lambda: T.svd(m.wide, False)[2].shape,
    ],
    "triangular_solve": lambda T, t, m: [
        lambda: T.triangular_solve(m.wide, m.square),
    ],
    "vander": lambda T, t, m: [
        lambda: T.vander(t([1, 2, 3])),
        lambda: T.vander(t([1, 2, 3]), 2, True),
        lambda: T.vander(t([[1]])),
        lambda: T.vander(t([1]), -1),
        lambda: T.vander(t([True, False])),
        lambda: T.vander(t([1.0, 2]), 0),
    ],
    "vdot": lambda T, t, m: [
        lambda: T.vdot(t([1 + 1j]), t([2 + 1j])),
        lambda: T.vdot(t([1.0]), t([2])),
        lambda: T.vdot(t([[1.0]]), t([2])),
        lambda: T.vdot(t([1.0, 2]), t([2.0])),
        lambda: T.vdot(t([1]), t([2])),
        lambda: T.vdot(t([True]), t([True])),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_errors(name):
    def program(T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [tried(call) for call in CALLS[name](T, T.tensor, operands(T))]

    assert_same(program)
