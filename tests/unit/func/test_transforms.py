"""Transforms of functions: derivatives agree however they are taken, and nothing stays behind."""

import gc
import itertools
import weakref

import pytest

import mindtorch as torch
from mindtorch import func
from mindtorch._core import state
from mindtorch.autograd import functional

F = torch.nn.functional


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


WEIGHT = numbers(0.5, -1.0, 2.0, 0.3, 0.7, -0.2, 1.1, 0.4, -0.6).view(3, 3)

SCALAR_FUNCTIONS = {
    "cubic": lambda x: (x**3).sum(),
    "product": lambda x: x.prod() * x.sum(),
    "trigonometric": lambda x: (x.sin() * x.cos() * torch.exp(x)).sum(),
    "tanh of a matrix product": lambda x: torch.tanh(WEIGHT @ x).sum(),
    "log-sum-exp": lambda x: torch.logsumexp(WEIGHT @ x, 0),
    "softmax": lambda x: (F.softmax(x, 0) * numbers(1, 2, 3)).sum(),
    "rational": lambda x: (x / (1 + x * x)).sum(),
    "norm": lambda x: (WEIGHT @ x).norm(),
    "square root": lambda x: torch.sqrt(1 + (x * x).sum()),
    "indexing": lambda x: x[0] * x[1:].prod() + x[torch.tensor([0, 2])].exp().sum(),
    "in place": lambda x: (x * 2).mul_(x).sin_().sum(),
    "written view": lambda x: torch.zeros(4, dtype=x.dtype).index_copy(0, torch.tensor([1, 2, 3]), x * x).pow(2).sum(),
    "layer norm": lambda x: (F.layer_norm(x * x, (3,)) * numbers(1, -2, 0.5)).sum(),
    "group norm": lambda x: (F.group_norm((x * x).view(1, 3, 1), 1).view(3) * numbers(1, -2, 0.5)).pow(3).sum(),
    "batch norm": lambda x: F.batch_norm((x * x).view(3, 1), None, None, x[:1], x[1:2], training=True).pow(3).sum(),
    "convolution": lambda x: F.conv1d((x * x).view(1, 1, 3), numbers(1, -2).view(1, 1, 2)).pow(3).sum(),
    "cross entropy": lambda x: F.cross_entropy((x * x).view(1, 3), torch.tensor([1])),
}


def double_backward(f, x, v):
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(gradient, x, v)[0]


def dual_numbers_over_backward(f, x, v):
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.clone().requires_grad_(), v)
        (gradient,) = torch.autograd.grad(f(dual), dual, create_graph=True)
        return forward_ad.unpack_dual(gradient).tangent.detach()


HESSIAN_VECTOR_PRODUCTS = {
    "double backward": double_backward,
    "forward over reverse": lambda f, x, v: func.jvp(func.grad(f), (x,), (v,))[1],
    "reverse over forward": lambda f, x, v: func.grad(lambda x: func.jvp(f, (x,), (v,))[1])(x),
    "reverse over reverse": lambda f, x, v: func.vjp(func.grad(f), x)[1](v)[0],
    "gradient of a slope": lambda f, x, v: func.grad(lambda x: func.grad(f)(x) @ v)(x),
    "hvp": lambda f, x, v: functional.hvp(f, x, v)[1],
    "vhp": lambda f, x, v: functional.vhp(f, x, v)[1],
    "dual numbers": dual_numbers_over_backward,
    "matrix": lambda f, x, v: func.hessian(f)(x) @ v,
    "matrix by jacrev": lambda f, x, v: func.jacrev(func.jacrev(f))(x) @ v,
    "matrix by jacfwd": lambda f, x, v: func.jacfwd(func.jacfwd(f))(x) @ v,
    "functional.hessian": lambda f, x, v: functional.hessian(f, x) @ v,
    "vectorized": lambda f, x, v: functional.hessian(f, x, vectorize=True) @ v,
}


def by_differences(f, x, v, step=1e-5):
    return (func.grad(f)(x + step * v) - func.grad(f)(x - step * v)) / (2 * step)


@pytest.mark.parametrize(("name", "way"), list(itertools.product(SCALAR_FUNCTIONS, HESSIAN_VECTOR_PRODUCTS)))
def test_hessian_vector_products_agree(name, way):
    x, v = numbers(0.4, -0.9, 1.3), numbers(1.0, 0.5, -2.0)
    f = SCALAR_FUNCTIONS[name]
    found = HESSIAN_VECTOR_PRODUCTS[way](f, x, v)
    assert torch.allclose(found, by_differences(f, x, v), atol=1e-7), (found, by_differences(f, x, v))
    assert not found.requires_grad


ORDER_THREE = {
    "x^5": (lambda x: x**5, lambda x: 60 * x**2),
    "exp": (torch.exp, torch.exp),
    "sin": (torch.sin, lambda x: -x.cos()),
    "cos": (torch.cos, torch.sin),
    "log": (torch.log, lambda x: 2 / x**3),
    "sqrt": (torch.sqrt, lambda x: 3 / 8 * x**-2.5),
    "reciprocal": (torch.reciprocal, lambda x: -6 / x**4),
    "tanh": (torch.tanh, lambda x: (1 - x.tanh() ** 2) * (6 * x.tanh() ** 2 - 2)),
    "x sin": (lambda x: x * x.sin(), lambda x: -3 * x.sin() - x * x.cos()),
}


def reverse(f):
    return func.grad(lambda x: f(x).sum())


def forward(f):
    return lambda x: func.jvp(f, (x,), (torch.ones_like(x),))[1]


@pytest.mark.parametrize("order", ["rrr", "rrf", "rfr", "frr", "rff", "frf", "ffr", "fff"])
@pytest.mark.parametrize("name", ORDER_THREE)
def test_third_derivatives(name, order):
    f, expected = ORDER_THREE[name]
    x = numbers(0.4, 0.9, 1.3)
    for mode in order:
        f = reverse(f) if mode == "r" else forward(f)
    assert torch.allclose(f(x), expected(x))


class TestLevels:
    def test_a_graph_dies_with_its_level(self):
        kept = []

        def f(x):
            y = x.exp()
            kept.append(weakref.ref(y.grad_fn))
            return y.sum()

        result = func.grad(f)(numbers(1, 2))
        gc.collect()
        assert kept[0]() is None and result.grad_fn is None

    def test_nothing_is_recorded_that_cannot_be_asked_for(self):
        modes = []

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(x):
                return x * x

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, grad):
                modes.append(torch.is_grad_enabled())
                return 2 * grad * ctx.saved_tensors[0]

        def f(x):
            return Square.apply(x).sum()

        func.grad(f)(numbers(1, 2))
        func.grad(lambda x: func.grad(f)(x).sum())(numbers(1, 2))
        assert modes[:2] == [False, True]

    def test_hooks_see_that_a_pass_is_recorded(self):
        seen = []

        def f(x):
            (x * x).register_hook(lambda grad: None)
            y = x * 2
            y.grad_fn.register_hook(lambda inputs, outputs: seen.append(torch.is_grad_enabled()))
            return (y * y).sum()

        func.grad(f)(numbers(1, 2))
        assert seen == [True]

    def test_leaves_outside_get_no_gradient_by_the_way(self):
        w = numbers(1, 2).requires_grad_()
        func.grad(lambda x: (x * w).sum())(numbers(3, 4))
        assert w.grad is None

    @pytest.mark.parametrize("transform", [func.grad, func.vmap, lambda f: lambda x: func.jvp(f, (x,), (x,))])
    @pytest.mark.usefixtures("settled")
    def test_an_error_leaves_nothing_switched_on(self, transform):
        before = state.active_modes

        def f(x):
            raise KeyError("on purpose")

        with pytest.raises(KeyError):
            transform(f)(numbers(1, 2))
        gc.collect()
        thread = state.thread
        assert (state.active_modes, thread.transforms, thread.own_tensors, thread.dual_level) == (before, 0, None, -1)
        assert torch.is_grad_enabled()

    def test_what_a_function_made_may_be_written_when_it_is_over(self):
        made = []

        def f(x):
            made.append(torch.zeros(2, dtype=torch.float64))
            return x.sum()

        func.grad(f)(numbers(1, 2))
        assert made[0].add_(1).tolist() == [1, 1]

    def test_a_vjp_outlives_its_level(self):
        _, products = func.vjp(torch.sin, numbers(0, 0))
        assert products(numbers(2, 3))[0].tolist() == [2, 3]
        assert func.grad(lambda v: products(v)[0].sum())(numbers(2, 3)).tolist() == [1, 1]

    def test_debug_unwrap(self):
        seen = []

        def f(x):
            seen.append((func.debug_unwrap(x).shape, func.debug_unwrap(x).requires_grad))
            return x.sum()

        x = torch.ones(4, 2)
        assert func.debug_unwrap(x) is x
        func.grad(f)(x)
        func.vmap(f)(x)
        assert seen == [((4, 2), False), ((4, 2), False)]
