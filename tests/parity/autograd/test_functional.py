"""`torch.autograd.functional` and `gradcheck` give the same results and refuse the same things as in PyTorch."""

import pytest

from tests.parity.support.programs import assert_same, sample


def x2(T):
    return sample(T, 2, requires_grad=False)


def pair(T):
    return sample(T, 2, requires_grad=False), sample(T, 3, requires_grad=False)


def two(T):
    return sample(T, 2), sample(T, 2, seed=1)


def ones(T, *sizes):
    return tuple(T.ones(size) for size in sizes)


def vector(x):
    return (x * x).exp()


def cubes(x):
    return (x * x * x).sum()


def product(x, y):
    return (x * x).sum() * (y * y * y).sum()


def mixed(x, y):
    return (x * x).sum() * y, x * y[0]


def linear(x):
    return x * 2


def first_only(x, y):
    return x * x


CALLS = {
    "jacobian": [
        (vector, x2, {}),
        (mixed, pair, {}),
        (product, pair, {}),
        (mixed, pair, {"vectorize": True}),
        (vector, lambda T: sample(T, 2, 2), {"create_graph": True}),
        (first_only, two, {}),
        (first_only, two, {"strict": True}),
        (linear, x2, {"strict": True, "create_graph": True}),
        (lambda x: x.detach(), x2, {"strict": True}),
        (vector, x2, {"strategy": "unknown"}),
        (vector, x2, {"strategy": "forward-mode"}),
        (vector, x2, {"strategy": "forward-mode", "vectorize": True}),
        (lambda x, y: (x * y, x.sum()), two, {"strategy": "forward-mode", "vectorize": True}),
        (vector, x2, {"strategy": "forward-mode", "strict": True}),
        (vector, x2, {"strategy": "forward-mode", "create_graph": True}),
        (vector, x2, {"strict": True, "vectorize": True}),
        (vector, lambda T: 3, {}),
        (vector, lambda T: (3,), {}),
        (lambda x: 3, x2, {}),
    ],
    "hessian": [
        (cubes, x2, {}),
        (product, pair, {}),
        (cubes, lambda T: sample(T, 2), {"create_graph": True}),
        (lambda x: x.sum(), x2, {}),
        (lambda x: x.sum(), x2, {"strict": True}),
        (vector, x2, {}),
        (lambda x: (x.sum(),), x2, {}),
        (cubes, x2, {"outer_jacobian_strategy": "unknown"}),
    ],
    "vjp": [
        (vector, x2, {"v": lambda T: T.ones(2)}),
        (product, pair, {}),
        (mixed, pair, {"v": lambda T: ones(T, 3)}),
        (mixed, lambda T: two(T), {"v": lambda T: ones(T, 2, 2)}),
        (vector, x2, {}),
        (vector, x2, {"v": lambda T: T.ones(3)}),
        (vector, x2, {"v": lambda T: ones(T, 2, 2)}),
        (vector, x2, {"v": lambda T: 3}),
        (vector, lambda T: sample(T, 2), {"v": lambda T: sample(T, 2, seed=1), "create_graph": True}),
        (first_only, two, {"v": lambda T: T.ones(2), "strict": True}),
        (linear, x2, {"v": lambda T: T.ones(2), "strict": True, "create_graph": True}),
    ],
    "jvp": [
        (vector, x2, {"v": lambda T: T.ones(2)}),
        (lambda x, y: (x * y, x + y), two, {"v": lambda T: ones(T, 2, 2)}),
        (vector, x2, {}),
        (vector, lambda T: sample(T, 1), {}),
        (linear, x2, {"v": lambda T: T.ones(2)}),
        (linear, x2, {"v": lambda T: T.ones(2), "strict": True}),
        (first_only, two, {"v": lambda T: ones(T, 2, 2)}),
        (first_only, two, {"v": lambda T: ones(T, 2, 2), "strict": True}),
        (vector, lambda T: sample(T, 2), {"v": lambda T: sample(T, 2, seed=1), "create_graph": True}),
    ],
    "vhp": [
        (cubes, x2, {"v": lambda T: T.ones(2)}),
        (product, pair, {"v": lambda T: ones(T, 2, 3)}),
        (vector, x2, {"v": lambda T: T.ones(2)}),
        (cubes, x2, {}),
        (lambda x: x.sum(), x2, {"v": lambda T: T.ones(2)}),
        (lambda x: x.sum(), x2, {"v": lambda T: T.ones(2), "strict": True}),
    ],
    "hvp": [
        (cubes, x2, {"v": lambda T: T.ones(2)}),
        (product, pair, {"v": lambda T: ones(T, 2, 3)}),
        (lambda x: (x, x), x2, {"v": lambda T: T.ones(2)}),
        (lambda x: x.sum(), x2, {"v": lambda T: T.ones(2)}),
        (lambda x: x.sum(), x2, {"v": lambda T: T.ones(2), "strict": True}),
        (lambda x: (x * x).sum(), x2, {"v": lambda T: T.ones(2), "strict": True}),
    ],
}


@pytest.mark.parametrize(
    ("name", "function", "inputs", "options"),
    [
        pytest.param(name, *call, id=f"{name}{number}")
        for name, calls in CALLS.items()
        for number, call in enumerate(calls)
    ],
)
def test_functional(name, function, inputs, options):
    def run(T):
        given = {key: value(T) if callable(value) else value for key, value in options.items()}
        return getattr(T.autograd.functional, name)(function, inputs(T), **given)

    assert_same(run)


# -------------------- gradcheck --------------------


def real(T, *shape):
    return sample(T, *shape, requires_grad=False).to(T.float64).requires_grad_()


def complex_(T, *shape):
    return (sample(T, *shape, requires_grad=False).to(T.float64) * (1 + 2j)).detach().requires_grad_()


def with_wrong_gradient(T, x):
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] * 2.1

    return Wrong.apply(x)


CHECKED = {
    "broadcast": (lambda T, x, y: x * y.exp(), lambda T: (real(T, 2, 3), real(T, 3)), {}),
    "complex": (lambda T, x: (x * x.conj(), x * 2j), lambda T: (complex_(T, 2),), {}),
    "complex parts": (lambda T, x: x.real * x.imag, lambda T: (complex_(T, 2),), {}),
    "several outputs": (lambda T, x: x.unbind(), lambda T: (real(T, 3, 2),), {}),
    "largest": (lambda T, x: x.max(0)[0], lambda T: (real(T, 3, 2),), {}),
    "number": (lambda T, x, n: x * n, lambda T: (real(T, 3), 2), {}),
    "empty": (lambda T, x: x.sum(), lambda T: (real(T, 0),), {}),
    "forward": (lambda T, x: x * x, lambda T: (real(T, 3),), {"check_forward_ad": True}),
    "wrong": (with_wrong_gradient, lambda T: (real(T, 2),), {"raise_exception": False}),
    "single precision": (lambda T, x: x * 2, lambda T: (sample(T, 2),), {"eps": 1e-2, "atol": 1e-2}),
    "no input": (lambda T, x: x * 2, lambda T: (T.ones(2),), {}),
    "expanded": (lambda T, x: x * 2, lambda T: (T.ones(1).expand(3).requires_grad_(),), {}),
    "nothing to check": (lambda T, x: x * 2, lambda T: (real(T, 3),), {"check_backward_ad": False}),
}


@pytest.mark.parametrize("name", CHECKED)
def test_gradcheck(name):
    function, inputs, options = CHECKED[name]
    assert_same(lambda T: T.autograd.gradcheck(lambda *args: function(T, *args), inputs(T), **options))


@pytest.mark.parametrize("name", ["broadcast", "complex"])
def test_gradgradcheck(name):
    function, inputs, _ = CHECKED[name]
    assert_same(lambda T: T.autograd.gradgradcheck(lambda *args: function(T, *args), inputs(T)))
