"""Functions by names that PyTorch has left behind: those that are gone, and those that still work."""

import warnings

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def functions_that_are_gone(T):
    x = T.eye(2)
    of_two = [tried(function, x, x) for function in (T.solve, T.lstsq)]
    of_one = [tried(function, x) for function in (T.eig, T.symeig, T.matrix_rank)]
    return [of_two, of_one, [tried(x.solve, x), tried(x.lstsq, x), tried(x.eig), tried(x.symeig)]]


@program
def lu_by_its_old_name(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])
    out = T.empty(0), T.empty(0, dtype=T.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [T.lu(x), x.lu(), T.lu(x, get_infos=True), type(T.lu(x)), T.lu(x, out=out)]
        return [*results, tried(T.lu, x, pivot=False), tried(T.lu, x, out=out[:1])]


@program
def norms_by_their_old_names(T):
    x = T.arange(24.0).view(2, 3, 4)
    calls = [
        lambda: T.nuclear_norm(x[0]), lambda: T.nuclear_norm(x, (1,)), lambda: T.nuclear_norm(x[0].int()),
        lambda: T.frobenius_norm(x, (0, 1, 2)), lambda: T.frobenius_norm(x.int(), (1, 2)),
        lambda: T.nuclear_norm(x[0], out=T.empty(0, dtype=T.float64)),
        lambda: T.frobenius_norm(x, (1, 2), out=T.empty(0, dtype=T.float64)),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [tried(call) for call in calls]
