"""`conv_tbc`, over sequences that begin with time."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def sequences_along_time(T):
    x, weight, bias = T.ones(5, 2, 3), T.ones(3, 3, 4), T.ones(4)
    wrong = [
        (x[0], weight, bias), (x, weight[0], bias), (x, weight, T.ones(4, 1)), (x, T.ones(3, 2, 4), bias),
        (x, weight, bias[:2]), (x[:1], weight, bias),
    ]  # fmt: skip
    return [tried(T.conv_tbc, *args) for args in wrong] + [T.conv_tbc(x.long(), weight.long(), bias.long(), 1)]
