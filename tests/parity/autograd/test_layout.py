"""Gradients are stored with the strides that PyTorch gives them: the gradient layout contract."""

import warnings

import pytest
import torch

import mindtorch
from tests.parity.support.programs import assert_same, outcome, programs, sample

program, test_program = programs()

# How a leaf can lie in memory.
LEAVES = {
    "rows": lambda T: sample(T, 2, 3, 4, 5, requires_grad=False),
    "permuted": lambda T: sample(T, 2, 3, 4, 5, requires_grad=False).permute(3, 1, 0, 2),
    "transposed": lambda T: sample(T, 4, 3, requires_grad=False).t(),
    "channels_last": lambda T: sample(T, 2, 3, 4, 5, requires_grad=False).contiguous(memory_format=T.channels_last),
    "sliced": lambda T: sample(T, 4, 6, requires_grad=False)[:, ::2],
    "narrowed": lambda T: sample(T, 4, 6, requires_grad=False)[:, 1:4],
    "expanded": lambda T: sample(T, 1, 3, requires_grad=False).expand(4, 3),
    "expanded once": lambda T: sample(T, 1, 3, requires_grad=False).expand(1, 3),
    "size 1": lambda T: sample(T, 3, 1, 2, requires_grad=False),
    "size 1, other stride": lambda T: sample(T, 6, requires_grad=False).as_strided((3, 1, 2), (2, 7, 1)),
    "size 1, stride 0": lambda T: sample(T, 6, requires_grad=False).as_strided((3, 1, 2), (2, 0, 1)),
    "overlapping": lambda T: sample(T, 6, requires_grad=False).as_strided((3, 2), (1, 1)),
    "scalar": lambda T: sample(T, 1, requires_grad=False)[0],
    "empty": lambda T: sample(T, 0, 3, requires_grad=False),
    "one row of a column": lambda T: sample(T, 3, 4, requires_grad=False)[:, :1],
}


def backwards(tensor):
    return tuple(reversed(range(tensor.ndim)))


# How the gradient that comes lies in memory, given a contiguous one.
GRADIENTS = {
    "as it is": lambda T, g: g,
    "like rows": lambda T, g: g.contiguous(),
    "reversed": lambda T, g: g.permute(backwards(g)).contiguous().permute(backwards(g)),
    "expanded": lambda T, g: g.sum().expand(g.shape) if g.numel() else g,
    "sliced": lambda T, g: T.stack([g, g], -1)[..., 0],
}


def leaf(T, name):
    return LEAVES[name](T).detach().requires_grad_()


def gradient(T, x, name):
    return GRADIENTS[name](T, T.arange(float(x.numel())).reshape(x.shape))


@pytest.mark.parametrize("incoming", GRADIENTS)
@pytest.mark.parametrize("name", LEAVES)
def test_first_gradient(name, incoming):
    def run(T):
        x = leaf(T, name)
        given = gradient(T, x, incoming)
        x.backward(given)
        return x.grad, x.grad is given, x.grad.data_ptr() == given.data_ptr()

    assert_same(run)


@pytest.mark.parametrize("incoming", GRADIENTS)
@pytest.mark.parametrize("name", LEAVES)
def test_gradient_through_a_view(name, incoming):
    def run(T):
        x = leaf(T, name)
        (x.clone() * 1).backward(gradient(T, x, incoming))
        first = x.grad
        (x * 2).backward(gradient(T, x, incoming))
        return first, x.grad, first is x.grad

    own, expected = (outcome(run, T)[0] for T in (mindtorch, torch))  # torch warns of a stride of 0 in a size of 1
    assert own == expected


@pytest.mark.parametrize("incoming", GRADIENTS)
@pytest.mark.parametrize("name", LEAVES)
def test_recorded_pass(name, incoming):
    def run(T):
        x = leaf(T, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the cycle, once in a process
            (x * x).backward(gradient(T, x, incoming), create_graph=True)
            first = x.grad
            (x * x).backward(gradient(T, x, incoming), create_graph=True)
        names = [each.grad_fn.name() for each in (first, x.grad)]
        return first, x.grad, first is x.grad, names, T.autograd.grad(first.sum(), x)

    assert_same(run)


@pytest.mark.parametrize("name", LEAVES)
def test_sum_of_uses(name):
    def run(T):
        x = leaf(T, name)
        (x.exp() + x.sin() * x).sum().backward()
        return x.grad

    assert_same(run)


@pytest.mark.parametrize("name", LEAVES)
def test_gradients_of_other_memory(name):
    def run(T):
        x = leaf(T, name)
        x.grad = gradient(T, x, "reversed")
        given = x.grad
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the layout, once in a process
            (x * 2).sum().backward()
        return x.grad, x.grad is given

    assert_same(run)


@pytest.mark.parametrize("name", [name for name in LEAVES if name != "size 1, other stride"])
def test_captured_gradients(name):
    def run(T):
        x = leaf(T, name)
        return T.autograd.grad((x * x).sum(), x), T.autograd.grad(x.exp(), x, gradient(T, x, "reversed"))

    assert_same(run)


@program
def a_layout_that_changes(T):
    x = sample(T, 3, 4)
    x.sum().backward()
    x.data = x.data.t().contiguous().t()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the layout, once in a process
        x.sum().backward()
    first = x.grad
    x.grad = None
    (x * x).sum().backward()
    return first, x.grad


@program
def channels_last_parameters(T):
    T.manual_seed(0)
    conv = T.nn.Conv2d(3, 4, 3).to(memory_format=T.channels_last)
    x = sample(T, 2, 3, 6, 6).contiguous(memory_format=T.channels_last).detach().requires_grad_()
    conv(x).sum().backward()
    first = conv.weight.grad
    conv(x).sum().backward()
    return first, conv.weight.grad, conv.bias.grad, x.grad


def sparse(T):
    """A Function whose gradient is sparse."""

    class Sparse(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return (grad * 2).to_sparse()

    return Sparse


@program
def sparse_gradients(T):
    x = sample(T, 2, 3)
    sparse(T).apply(x).sum().backward()
    first = x.grad.is_sparse, x.grad.to_dense()
    sparse(T).apply(x).sum().backward()
    return first, x.grad.is_sparse, x.grad.to_dense()


@program
def dense_onto_sparse(T):
    x = sample(T, 2, 3)
    sparse(T).apply(x).sum().backward()
    (x * 2).sum().backward()
    return x.grad.is_sparse, x.grad


@program
def sparse_onto_dense(T):
    x = sample(T, 2, 3)
    (x * 2).sum().backward()
    dense = x.grad
    sparse(T).apply(x).sum().backward()
    return x.grad, dense is x.grad


@program
def gradients_are_taken_over_or_copied(T):
    x, seen = sample(T, 3), []
    y = x * 1
    y.register_hook(lambda grad: seen.append(grad))
    y.sum().backward()
    z = sample(T, 3)
    given = T.ones(3)
    z.backward(given)
    return x.grad.data_ptr() == seen[0].data_ptr(), z.grad.data_ptr() == given.data_ptr(), z.grad._version


# -------------------- what formulas give --------------------


def _square(T):
    return (sample(T, 5, 5, requires_grad=False) + 5 * T.eye(5)).double().requires_grad_()


def _pinv(T, *shape):
    x = (sample(T, *shape, requires_grad=False) + T.eye(*shape)).double().requires_grad_()
    return T.linalg.pinv(x), (x,)


def _solve(T, *shape):
    matrix = (sample(T, 2, 5, 5, requires_grad=False) + 5 * T.eye(5)).double().requires_grad_()
    right = sample(T, *shape, requires_grad=False).double().requires_grad_()
    return T.linalg.solve(matrix, right), (matrix, right)


def _lstsq(T, place):
    matrix = (sample(T, 5, 3, requires_grad=False) + T.eye(5, 3)).double().requires_grad_()
    right = sample(T, 5, 2, requires_grad=False).double().requires_grad_()
    return T.linalg.lstsq(matrix, right)[place], (matrix, right)


def _product_with_a_zero(T):
    x = sample(T, 3, 4, 5, requires_grad=False) + 1
    x[1, 2, 3] = 0
    x.requires_grad_()
    return x.prod(1), (x,)


def _reflected(T, left):
    x = sample(T, 5, 5, requires_grad=False).double().requires_grad_()
    vectors, factors = T.geqrf(_square(T).detach())
    return T.ormqr(vectors, factors, x, left=left), (x,)


def _transformed(T, n):
    x = sample(T, 5, 6, 7, requires_grad=False).double().requires_grad_()
    result = T.fft.rfft(x, n=n, dim=1)
    return T.view_as_real(result), (x,)


def _cut(T):
    x = sample(T, 3, 4, requires_grad=False).t().detach().requires_grad_()
    return T.nn.functional.pad(x, (-1, -1)), (x,)


FORMULAS = {
    "pinv of a tall matrix": lambda T: _pinv(T, 5, 3),
    "pinv of a wide matrix": lambda T: _pinv(T, 3, 5),
    "solve for vectors": lambda T: _solve(T, 2, 5),
    "solve for matrices": lambda T: _solve(T, 2, 5, 3),
    "lstsq": lambda T: _lstsq(T, 0),
    "what lstsq leaves": lambda T: _lstsq(T, 1),
    "prod with a zero": _product_with_a_zero,
    "ormqr from the left": lambda T: _reflected(T, True),
    "ormqr from the right": lambda T: _reflected(T, False),
    "rfft of more points": lambda T: _transformed(T, 10),
    "rfft of fewer points": lambda T: _transformed(T, 4),
    "negative padding": _cut,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name):
    """The strides of a result and of the gradients of what it is made of."""

    def run(T):
        result, leaves = FORMULAS[name](T)
        gradients = T.autograd.grad(result, leaves, T.ones_like(result, memory_format=T.contiguous_format))
        return [result.stride(), [each.stride() for each in gradients], [each.round(decimals=5) for each in gradients]]

    assert_same(run)
