"""Second gradients, and first ones that may be differentiated, where formulas that mean the same differ.

They differ at the edges of their domains, for large numbers, in 16 bits, and in what they keep.
"""

import numpy as np
import pytest

from tests.parity.support.inputs import ramp
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()

EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, 3.0, -3.0, 8.0, 20.0, -20.0, 60.0, 200.0, -200.0, 3000.0, 40000.0, -40000.0]


def finite_or_not(tensor):
    """The values, rounded to what 16 bits can tell, and which of them are nan or infinite."""
    numbers = tensor.detach().double().numpy()
    return [f"{number or 0.0:.2g}" if np.isfinite(number) else str(number) for number in numbers]


FUNCTIONS = {
    "asinh": lambda T, x: T.asinh(x),
    "atanh": lambda T, x: T.atanh(x),
    "hypot": lambda T, x: T.hypot(x, x.roll(1)),
    "logit": lambda T, x: T.logit(x),
    "elu": lambda T, x: T.nn.functional.elu(x, 1.5),
    "celu": lambda T, x: T.nn.functional.celu(x),
    "selu": lambda T, x: T.nn.functional.selu(x),
    "glu": lambda T, x: T.nn.functional.glu(x),
    "hardsigmoid": lambda T, x: T.nn.functional.hardsigmoid(x),
    "hardswish": lambda T, x: T.nn.functional.hardswish(x),
    "logsigmoid": lambda T, x: T.nn.functional.logsigmoid(x),
    "mish": lambda T, x: T.nn.functional.mish(x),
    "prelu": lambda T, x: T.nn.functional.prelu(x, T.tensor([0.25], dtype=x.dtype)),
    "rrelu": lambda T, x: T.nn.functional.rrelu(x),
    "softplus": lambda T, x: T.nn.functional.softplus(x),
    "softshrink": lambda T, x: T.nn.functional.softshrink(x),
    "i0": lambda T, x: T.i0(x[:8]),
    "i1": lambda T, x: T.special.i1(x[:8]),
    "i1e": lambda T, x: T.special.i1e(x[:8]),
}


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_at_the_edges(name, dtype):
    def run(T):
        x = T.tensor(EDGES, dtype=T.float64).to(getattr(T, dtype)).requires_grad_()
        y = FUNCTIONS[name](T, x)

        def second():
            (first,) = T.autograd.grad(y, x, T.full_like(y, 0.75), create_graph=True)
            (again,) = T.autograd.grad(first, x, T.full_like(first, 1.5))
            return finite_or_not(first), finite_or_not(again)

        return tried(second)

    assert_same(run)


@program
def infinite_gradients_stay_where_they_belong(T, _):
    x, infinite = sample(T, 4), T.tensor(float("inf"))
    return [T.autograd.grad(each, x, infinite)[0] for each in (x.max(), x.min(), x.median(), x.nansum())]


@program
def random_numbers_do_not_depend_on_their_mean(T, _):
    mean, deviation = sample(T, 3), sample(T, 3).detach().abs().requires_grad_()
    T.normal(mean, deviation).sum().backward()
    T.normal(mean, 2.0).sum().backward()
    T.normal(0.5, deviation).sum().backward()
    return mean.grad, deviation.grad


@program
def a_division_by_a_number_can_be_passed_twice(T, _):
    x = sample(T, 3, 4)
    loss = T.nn.functional.cross_entropy(x, x.detach().softmax(1))
    return [tried(loss.backward, inputs=[loss]), tried(loss.backward, inputs=[loss]), loss.grad]


@program
def the_order_in_which_half_gradients_are_added(T, _):
    x = ramp(T, -3, 2.5, 9, T.float16).requires_grad_()
    losses = [T.nn.functional.poisson_nll_loss(x, x, log_input=log, reduction="none") for log in (True, False)]
    return [[number.hex() for number in T.autograd.grad(each.sum(), x)[0].tolist()] for each in losses[:1]]


@program
def slopes_of_rrelu_are_kept(T, _):
    x = sample(T, 6)
    y = T.nn.functional.rrelu(x, 0.1, 0.3, training=True)
    y.sum().backward()
    return [bool(((number > 0.09) & (number < 1.01)).item()) for number in x.grad], y.grad_fn.name()


@program
def a_weight_of_prelu_and_its_gradient(T, _):
    x, weight = sample(T, 2, 3), T.tensor([0.25, 0.5, -1.0], requires_grad=True)
    y = T.nn.functional.prelu(x, weight)
    first = T.autograd.grad(y.sum(), [x, weight], create_graph=True)
    return first, T.autograd.grad(first[1].sum(), x, retain_graph=True), T.autograd.grad(first[0].sum(), weight)
