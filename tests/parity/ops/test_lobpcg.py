"""`lobpcg` finds what PyTorch's does, in as many steps, and with the same gradients."""

import numpy as np
import pytest

from tests.parity.support.programs import assert_same

SIZE = 20


def _matrix(T, seed=0, batch=()):
    """A symmetric, positive definite matrix."""
    factor = np.random.RandomState(seed).randn(*batch, SIZE, SIZE)
    return T.tensor((factor @ np.swapaxes(factor, -1, -2) + np.eye(SIZE)).tolist(), dtype=T.float64)


def _vectors(T, width, batch=()):
    return T.tensor(np.random.RandomState(1).randn(*batch, SIZE, width).tolist(), dtype=T.float64)


CALLS = {
    "one": lambda T: {"X": _vectors(T, 1)},
    "three": lambda T: {"k": 3, "X": _vectors(T, 3)},
    "smallest": lambda T: {"k": 3, "X": _vectors(T, 3), "largest": False},
    "more vectors": lambda T: {"k": 2, "X": _vectors(T, 4)},
    "few steps": lambda T: {"k": 2, "X": _vectors(T, 2), "niter": 3},
    "tolerance": lambda T: {"k": 2, "X": _vectors(T, 2), "tol": 1e-3},
    "generalized": lambda T: {"k": 2, "X": _vectors(T, 2), "B": _matrix(T, 5)},
    "basic": lambda T: {"k": 2, "X": _vectors(T, 2), "method": "basic"},
    "basic with preconditioner": lambda T: {
        "k": 2, "X": _vectors(T, 2), "method": "basic", "iK": T.linalg.inv(_matrix(T))
    },
    "dropping": lambda T: {"k": 2, "X": _vectors(T, 2), "ortho_bparams": {"ortho_use_drop": True}},
    "too many": lambda T: {"k": 7},
    "another shape": lambda T: {"X": _vectors(T, 2)[:5]},
    "another B": lambda T: {"B": _matrix(T)[:5, :5]},
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_pairs(name, is_sparse):
    def program(T):
        steps = []
        A = _matrix(T).to_sparse() if is_sparse else _matrix(T)
        values, vectors = T.lobpcg(A, tracker=lambda worker: steps.append(worker.ivars["istep"]), **CALLS[name](T))
        return values, vectors.abs().contiguous(), len(steps)

    assert_same(program)


def test_batch():
    def program(T):
        values, vectors = T.lobpcg(_matrix(T, 3, (2, 3)), k=2, X=_vectors(T, 2, (2, 3)))
        return values, vectors.abs()

    assert_same(program)


def test_a_tracker_stops_it():
    def program(T):
        def stop(worker):
            worker.bvars["force_stop"] = worker.ivars["istep"] == 2

        return T.lobpcg(_matrix(T), k=2, X=_vectors(T, 2), tracker=stop)[0]

    assert_same(program)


def test_gradients():
    def program(T):
        A = _matrix(T).requires_grad_()
        values, vectors = T.lobpcg(A, k=2, X=_vectors(T, 2), tol=1e-12)
        (values.sum() + (vectors.abs() * T.arange(2.0 * SIZE).reshape(SIZE, 2)).sum()).backward()
        return A.grad

    assert_same(program)


def test_random_vectors_to_begin_with():
    def program(T):
        T.manual_seed(0)
        return T.lobpcg(_matrix(T), k=3)[0]

    assert_same(program)
