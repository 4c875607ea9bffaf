"""`swap_tensors` of tensors and of parameters."""

from tests.parity.support.programs import programs

program, test_program = programs()


@program
def swapped_tensors(T):
    a, b = T.ones(2), T.zeros(3)
    a.note = 5
    T.utils.swap_tensors(a, b)
    p, q = T.nn.Parameter(T.ones(1)), T.nn.Parameter(T.zeros(2))
    T.utils.swap_tensors(p, q)
    (p.sum() + 3 * q.sum()).backward()
    return a, b, hasattr(a, "note"), b.note, p, q, p.grad, q.grad
