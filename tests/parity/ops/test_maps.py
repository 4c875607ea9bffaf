"""`map_` and `map2_`: Python functions of elements."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def functions_of_elements(T):
    x = T.tensor([1.0, 2.0])
    seen = []
    kinds = [T.float16, T.bfloat16, T.float64, T.int64, T.uint8, T.bool, T.complex64]
    results = [
        T.ones(2).to(kind).map_(T.ones(2).to(kind), lambda a, b: seen.append(type(a)) or a + b) for kind in kinds
    ]
    broadcast = T.zeros(2, 2).map_(x, lambda a, b: b - a)
    return [results, seen, broadcast, broadcast._version, x.clone().map2_(x, 2 * x, lambda a, b, c: a + b * c)]


@program
def functions_of_elements_that_do_not_fit(T):
    x, one = T.tensor([1.0, 2.0]), lambda *values: values[0]
    calls = [
        lambda: x.map_(T.ones(2, 3), one), lambda: x.map_(x.double(), one), lambda: x.map_(3, one),
        lambda: x.clone().requires_grad_().map_(x, one), lambda: x.map_(x.clone().requires_grad_(), one),
        lambda: x.map_(x, lambda a, b: "a"), lambda: x.map_(x, lambda a, b: None), lambda: x.map_(x, 3),
        lambda: x.map2_(x, x.double(), one), lambda: x.map2_(x, x.clone().requires_grad_(), one),
    ]  # fmt: skip
    return [tried(call) for call in calls]
