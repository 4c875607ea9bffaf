"""`sym_int`, `sym_max` and their kin, of plain numbers."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def numbers_that_could_be_symbols(T):
    values = T.sym_int(3.7), T.sym_int(-3.7), T.sym_float(2), T.sym_max(1, 2.5), T.sym_max(3, 2.5), T.sym_min(1, 2.0)
    return values, T.sym_not(3), T.sym_sqrt(4), T.sym_sum([1, 2, 3]), T.sym_sum([]), T.sym_ite(True, 1, 2)


@program
def wrong_numbers(T):
    return [tried(T.sym_ite, True, 1, 2.0), tried(T.sym_max, 1, "a"), tried(T.sym_sqrt, -1), tried(T.get_device, 3)]
