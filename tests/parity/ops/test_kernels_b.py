"""View, indexing, linalg, factory and fft kernels against PyTorch on arrays of awkward layouts.

The table-driven tests check every op with ordinary arguments; here the layouts are random: transposed, sliced,
expanded, with dimensions of size 1 and of size 0, and the arguments are often wrong, because errors are compared, too.
"""

import random

import numpy as np
import pytest
import torch

import mindtorch
from mindtorch.dispatch import ops
from tests.parity.support.roundings import agree

DTYPES = ("float32", "float64", "bfloat16", "int16", "uint8", "complex64")
SEEDS = range(12)


class Twins:
    """One random tensor, made by the same steps in both libraries."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def make(self, dtype=None):
        shape = [self.random.choice([0, 1, 1, 2, 3, 4, 6]) for _ in range(self.random.randint(0, 4))]
        dtype = dtype or self.random.choice(DTYPES)
        steps = [self._step() for _ in range(self.random.randint(0, 3))]
        self.ours, self.theirs = (self._build(T, shape, dtype, steps) for T in (mindtorch, torch))
        return self

    def _build(self, T, shape, dtype, steps):
        x = T.arange(int(np.prod(shape))).reshape(shape).to(getattr(T, dtype))
        for step in steps:
            x = step(x) if x.dim() else x
        return x

    def _step(self):
        place, size, kind = self.random.random(), self.random.randint(1, 3), self.random.randrange(5)

        def dim_of(x):
            return int(place * x.dim())

        steps = (
            lambda x: x.transpose(dim_of(x), 0),
            lambda x: x.narrow(dim_of(x), 0, 1) if x.size(dim_of(x)) else x,
            lambda x: x[(slice(None),) * dim_of(x) + (slice(None, None, size),)],
            lambda x: x.unsqueeze(0).expand(2, *x.shape) if x.dim() < 4 else x,
            lambda x: x.unsqueeze(dim_of(x)),
        )
        return steps[kind]

    # -------------------- arguments --------------------

    def dim(self):
        return self.random.randint(-self.theirs.dim() - 1, self.theirs.dim())

    def sizes(self):
        """A shape for the same number of elements, now and then a wrong one."""
        rest, sizes = self.theirs.numel(), []
        if self.random.random() < 0.1 or not rest:
            return [self.random.randint(-2, 4) for _ in range(self.random.randint(0, 4))]
        while rest > 1:
            factor = self.random.choice([each for each in range(2, rest + 1) if rest % each == 0])
            sizes.append(factor)
            rest //= factor
        for _ in range(self.random.randint(0, 2)):
            sizes.insert(self.random.randint(0, len(sizes)), 1)
        return sizes

    def expanded(self):
        return [self.random.choice([size, -1, 3 if size == 1 else size]) for size in self.theirs.shape]

    def count(self, low=-3, high=4):
        return self.random.randint(low, high)

    def bound(self):
        return self.random.choice([None, *range(-5, 6)])


CALLS = {
    "view": lambda t: (lambda x, size: x.view(size), t.sizes()),
    "reshape": lambda t: (lambda x, size: x.reshape(size), t.sizes()),
    "transpose": lambda t: (lambda x, a, b: x.transpose(a, b), t.dim(), t.dim()),
    "t": lambda t: (lambda x: x.t(),),
    "permute": lambda t: (lambda x, dims: x.permute(dims), t.random.sample(range(t.theirs.dim()), t.theirs.dim())),
    "expand": lambda t: (lambda x, size: x.expand(size), t.expanded()),
    "squeeze": lambda t: (lambda x: x.squeeze(),),
    "squeeze dim": lambda t: (lambda x, dim: x.squeeze(dim), t.dim()),
    "unsqueeze": lambda t: (lambda x, dim: x.unsqueeze(dim), t.dim()),
    "select": lambda t: (lambda x, dim, index: x.select(dim, index), t.dim(), t.count()),
    "narrow": lambda t: (lambda x, dim, start, n: x.narrow(dim, start, n), t.dim(), t.count(), t.count(-1)),
    "split": lambda t: (lambda x, size, dim: x.split(size, dim), t.count(-1), t.dim()),
    "chunk": lambda t: (lambda x, chunks, dim: x.chunk(chunks, dim), t.count(0), t.dim()),
    "unbind": lambda t: (lambda x, dim: x.unbind(dim), t.dim()),
    "diagonal": lambda t: (lambda x, k, a, b: x.diagonal(k, a, b), t.count(), t.dim(), t.dim()),
    "unfold": lambda t: (lambda x, dim, size, step: x.unfold(dim, size, step), t.dim(), t.count(0), t.count(0)),
    "flatten": lambda t: (lambda x, start, end: x.flatten(start, end), t.dim(), t.dim()),
    "movedim": lambda t: (lambda x, a, b: x.movedim(a, b), t.dim(), t.dim()),
    "contiguous": lambda t: (lambda x: x.contiguous(),),
    "clone": lambda t: (lambda x: x.clone(),),
    "zero_": lambda t: (lambda x: x.clone().zero_(),),
    "tril": lambda t: (lambda x, k: x.tril(k), t.count()),
    "flip": lambda t: (lambda x, dim: x.flip(dim), t.dim()),
    "roll": lambda t: (lambda x, shift, dim: x.roll(shift, dim), t.count(), t.dim()),
    "nonzero": lambda t: (lambda x: x.nonzero(),),
    "repeat": lambda t: (lambda x, times: x.repeat(times), [t.count(0, 2) for _ in range(t.theirs.dim())]),
    "masked_select": lambda t: (lambda x: x.masked_select(x.real > 3 if x.is_complex() else x > 3),),
}


def outcome(call, x, args):
    try:
        found = call(x, *args)
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return [described(part) for part in (found if isinstance(found, (tuple, list)) else [found])]


def described(x):
    """All of a tensor; of an empty one not the strides, of which torch and NumPy keep different ones."""
    geometry = (x.stride(), x.storage_offset()) if x.numel() else None
    return tuple(x.shape), geometry, str(x.dtype), x.tolist()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CALLS)
def test_awkward_layouts(name, seed):
    for number in range(12):
        twins = Twins(f"{name} {seed} {number}").make()
        call, *args = CALLS[name](twins)
        assert outcome(call, twins.ours, args) == outcome(call, twins.theirs, args), (twins.theirs.stride(), args)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("source", (*DTYPES, "int64", "float16", "bool"))
def test_copies_between_dtypes(source, seed):
    """Broadcast, converted, between layouts."""
    for target in (*DTYPES, "int64", "float16", "bool"):
        if source == "complex64" != target:
            continue  # warns
        twins = Twins(f"{source} {target} {seed}").make(source)
        results = []
        for T, x in ((mindtorch, twins.ours), (torch, twins.theirs)):
            into = T.zeros((2, *x.shape), dtype=getattr(T, target)).transpose(0, -1)
            results.append(
                [outcome(lambda x, into=into: into.copy_(x), x, ()), outcome(lambda x, like=into: x.to(like), x, ())]
            )
        assert results[0] == results[1], (twins.theirs.shape, twins.theirs.stride(), target)


@pytest.mark.parametrize("seed", SEEDS)
def test_gather_and_scatter(seed):
    chosen = np.random.default_rng(seed)
    for _ in range(10):
        shape = chosen.integers(1, 4, chosen.integers(1, 4))
        dim = int(chosen.integers(len(shape)))
        index = chosen.integers(0, shape[dim], [chosen.integers(1, size + 1) for size in shape])
        values = chosen.integers(0, 9, index.shape)
        results = []
        for T in (mindtorch, torch):
            x = T.arange(int(np.prod(shape))).reshape(shape.tolist())
            at, source = T.tensor(index.tolist()), T.tensor(values.tolist())
            results.append(
                [x.gather(dim, at).tolist(), x.scatter_add(dim, at, source).tolist(), x.scatter(dim, at, 7).tolist()]
            )
        assert results[0] == results[1]


@pytest.mark.parametrize("dtype", ("float32", "float64", "complex64", "int64", "float16"))
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
    ]
    + [
        ((5, 2, 3), (5, 3, 4)),
        ((4, 1, 2, 3), (5, 3, 2)),
        ((1, 2, 3), (5, 3, 4)),
        ((0, 2, 3), (3, 4)),
        ((2, 0), (0, 3)),
        ((2, 3), (2, 3)),
    ]
    + [((), (3,)), ((5, 2, 3), (4, 3, 2))],
)
def test_matmul(left, right, dtype):
    for transposed in (False, True):
        results = []
        for T in (mindtorch, torch):
            a, b = (T.arange(float(np.prod(shape))).reshape(shape).to(getattr(T, dtype)) for shape in (left, right))
            if transposed and b.dim() > 1:
                b = b.mT.contiguous().mT if T is torch else b.transpose(-1, -2).contiguous().transpose(-1, -2)
            results.append(outcome(lambda a, b: a @ b, a, (b,)))
        assert results[0] == results[1]


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik",
        "ij,jk",
        "ij,kj->ik",
        "ij,ij->",
        "ij,ij->i",
        "i...,i...->...",
        "ij,jk->ki",
        "ii,ij->j",
        "ij,jk->ijk",
        "ij,j",
    ],
)
def test_einsum(equation):
    ranks = [len(term.replace(".", "")) + 1 * ("." in term) for term in equation.split("->")[0].split(",")]
    results = []
    for T in (mindtorch, torch):
        operands = [T.arange(float(3**rank)).reshape((3,) * rank).requires_grad_() for rank in ranks]
        found = T.einsum(equation, *operands)
        found.sum().backward()
        results.append(
            (described(found.detach()), found.grad_fn.name(), [operand.grad.tolist() for operand in operands])
        )
    assert results[0] == results[1]


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_fft(name, norm):
    for shape, n, dim in [((5,), None, -1), ((2, 4), None, 0), ((2, 4), 3, 1), ((2, 4), 7, 1), ((2, 3, 4), None, 1)]:
        results = []
        for T in (mindtorch, torch):
            x = T.arange(float(np.prod(shape))).reshape(shape)
            found = getattr(T.fft, name)(x, n, dim, norm)
            results.append(found)
        assert results[0].stride() == results[1].stride() and str(results[0].dtype) == str(results[1].dtype)
        np.testing.assert_allclose(results[0].tolist(), results[1].tolist(), rtol=1e-5, atol=1e-5)


RANGES = [
    (0, 5, 1),
    (0, 5, 0.3),
    (5, 0, -1),
    (1.5, -7.25, -0.7),
    (0, 100, 0.1),
    (-2.5, 2.5, 1),
    (5, 0, 1),
    (0, 5, 0),
    (3, 3, 1),
]


@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int64", "int32", "uint8"])
def test_ranges(dtype):
    for bounds in RANGES:
        for make in MAKERS:
            own, expected = (_made(make, T, dtype, bounds) for T in (mindtorch, torch))
            same = agree(own, expected, 1) if isinstance(expected, torch.Tensor) else own == expected
            assert same, (bounds, own, expected)


def _made(make, T, dtype, bounds):
    try:
        return make(T, dtype and getattr(T, dtype), *bounds)
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)


MAKERS = (
    lambda T, dtype, start, end, step: T.arange(start, end, step, dtype=dtype),
    lambda T, dtype, start, end, step: T.linspace(start, end, 17, dtype=dtype),
    lambda T, dtype, start, end, step: T.full((2, 2), end, dtype=dtype),
)


def test_backward_helpers_are_in_the_registry():
    """The formulas of derivatives.yaml call these by name."""
    for name in ("select_backward", "slice_backward", "diagonal_backward", "unfold_backward", "gather_backward"):
        assert callable(getattr(ops, name))
