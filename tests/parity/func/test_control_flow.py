"""`cond` and `while_loop`: branches and loops as functions."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def branches_and_loops(T):
    one = T.ones(1)
    chosen = [T.cond(pred, lambda x: x + 1, lambda x: x - 1, (one,)) for pred in (True, T.tensor(False), 1)]
    looped = T.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (T.tensor(0), one))
    return chosen, looped, tried(T.cond, T.tensor([True, False]), lambda: 0, lambda: 1)
