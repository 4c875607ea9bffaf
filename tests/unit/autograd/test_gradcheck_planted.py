"""Wrong derivatives of many kinds are planted, and gradcheck or gradgradcheck finds each of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import pytest

import mindtorch as torch
from mindtorch.autograd import gradcheck, gradgradcheck
from mindtorch.autograd.gradcheck import GradcheckError


def made(forward, backward=None, jvp=None, setup=None):
    """A custom function whose derivatives are the given ones: of the saved inputs, then the gradients or tangents."""

    class Planted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)
            if setup:
                setup(ctx)
            output = forward(*inputs)
            if setup is not_differentiable:
                ctx.mark_non_differentiable(output)
            return output

        @staticmethod
        def backward(ctx, *grads):
            return backward(*ctx.saved_tensors, *grads)

    if jvp:
        Planted.jvp = staticmethod(lambda ctx, *tangents: jvp(*ctx.saved_tensors, *tangents))
    return Planted.apply


def not_differentiable(ctx):
    """A `setup` that says that the output does not depend on the input."""


def with_missing_gradients(ctx):
    ctx.set_materialize_grads(False)


def real(*shape):
    return torch.linspace(0.3, 1.7, torch.zeros(shape).numel(), dtype=torch.float64).reshape(shape).requires_grad_()


def complex_(*shape):
    return torch.complex(real(*shape).detach(), real(*shape).detach() * 2 - 1.5).requires_grad_()


_numbers = count(1)


def noisy():
    """Another number at each call."""
    return 1e-9 * next(_numbers)


def first_derivative_only(x, g):
    """Right, but a constant to the second derivative."""
    return g * (2 * x.detach())


def doubled_if_there_is_one(x, g):
    if g is None:
        raise RuntimeError("no gradient")
    return g * 2


def sometimes_none(x, first, second):
    if second is None:
        return first * 2
    return first * 2 + second * 3 if first is not None else second * 4


class WrongInVmap(torch.autograd.Function):
    """Doubles a tensor; of a batch of them, it makes three times as much."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return WrongInVmap.apply(g)

    @staticmethod
    def jvp(ctx, t):
        return WrongInVmap.apply(t)

    @staticmethod
    def vmap(info, in_dims, x):
        return x * 3, in_dims[0]


def looks_at_a_number(x):
    return x * 2 if x.sum().item() > 0 else x * 2


wrong_tangent = made(torch.mul, lambda x, y, g: (g * y, g * x), lambda x, y, s, t: s * y - t * x)

MISMATCH = "Jacobian mismatch"
FORWARD = "Jacobian computed with forward mode mismatch"


@dataclass(frozen=True)
class Plant:
    """A function with a wrong derivative, where it is wrong, and what is said about it."""

    name: str
    function: Callable
    inputs: tuple
    text: str = MISMATCH
    check: Callable = gradcheck
    options: dict = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


ONLY_FORWARD = {"check_forward_ad": True, "check_backward_ad": False}
ONLY_FORWARD_OVER = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False}

PLANTS = [
    Plant("wrong sign", made(torch.cos, lambda x, g: g * x.sin()), (real(3),)),
    Plant("missing factor", made(lambda x: x * x, lambda x, g: g * x), (real(2, 2),)),
    Plant("one percent too much", made(torch.sin, lambda x, g: g * x.cos() * 1.01), (real(3),)),
    Plant(
        "wrong at zero",
        made(torch.tanh, lambda x, g: torch.where(x == 0, 0, g * (1 - x.tanh() ** 2))),
        (torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True),),
    ),
    Plant(
        "not multiplied by the gradient",
        made(lambda x: x * 1, lambda x, g: torch.ones_like(x)),
        (real(),),
        "backward not multiplied by grad_output",
    ),
    Plant(
        "missing conjugate",
        made(lambda z: z * z, lambda z, g: g * 2 * z),
        (complex_(3),),
        "While considering the imaginary part of complex outputs only, Jacobian mismatch",
    ),
    Plant("conjugate too much", made(lambda z: z.conj() * 2, lambda z, g: g * 2), (complex_(2),)),
    Plant("real part only", made(lambda z: (z * z.conj()).real, lambda z, g: 2 * g * z.real + 0j), (complex_(3),)),
    Plant("transposed", made(lambda x: x @ x, lambda x, g: x @ g + g @ x), (real(3, 3),)),
    Plant("not symmetrical", made(lambda x: x.t() * 1, lambda x, g: g.tril().t() + g.tril(-1)), (real(3, 3),)),
    Plant(
        "swapped gradients",
        made(torch.mul, lambda x, y, g: (g * x, g * y)),
        (real(3), (real(3) + 1).detach().requires_grad_()),
    ),
    Plant("a gradient that is missing", made(torch.mul, lambda x, y, g: (g * y, None)), (real(3), real(3))),
    Plant("a mean that is a sum", made(torch.mean, lambda x, g: g.expand(x.shape)), (real(4),)),
    Plant("elements in another order", made(lambda x: x.flip(0), lambda x, g: g), (real(4),)),
    Plant(
        "second output forgotten",
        made(lambda x: (x * 2, x * 3), lambda x, a, b: a * 2),
        (real(3),),
        "Jacobian mismatch for output 1",
    ),
    Plant(
        "an output without gradient",
        made(lambda x: x * 2, setup=not_differentiable),
        (real(3),),
        "Numerical gradient for function expected to be zero",
    ),
    Plant(
        "not determined", made(lambda x: x * 2, lambda x, g: g * (2 + noisy())), (real(3),), "Backward is not reentrant"
    ),
    Plant(
        "fails without a gradient",
        made(lambda x: x * 2, doubled_if_there_is_one, setup=with_missing_gradients),
        (real(3),),
        "Expected backward function to handle undefined output grads",
    ),
    Plant(
        "wrong without a gradient",
        made(lambda x: (x * 2, x * 3), sometimes_none, setup=with_missing_gradients),
        (real(3),),
        "Jacobian mismatch for output 1",
    ),
    Plant(
        "a gradient of nothing",
        made(lambda x: x * 1, lambda x, g: torch.ones_like(x) if g is None else g, setup=with_missing_gradients),
        (real(3),),
        "Expected all input grads to be undefined or zero",
    ),
    Plant(
        "wrong tangent",
        made(lambda x: x * x, lambda x, g: 2 * g * x, lambda x, t: 3 * x * t),
        (real(3),),
        FORWARD,
        options=ONLY_FORWARD,
    ),
    Plant(
        "tangent of the conjugate",
        made(lambda z: z * z, lambda z, g: 2 * g * z.conj(), lambda z, t: 2 * z.conj() * t),
        (complex_(3),),
        "While considering the imaginary part of complex inputs only, " + FORWARD,
        options=ONLY_FORWARD,
    ),
    Plant(
        "tangent of another dtype",
        made(lambda x: x * 2, lambda x, g: g * 2, lambda x, t: t * (2 + 0j)),
        (real(3),),
        "Forward AD gradient has dtype mismatch",
        options={**ONLY_FORWARD, "check_grad_dtypes": True},
    ),
    Plant(
        "a tangent that is missing",
        made(torch.mul, lambda x, y, g: (g * y, g * x), lambda x, y, s, t: s * y),
        (real(3), real(3)),
        FORWARD,
        options=ONLY_FORWARD,
    ),
    Plant(
        "wrong for a missing tangent",
        made(
            torch.mul,
            lambda x, y, g: (g * y, g * x),
            lambda x, y, s, t: (0 if s is None else s * y) + (x if t is None else t * x),
            setup=with_missing_gradients,
        ),
        (real(3), real(3)),
        "Mismatch in tangent values",
        options=ONLY_FORWARD,
    ),
    Plant(
        "wrong second derivative",
        made(
            lambda x: x**3,
            lambda x, g: made(lambda g, x: 3 * g * x * x, lambda g, x, h: (3 * h * x * x, 5 * h * g * x))(g, x),
        ),
        (real(3),),
        check=gradgradcheck,
    ),
    Plant("no second derivative", made(lambda x: x * x, first_derivative_only), (real(3),), check=gradgradcheck),
    Plant(
        "a backward that is wrong in its gradient",
        made(torch.sin, lambda x, g: g.detach() * x.cos()),
        (real(3),),
        check=gradgradcheck,
    ),
    Plant(
        "wrong tangent of a gradient",
        made(lambda x: x * x, lambda x, g: wrong_tangent(g, 2 * x), lambda x, t: 2 * x * t),
        (real(3),),
        FORWARD,
        check=gradgradcheck,
        options=ONLY_FORWARD_OVER,
    ),
    Plant(
        "wrong for a batch of gradients",
        made(lambda x: x * 2, lambda x, g: WrongInVmap.apply(g)),
        (real(3),),
        "For output 0 and input 0:\n\ngradcheck or gradgradcheck failed while testing batched gradient computation.",
        options={"check_batched_grad": True},
    ),
    Plant(
        "fails for a batch of gradients",
        made(lambda x: x * 2, lambda x, g: looks_at_a_number(g)),
        (real(3),),
        "While computing batched gradients, got: ",
        options={"check_batched_grad": True},
    ),
    Plant(
        "wrong for a batch of second gradients",
        made(lambda x: x * 2, lambda x, g: WrongInVmap.apply(g)),
        (real(3),),
        "failed while testing batched gradient computation",
        check=gradgradcheck,
        options={"check_batched_grad": True},
    ),
    Plant(
        "wrong for a batch of tangents",
        WrongInVmap.apply,
        (real(3),),
        "For output 0 and input 0:\n\n\n"
        "gradcheck failed while testing batched gradient computation with forward-mode AD",
        options={**ONLY_FORWARD, "check_batched_forward_grad": True},
    ),
    Plant(
        "fails for a batch of tangents",
        made(lambda x: x * 2, lambda x, g: g * 2, lambda x, t: looks_at_a_number(t)),
        (real(3),),
        "While computing batched gradients, got: ",
        options={**ONLY_FORWARD, "check_batched_forward_grad": True},
    ),
]


@pytest.mark.filterwarnings("ignore:Backwards compatibility")
@pytest.mark.parametrize("fast_mode", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_planted_error_is_found(plant, fast_mode):
    with pytest.raises(GradcheckError, match=plant.text):
        plant.check(plant.function, plant.inputs, fast_mode=fast_mode, **plant.options)
    assert not plant.check(plant.function, plant.inputs, fast_mode=fast_mode, raise_exception=False, **plant.options)


def test_there_are_twenty_of_them():
    assert len({plant.name for plant in PLANTS}) >= 20
