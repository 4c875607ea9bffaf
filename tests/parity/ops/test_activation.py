"""`prelu` and `hardshrink`: slopes, gradients, and weights that do not fit."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def slopes_and_shrinking(T):
    x = T.tensor([[-1.0, 0.25, 0.5], [float("nan"), 2.0, -0.5]], requires_grad=True)
    weight = T.tensor([0.5, 0.25, 2.0], requires_grad=True)
    x.prelu(weight).nansum().backward()
    slopes = [x.grad.clone(), weight.grad]
    x.grad = None
    x.hardshrink(0.5).nansum().backward()
    functional = T.nn.functional
    return [
        slopes,
        x.grad,
        functional.prelu is T.prelu,
        functional.hardshrink is T.hardshrink,
        x.hardshrink().grad_fn.name(),
    ]


@program
def slopes_that_do_not_fit(T):
    x = T.ones(2, 3)
    weights = [T.ones(2), T.ones(3, 1), T.ones(1, 1), T.ones(3).double(), 0.2]
    return [tried(T.prelu, x, weight) for weight in weights] + [tried(T.prelu, x[0, 0], T.ones(2))]
