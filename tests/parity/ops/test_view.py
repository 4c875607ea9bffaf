"""Views and copies of awkward layouts: transposed, sliced, expanded, with dimensions of size 1 and of size 0.

The table-driven tests check every op with ordinary arguments; here the arguments are often wrong, because errors are
compared, too.
"""

import random

import numpy as np
import pytest
import torch

import mindtorch
from mindtorch.dispatch import ops
from tests.parity.ops.outcomes import outcome
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

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


def test_backward_helpers_are_in_the_registry():
    """The formulas of derivatives.yaml call these by name."""
    for name in ("select_backward", "slice_backward", "diagonal_backward", "unfold_backward", "gather_backward"):
        assert callable(getattr(ops, name))


program, test_program = programs()


@program
def splits_without_views(T):
    x = T.arange(6.0, requires_grad=True)
    parts = [T.unsafe_chunk(x * 2, 2), T.unsafe_split(x * 2, 4), (x * 2).unsafe_split_with_sizes([1, 5])]
    facts = [(part, part._is_view(), part._version) for some in parts for part in some]
    parts[0][0].mul_(3)  # torch refuses that for the views of chunk
    sum((part * part).sum() for some in parts for part in some).backward()
    base = T.arange(4.0)
    T.unsafe_split(base, 2)[0].mul_(5)
    return [facts, x.grad, base, base._version, tried(T.unsafe_chunk, base, 0), tried(T.unsafe_split, base, -1)]
