"""`gather`, `scatter` and their kin: random places, reductions, and places that are wrong."""

import warnings

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.ops.calls import operands
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same

SEEDS = range(12)


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


# Each is called with the library, its `tensor`, and the operands.
CALLS = {
    "int": lambda T, t, m: [
        lambda: m.zeros.scatter_reduce(0, m.places, m.ones.int(), "sum"),
        lambda: m.zeros.index_reduce(0, t([0, 0]), T.ones(2, 4).int(), "mean"),
    ],
    "ones": lambda T, t, m: [
        lambda: m.zeros.scatter_reduce(0, m.places, m.ones, "foo"),
        lambda: m.zeros.scatter_reduce(0, m.places.float(), m.ones, "sum"),
        lambda: m.zeros.scatter_reduce(0, t([[7]]), m.ones, "sum"),
        lambda: m.zeros.scatter_reduce(0, t([0]), m.ones, "sum"),
        lambda: m.zeros.scatter_reduce(0, T.zeros(1, 5, dtype=T.long), T.ones(1, 5), "sum"),
        lambda: m.zeros.scatter(0, m.places, m.ones, reduce="add"),
        lambda: m.zeros.scatter(0, m.places, m.ones, reduce="foo"),
        lambda: m.zeros.index_reduce(0, t([0, 0]), T.ones(2, 4), "foo"),
        lambda: m.zeros.index_reduce(0, t([0, 0]), T.ones(2, 4), "prod"),
        lambda: m.zeros.index_reduce(0, t([0, 0]), T.ones(2, 4), "mean", include_self=False),
        lambda: m.zeros.index_reduce(0, t([0, 9]), T.ones(2, 4), "mean"),
        lambda: m.zeros.index_reduce(0, t([0, 0, 1]), T.ones(2, 4), "mean"),
        lambda: m.zeros.index_reduce(0, t([[0, 0]]), T.ones(2, 4), "mean"),
        lambda: m.zeros.index_reduce(0, t([0.0, 0]), T.ones(2, 4), "mean"),
        lambda: m.zeros.index_reduce(0, t([0, 0]), T.ones(2, 3), "mean"),
    ],
    "tensor": lambda T, t, m: [
        lambda: m.grid.quantile(t(0.25), 0, True),
        lambda: t(1.0).addmv_(t([[1.0, 2], [3, 4]]), t([1.0, 1])),
        lambda: T.zeros(3).addr_(t([1.0, 2]), t([1.0, 2, 3])),
        lambda: m.zeros.scatter(0, m.places, 2.0, reduce="multiply"),
        lambda: m.zeros.put(t([0, 1]), t([1.0, 2])),
        lambda: m.zeros.put(t([0, -1, 0]), t([1.0, 2, 3]), True),
        lambda: m.zeros.put(t([0, 12]), t([1.0, 2])),
        lambda: m.zeros.put(t([0.0]), t([1.0])),
        lambda: m.zeros.put(t([0]), t([1])),
        lambda: m.zeros.put(t([0, 1]), t([1.0])),
        lambda: T.zeros(0).put(t([0]), t([1.0])),
        lambda: T.zeros(0).put(t([], dtype=T.long), t([])),
    ],
    "unravel_index": lambda T, t, m: [
        lambda: T.unravel_index(t([5, 7]), (3, 4)),
        lambda: T.unravel_index(t([5.0]), (3, 4)),
        lambda: T.unravel_index(t([5]), (3, -4)),
        lambda: T.unravel_index(t([5]), 3),
        lambda: T.unravel_index(t([5]), (3, 0)),
        lambda: T.unravel_index(t([5]), "a"),
        lambda: T.unravel_index(t([15]), (3, 4)),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_errors(name):
    def program(T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [tried(call) for call in CALLS[name](T, T.tensor, operands(T))]

    assert_same(program)
