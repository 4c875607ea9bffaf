"""`vmap` of everyday functions gives what it gives in torch: values, dtypes, shapes and error texts."""

import warnings

import numpy as np
import pytest

from tests.parity.support.inputs import ramp
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same

# Of rows of a 2 x 3 matrix, in library T.
CALLS = {
    "expand": lambda T, x: T.vmap(lambda v: v.expand(2, 3))(x),
    "repeat": lambda T, x: T.vmap(lambda v: v.repeat(2, 2))(x),
    "view": lambda T, x: T.vmap(lambda v: v.view(3, 1).squeeze(-1).unsqueeze(0).flatten())(x),
    "splt": lambda T, x: T.vmap(lambda v: v.split(2))(x),
    "chunk": lambda T, x: T.vmap(lambda v: v.chunk(2))(x),
    "unbind": lambda T, x: T.vmap(lambda v: v.unbind())(x),
    "t": lambda T, x: T.vmap(lambda v: v.t())(x),
    "T": lambda T, x: T.vmap(lambda v: v.T)(x.reshape(1, 2, 3)),
    "mT": lambda T, x: T.vmap(lambda v: v.mT)(x.reshape(1, 2, 3)),
    "movedim": lambda T, x: T.vmap(lambda v: v.movedim(0, 1))(x.reshape(1, 2, 3)),
    "conj": lambda T, x: T.vmap(lambda v: (v * 1j).conj())(x),
    "real": lambda T, x: T.vmap(lambda v: (v * 1j).imag)(x),
    "fft": lambda T, x: T.vmap(lambda v: T.fft.fft(v).abs())(x),
    "rfft": lambda T, x: T.vmap(lambda v: T.fft.rfft(v).abs(), in_dims=1)(x),
    "cumprod": lambda T, x: T.vmap(lambda v: v.cumsum(0).sum())(x),
    "vmap B1": lambda T, x: T.vmap(lambda v: v.squeeze())(x.reshape(1, 1, 6)),
    "std": lambda T, x: T.vmap(lambda v: (v.std(), v.var(0), v.mean()))(x),
    "any": lambda T, x: T.vmap(lambda v: ((v > 1).any(), (v > 1).all(), v.prod(), v.amax()))(x),
    "tril": lambda T, x: T.vmap(lambda v: T.outer(v, v).tril())(x),
    "diag": lambda T, x: T.vmap(lambda v: T.diag(v))(x),
    "trace": lambda T, x: T.vmap(lambda v: T.outer(v, v).diagonal().sum())(x),
    "gather": lambda T, x: T.vmap(lambda v, i: v.gather(0, i))(x, T.tensor([[0, 1], [2, 2]])),
    "scatter": lambda T, x: T.vmap(lambda v, i: v.scatter(0, i, 9.0))(x, T.tensor([[0, 1], [2, 2]])),
    "embedding": lambda T, x: T.vmap(lambda w, i: T.nn.functional.embedding(i, w))(
        T.arange(12.0).reshape(2, 3, 2), T.tensor([[0, 1], [2, 2]])
    ),
    "embedding u": lambda T, x: T.vmap(lambda i: T.nn.functional.embedding(i, x))(T.tensor([[0, 1], [1, 1]])),
    "one_hot": lambda T, x: T.vmap(lambda i: T.nn.functional.one_hot(i, 4))(T.tensor([[0, 1], [1, 1]])),
    "ce": lambda T, x: T.vmap(lambda v, y: T.nn.functional.cross_entropy(v, y))(x, T.tensor([0, 2])),
    "mse": lambda T, x: T.vmap(lambda v, y: T.nn.functional.mse_loss(v, y))(x, x * 2),
    "bce": lambda T, x: T.vmap(lambda v, y: T.nn.functional.binary_cross_entropy_with_logits(v, y))(x, x * 0 + 1),
    "matmul bc": lambda T, x: T.vmap(lambda a: a @ a.mT)(x.reshape(2, 1, 3)),
    "linear": lambda T, x: T.vmap(lambda a: T.nn.functional.linear(a, T.ones(2, 3), T.ones(2)))(x),
    "linear b": lambda T, x: T.vmap(lambda a, w, b: T.nn.functional.linear(a, w, b), (None, 0, 0))(
        x, T.arange(12.0).reshape(2, 2, 3), T.ones(2, 2)
    ),
    "bmm": lambda T, x: T.vmap(lambda a: T.bmm(a, a))(T.arange(8.0).reshape(2, 1, 2, 2)),
    "jac": lambda T, x: T.vmap(T.func.jacrev(lambda v: v**2))(x),
    "jacf": lambda T, x: T.vmap(T.func.jacfwd(lambda v: v**2))(x),
    "hess": lambda T, x: T.vmap(T.func.hessian(lambda v: (v**3).sum()))(x),
    "gradgrad": lambda T, x: T.vmap(T.vmap(T.func.grad(T.func.grad(lambda v: v**3))))(x),
    "grad through": lambda T, x: T.func.grad(lambda w: T.vmap(lambda v: (w * v).sum())(x).sum())(T.ones(3)),
    "jac through": lambda T, x: T.func.jacrev(lambda w: T.vmap(lambda v: (w * v).sum())(x))(T.ones(3)),
    "jacf through": lambda T, x: T.func.jacfwd(lambda w: T.vmap(lambda v: (w * v).sum())(x))(T.ones(3)),
    "hess through": lambda T, x: T.func.hessian(lambda w: T.vmap(lambda v: (w * v).sum() ** 2)(x).sum())(T.ones(3)),
    "vjp in": lambda T, x: T.vmap(lambda v: T.func.vjp(lambda u: u * u, v)[1](v))(x),
    "grad cap": lambda T, x: T.vmap(lambda v: T.func.grad(lambda u: (u * v).sum())(T.ones(3)))(x),
    "dtype": lambda T, x: T.vmap(lambda v: v.double().int())(x),
    "clamp": lambda T, x: T.vmap(lambda v: v.clamp(1, 4))(x),
    "lerp": lambda T, x: T.vmap(lambda v: T.lerp(v, v + 1, v[0]))(x),
    "addcmul": lambda T, x: T.vmap(lambda v: T.addcmul(v, v, v, value=2))(x),
    "0dim ops": lambda T, x: T.vmap(T.vmap(lambda v: v.sum(0) + v.max() + v.reshape(1)[0] + v.unsqueeze(0).sum()))(x),
    "0dim soft": lambda T, x: T.vmap(T.vmap(lambda v: v.softmax(0)))(x),
    "0dim sort": lambda T, x: T.vmap(T.vmap(lambda v: v.sort()))(x),
    "meshgrid": lambda T, x: T.vmap(lambda v: T.meshgrid(v, v, indexing="ij"))(x),
    "where": lambda T, x: T.vmap(lambda v: T.where(v > 1, 1.0, v))(x),
    "roll": lambda T, x: T.vmap(lambda v: v.roll(1))(x),
    "flip": lambda T, x: T.vmap(lambda v: v.flip(0))(x),
    "topk": lambda T, x: T.vmap(lambda v: v.topk(2))(x),
    "pad": lambda T, x: T.vmap(lambda v: T.nn.functional.pad(v, (1, 1)))(x),
    "unfold": lambda T, x: T.vmap(lambda v: v.unfold(0, 2, 1))(x),
    "logsumexp": lambda T, x: T.vmap(lambda v: v.logsumexp(0))(x),
    "tensor_split": lambda T, x: T.vmap(lambda v: v.tensor_split(2))(x),
    "rnn": lambda T, x: T.vmap(lambda v: sum(T.tanh(v * k) for k in range(3)))(x),
    "einsum": lambda T, x: T.vmap(lambda a: T.einsum("i,ij->j", a, T.ones(3, 2)))(x),
    "einsum3": lambda T, x: T.vmap(lambda a: T.einsum("ij,jk->ik", a, a.mT))(x.reshape(2, 1, 3)),
    "tensordot": lambda T, x: T.vmap(lambda a: T.tensordot(a, T.ones(3, 2), 1))(x),
    "eq": lambda T, x: T.vmap(lambda v: v == x[0])(x),
    "detach": lambda T, x: T.vmap(lambda v: v.detach() * 2)(x),
    "no_grad": lambda T, x: T.vmap(T.no_grad()(lambda v: v * 2))(x.clone().requires_grad_()),
    "inplace chain": lambda T, x: T.vmap(lambda v: v.clone().add_(1).mul_(v).sub_(v[0]).div_(2))(x),
    "zero_": lambda T, x: T.vmap(lambda v: v.clone().zero_() + v)(x),
    "fill_": lambda T, x: T.vmap(lambda v: v.clone().fill_(v[1]))(x),
    "masked_fill_": lambda T, x: T.vmap(lambda v: v.clone().masked_fill_(v > 1, -1.0))(x),
    "copy_ bc": lambda T, x: T.vmap(lambda v: v.clone().copy_(v[0]))(x),
    "copy_ u": lambda T, x: T.vmap(lambda v: v.clone().copy_(T.ones(3)))(x),
    "resize": lambda T, x: T.vmap(lambda v: v.clone().unsqueeze_(0))(x),
    "t_": lambda T, x: T.vmap(lambda v: v.clone().transpose_(0, 1))(x.reshape(1, 2, 3)),
    "len": lambda T, x: T.vmap(lambda v: v * len(v))(x),
    "grad_fn": lambda T, x: T.vmap(lambda v: v * 2)(x.clone().requires_grad_()).requires_grad,
    "new_full": lambda T, x: T.vmap(lambda v: v.new_full((2,), 3.0) + v[:2])(x),
    "empty_like": lambda T, x: T.vmap(lambda v: T.empty_like(v).fill_(2.0) * v)(x),
    "ones_like dim": lambda T, x: T.vmap(lambda v: T.ones_like(v), in_dims=1)(x),
    "tensor()": lambda T, x: T.vmap(lambda v: v * T.tensor([1.0, 2.0, 3.0]))(x),
    "where1": lambda T, x: T.vmap(lambda v: T.where(v > 1))(x),
}


def plain(T, value):
    """A result without its strides and history, which are not compared here."""
    if isinstance(value, (list, tuple)):
        return [plain(T, each) for each in value]
    return value.detach().contiguous() if isinstance(value, T.Tensor) else value


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.filterwarnings("ignore")
def test_call(call):
    assert_same(lambda T: plain(T, tried(call, T, T.arange(6.0).reshape(2, 3))))


# -------------------- places and sizes that tensors tell --------------------


def silently(function):
    """Without the warnings that tell which ops torch runs for one sample after the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


def signals(T, spectra, windows):
    """The inverse transform of spectra, whose sum of windows it looks at."""
    return T.istft(spectra, 4, 2, 4, windows)


def losses(T, *batched):
    """The losses of three sequences: `batched` names the arguments that there are several of."""
    given = {
        "log_probs": ramp(T, -1, 1, 2 * 6 * 3 * 5, through=np.sin).reshape(2, 6, 3, 5),
        "targets": T.tensor([[[1, 2], [3, 4], [2, 2]], [[2, 2], [1, 1], [4, 3]]]),
        "input_lengths": T.tensor([[6, 5, 6], [4, 6, 6]]),
        "target_lengths": T.tensor([[2, 1, 2], [1, 2, 2]]),
    }
    in_dims = tuple([0 if name in batched else None for name in given])
    values = [value if name in batched else value[0] for name, value in given.items()]
    return T.vmap(lambda *args: T.ctc_loss(*args, reduction=1), in_dims=in_dims)(*values)


# Of a 2 x 3 x 4 tensor x, a batch of matrices m, and a batch of pairs of places p.
PLACES = {
    "index_copy": lambda T, x, m, p: T.vmap(lambda v, i, s: v.index_copy(0, i, s))(x, p, m),
    "index_copy at the end": lambda T, x, m, p: T.vmap(lambda v, i, s: v.index_copy(-1, i, s[:, :2]))(x, p, x),
    "index_copy to other places": lambda T, x, m, p: T.vmap(lambda i: x[0].index_copy(0, i, m[0]))(p),
    "index_copy of other values": lambda T, x, m, p: T.vmap(lambda s: x[0].index_copy(0, p[0], s))(m),
    "index_copy into others": lambda T, x, m, p: T.vmap(lambda v: v.index_copy(0, p[0], m[0]))(x),
    "index_copy of numbers": lambda T, x, m, p: T.vmap(lambda v, s: v.index_copy(0, T.tensor(0), s))(
        x[:, 0, 0], m[:, 0, 0]
    ),
    "index_copy_": lambda T, x, m, p: T.vmap(lambda v, i, s: v.clone().index_copy_(0, i, s))(x, p, m),
    "index_copy too far": lambda T, x, m, p: T.vmap(lambda v, i, s: v.index_copy(0, i, s))(x, p + 7, m),
    "index_copy from the end": lambda T, x, m, p: T.vmap(lambda v, i, s: v.index_copy(0, i, s))(x, p - 3, m),
    "index_copy too far for all": lambda T, x, m, p: T.vmap(lambda v: v.index_copy(0, p[0] + 7, m[0]))(x),
    "index_copy of too few": lambda T, x, m, p: T.vmap(lambda v, i, s: v.index_copy(0, i, s[:1]))(x, p, m),
    "index_copy of another dtype": lambda T, x, m, p: T.vmap(lambda v, i, s: v.index_copy(0, i, s.double()))(x, p, m),
    "index_copy with out=": lambda T, x, m, p: T.vmap(lambda v: T.index_copy(v, 0, p[0], m[0], out=v))(x),
    "nested index_copy": lambda T, x, m, p: T.vmap(lambda i: T.vmap(lambda v: v.index_copy(0, i, m[0]))(x))(p),
    "take": lambda T, x, m, p: T.vmap(lambda v, i: v.take(i))(x, p),
    "take from the end": lambda T, x, m, p: T.vmap(lambda v, i: v.take(i - 3))(x, p),
    "take at other places": lambda T, x, m, p: T.vmap(lambda i: x[0].take(i), in_dims=1)(p),
    "take too far": lambda T, x, m, p: T.vmap(lambda v, i: v.take(i))(x, p + 11),
    "nested take": lambda T, x, m, p: T.vmap(lambda i: T.vmap(lambda v: v.take(i))(x))(p),
    "nonzero_static": lambda T, x, m, p: T.vmap(lambda v: T.nonzero_static(v > 0, size=5))(x),
    "nonzero_static in another dimension": lambda T, x, m, p: T.vmap(
        lambda v: T.nonzero_static(v > 0, size=9, fill_value=7), in_dims=2
    )(x),
    "nested nonzero_static": lambda T, x, m, p: T.vmap(T.vmap(lambda v: T.nonzero_static(v, size=3)))(p.unsqueeze(-1)),
    "nonzero_static of no samples": lambda T, x, m, p: T.vmap(lambda v: T.nonzero_static(v, size=3))(x[:0]),
    "narrow from a tensor": lambda T, x, m, p: T.vmap(lambda v, i: v.narrow(0, i, 1))(x, p[:, 0]),
    "narrow of samples": lambda T, x, m, p: T.vmap(lambda v: v.narrow(0, T.tensor(1), 1))(x),
    "narrow of a tensor": lambda T, x, m, p: T.vmap(lambda v: v + x[0].narrow(0, T.tensor(1), 1))(x),
    "tensor_split at tensors": lambda T, x, m, p: T.vmap(lambda v, i: v.tensor_split(i))(x, p),
    "tensor_split of samples": lambda T, x, m, p: T.vmap(lambda v: v.tensor_split(T.tensor([1])))(x),
    "istft": lambda T, x, m, p: T.vmap(lambda v, w: signals(T, v * (1 + 1j), w))(x, x[:, 0].abs() + 1),
    "istft with other windows": lambda T, x, m, p: T.vmap(lambda w: signals(T, x[0] * 1j, w))(x[:, 0].abs() + 1),
    "istft without windows": lambda T, x, m, p: T.vmap(lambda v, w: signals(T, v * 1j, w), randomness="same")(
        x, x[:, 0] * 0
    ),
    "determinants": lambda T, x, m, p: T.vmap(T._linalg_det, in_dims=2)((T.arange(27.0) ** 2).sin().reshape(3, 3, 3)),
    "logarithms of determinants": lambda T, x, m, p: T.vmap(T._linalg_slogdet, in_dims=1)(
        (T.arange(27.0) ** 2).sin().reshape(3, 3, 3)
    ),
    "ctc_loss": lambda T, x, m, p: losses(T, "log_probs", "targets", "input_lengths", "target_lengths"),
    "ctc_loss of other lengths": lambda T, x, m, p: losses(T, "input_lengths"),
    "ctc_loss of other targets": lambda T, x, m, p: losses(T, "log_probs", "target_lengths"),
}


@pytest.mark.parametrize("call", PLACES.values(), ids=PLACES)
def test_places(call):
    def run(T):
        x = ramp(T, -2, 3, 24).reshape(2, 3, 4)
        given = (x, T.arange(16.0).reshape(2, 2, 4), T.tensor([[0, 1], [2, 0]]))
        return plain(T, silently(lambda: tried(call, T, *given)))

    assert_same(run)


DERIVATIVES = {
    "index_copy": lambda T, v, w: (v.index_copy(0, T.tensor([2, 0]), w) ** 2).sum(),
    "take": lambda T, v, w: (v.take(T.tensor([0, -1, 0])) ** 3).sum() * w.sum(),
}


@pytest.mark.parametrize("function", DERIVATIVES.values(), ids=DERIVATIVES)
def test_derivatives_of_places(function):
    def run(T):
        v, w = ramp(T, -2, 3, 24).reshape(2, 3, 4), ramp(T, 1, 2, 16).reshape(2, 2, 4)
        gradients = T.vmap(T.func.grad(lambda *args: function(T, *args), argnums=(0, 1)))
        return plain(T, silently(lambda: gradients(v, w)))

    assert_same(run)


# -------------------- items that are set --------------------


def copied(v, change):
    v = v.clone()
    change(v)
    return v


def add_and_scale(v):
    v[0] += v[1]
    v[1:] *= 2


CHANGES = {
    "an item by another": lambda T, v: copied(v, lambda z: z.__setitem__(0, v[1])),
    "a slice by a number": lambda T, v: copied(v, lambda z: z.__setitem__(slice(1, None), 7.0)),
    "items by a slice": lambda T, v: copied(v, lambda z: z.__setitem__(T.tensor([0, 2]), v[:2])),
    "by a mask": lambda T, v: copied(v, lambda z: z.__setitem__(v > 2, 0.0)),
    "in place on parts": lambda T, v: copied(v, add_and_scale),
    "of a tensor that is not batched": lambda T, v: copied(T.zeros(3), lambda z: z.__setitem__(0, v[1])),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_set_items(change):
    rows = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert_same(lambda T: tried(lambda: T.vmap(lambda v: change(T, v))(T.tensor(rows))))


# -------------------- custom functions --------------------


def doubling(T, **attributes):
    """A Function that doubles its argument, with more in its class."""

    def setup_context(ctx, inputs, output):
        pass

    methods = {
        "forward": staticmethod(lambda x: x * 2),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(lambda ctx, grad: grad * 2),
    }
    return type("Doubling", (T.autograd.Function,), methods | attributes)


def by_rule(rule):
    return lambda T: doubling(T, vmap=staticmethod(rule))


FUNCTIONS = {
    "no rule": doubling,
    "generated rule": lambda T: doubling(T, generate_vmap_rule=True),
    "own rule": by_rule(lambda info, in_dims, x: (x * 2, in_dims[0])),
    "a rule that uses what it is told": by_rule(lambda info, in_dims, x: (x * info.batch_size, in_dims[0])),
    "both": lambda T: doubling(T, generate_vmap_rule=True, vmap=staticmethod(lambda info, in_dims, x: (x * 2, 0))),
    "old style": lambda T: doubling(T, setup_context=T.autograd.Function.setup_context),
    "a rule without out_dims": by_rule(lambda info, in_dims, x: [x * 2]),
    "one out_dim for two": by_rule(lambda info, in_dims, x: ((x * 2, x * 3), in_dims[0])),
    "too many out_dims": by_rule(lambda info, in_dims, x: (x * 2, (0, 0))),
    "an out_dim that is none": by_rule(lambda info, in_dims, x: (x * 2, 5)),
    "not batched": by_rule(lambda info, in_dims, x: (x * 2, None)),
}
USES = {
    "rows": lambda T, f, x: T.vmap(f)(x),
    "columns": lambda T, f, x: T.vmap(f, in_dims=1)(x),
    "of a tensor that is not batched": lambda T, f, x: T.vmap(lambda v: f(T.ones(3)) + v)(x),
    "gradient": lambda T, f, x: T.vmap(T.func.grad(lambda v: f(v).sum()))(x),
    "nested": lambda T, f, x: T.vmap(T.vmap(f))(x.reshape(1, 2, 3)),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("make", FUNCTIONS.values(), ids=FUNCTIONS)
def test_function(make, use):
    x = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert_same(lambda T: plain(T, tried(lambda: use(T, make(T).apply, T.tensor(x)))))


# -------------------- many gradients at once --------------------

BATCHES = {
    "all unit vectors": lambda T, x, y: ((y,), (T.eye(3),)),
    "none": lambda T, x, y: ((y,), None),
    "another shape": lambda T, x, y: ((y,), (T.ones(3, 2),)),
    "no dimension": lambda T, x, y: ((y.sum(),), (T.ones(()),)),
    "of two outputs": lambda T, x, y: ((y, y.sum()), (T.eye(3), T.ones(3))),
    "of two sizes": lambda T, x, y: ((y, y.sum()), (T.eye(3), T.ones(4))),
}


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_batched_gradients(batch):
    def run(T):
        x, unused = T.arange(3.0, requires_grad=True), T.ones(2, requires_grad=True)
        outputs, grads = batch(T, x, x**3)
        grad = T.autograd.grad
        return plain(
            T,
            [
                tried(grad, outputs, x, grads, is_grads_batched=True, retain_graph=True),
                tried(grad, outputs, (x, unused), grads, is_grads_batched=True, retain_graph=True, allow_unused=True),
                tried(grad, outputs, x, grads, is_grads_batched=True, create_graph=True),
            ],
        )

    assert_same(run)


@pytest.mark.parametrize("transform", ("grad", "hessian"))
@pytest.mark.parametrize(
    "function", (lambda v: v.prod(), lambda v: v.prod(0), lambda v: v.cumprod(0).sum()), ids=("all", "dim", "running")
)
def test_formulas_that_look_for_zeros(function, transform):
    """Some samples have a zero, some have several, some have none."""

    def run(T):
        x = T.tensor([[1.0, 2.0, 3.0], [0.0, 2.0, 5.0], [0.0, 0.0, 1.0]])
        return T.vmap(getattr(T.func, transform)(function))(x).tolist()

    assert_same(run)
