"""Quantiles, histograms, searches, covariances, integrals and gradients of samples: results and errors."""

import warnings

import pytest

from tests.parity.ops.calls import operands
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same

# Each is called with the library, its `tensor`, and the operands.
CALLS = {
    "bucketize": lambda T, t, m: [
        lambda: T.bucketize(t([2.0]), t([[1.0]])),
        lambda: T.bucketize(2, m.ordered),
        lambda: T.bucketize(t([1, 3]), m.ordered, right=True, out_int32=True),
        lambda: T.bucketize(t([[1, 4]]), t(3.0)),
    ],
    "corrcoef": lambda T, t, m: [
        lambda: T.corrcoef(T.arange(6.0).reshape(2, 3)),
        lambda: T.corrcoef(T.ones(2, 3, 4)),
        lambda: T.corrcoef(t([1, 2])),
        lambda: T.corrcoef(t([1 + 1j, 2])),
    ],
    "cov": lambda T, t, m: [
        lambda: T.cov(T.arange(6.0).reshape(2, 3)),
        lambda: T.cov(T.ones(2, 3, 4)),
        lambda: T.cov(t([True, False])),
        lambda: T.cov(t(3.0)),
        lambda: T.cov(T.arange(6.0).reshape(2, 3), fweights=t([1, 2, 1]), aweights=t([0.5, 0.5, 1])),
        lambda: T.cov(T.ones(2, 3), fweights=t([1, 2])),
        lambda: T.cov(T.ones(2, 3), fweights=t([1.0, 2, 3])),
        lambda: T.cov(T.ones(2, 3), aweights=t([1, 2, 3])),
        lambda: T.cov(T.ones(2, 3), fweights=t([1, -2, 3])),
        lambda: T.cov(T.ones(2, 3), fweights=t([[1, 2, 3]])),
        lambda: T.cov(T.ones(2, 3), correction=5),
        lambda: T.cov(T.ones(2, 3), aweights=t([0.0, 0, 0])),
        lambda: T.cov(T.ones(2, 3), aweights=t([0.0, -1, 0])),
        lambda: T.cov(t([1, 2])),
    ],
    "cummax": lambda T, t, m: [
        lambda: T.cummax(t([3.0, 1, 2]), 3),
    ],
    "cumulative_trapezoid": lambda T, t, m: [
        lambda: T.cumulative_trapezoid(t([1.0, 2, 3]), t([1.0, 2, 4])),
        lambda: T.cumulative_trapezoid(t([1.0, 2, 3]), dx=2),
        lambda: T.cumulative_trapezoid(t([True])),
        lambda: T.cumulative_trapezoid(T.zeros(2, 0)),
        lambda: T.cumulative_trapezoid(T.zeros(2, 3), T.zeros(3).bool()),
        lambda: T.cumulative_trapezoid(T.zeros(2, 3), T.zeros(2)),
    ],
    "dist": lambda T, t, m: [
        lambda: T.dist(m.grid, m.grid + 1, 3),
        lambda: T.dist(m.grid, m.grid.int()),
        lambda: T.dist(m.grid.int(), m.grid.int()),
    ],
    "gradient": lambda T, t, m: [
        lambda: T.gradient(T.arange(4.0) ** 2),
        lambda: T.gradient(T.ones(1)),
        lambda: T.gradient(T.ones(3), edge_order=3),
        lambda: T.gradient(T.ones(3, 3), spacing=[1.0]),
        lambda: T.gradient(T.ones(3, 3), dim=(0, 0)),
        lambda: T.gradient(T.ones(3, 3), dim=7),
        lambda: T.gradient(T.ones(3).int()),
        lambda: T.gradient(T.ones(3).to(T.uint8)),
        lambda: T.gradient(T.ones(3, 3), spacing=(t([1.0, 2, 3]),)),
        lambda: T.gradient(T.ones(3, 3), spacing=(t([1.0, 2, 3]), t([1.0, 2]))),
        lambda: T.gradient(T.arange(5.0) ** 2, spacing=(t([0.0, 1, 3, 4, 7]),), edge_order=2),
        lambda: T.gradient(T.ones(2), edge_order=2),
        lambda: T.gradient(m.squares, spacing=(t([1.0, 2, 4]), t([1.0, 2]))),
        lambda: T.gradient(m.squares, spacing=(t([1.0, 2, 4]), t([1.0, 2, 3, 4, 5]))),
        lambda: T.gradient(m.squares, spacing=(t(1.0), t(2.0))),
        lambda: T.gradient(m.squares, spacing=(t([[1.0, 2, 3]]), t([1.0, 2, 3, 4]))),
        lambda: T.gradient(m.squares, spacing=(t([1, 2, 4]), t([1, 2, 5, 7])), edge_order=2),
        lambda: T.gradient(m.squares.int(), spacing=2.0, edge_order=2),
        lambda: T.gradient(m.squares.int()),
        lambda: T.gradient(m.squares.bool()),
        lambda: T.gradient(m.squares, spacing=(2.0, 1.0), dim=(0,)),
        lambda: T.gradient(m.squares, spacing=[2.0], dim=1),
        lambda: T.gradient(m.squares, spacing=[2.0, 3], dim=1),
        lambda: T.gradient(m.squares, dim=(1, 0)),
        lambda: T.gradient(m.squares, spacing=3.0, dim=(1, 0)),
        lambda: T.gradient(m.squares, spacing=(t([1.0, 2, 4]),), dim=0),
        lambda: T.gradient(m.squares, spacing=(t([1.0, 2, 4]),), dim=(0,)),
        lambda: T.gradient(m.squares.half(), spacing=(t([1.0, 2, 4]),), dim=(0,)),
        lambda: T.gradient(t(1.0)),
        lambda: T.gradient(m.squares[:2], spacing=(t([1.0, 2]),), dim=0),
    ],
    "histc": lambda T, t, m: [
        lambda: T.histc(t([1.0, 2, 2, 3]), 4),
        lambda: T.histc(t([1, 2]), 4),
        lambda: T.histc(t([1.0, 2]), 0),
        lambda: T.histc(t([1.0, 2]), 2, 3, 1),
        lambda: T.histc(t([]), 2),
        lambda: T.histc(t([1.0, 2]), 2, 1.5, 2),
        lambda: T.histc(t([1.0, 2], dtype=T.float16), 2),
        lambda: T.histc(t([1.0, 2 + 1j]), 2),
        lambda: T.histc(t([True]), 2),
        lambda: T.histc(t([1.0, 2.0, float("nan")]), 2, 0, 3),
        lambda: T.histc(t([1.0, 2.0, float("nan")]), 2, 0, 3, out=T.empty(0, dtype=T.float64)),
        lambda: T.histc(t([1.0]), 2, 0, float("inf")),
    ],
    "nanquantile": lambda T, t, m: [
        lambda: T.nanquantile(m.grid.int(), 0.5),
        lambda: T.nanquantile(m.grid, 1.5),
        lambda: T.nanquantile(T.zeros(0), 0.5),
        lambda: T.nanquantile(t([[1.0, float("nan")], [float("nan")] * 2]), 0.5, 1),
    ],
    "quantile": lambda T, t, m: [
        lambda: T.quantile(m.grid, 0.3),
        lambda: T.quantile(m.grid, t([0.3, 0.5]), 1, True).shape,
        lambda: T.quantile(m.grid, 1.5),
        lambda: T.quantile(m.grid, t([1.5])),
        lambda: T.quantile(m.grid, t([[0.5]])),
        lambda: T.quantile(m.grid, t([0.5], dtype=T.float64)),
        lambda: T.quantile(m.grid.int(), 0.5),
        lambda: T.quantile(T.zeros(0), 0.5),
        lambda: T.quantile(m.grid, 0.5, interpolation="x"),
        lambda: T.quantile(m.grid, t([0.5]), 3),
        lambda: T.quantile(T.zeros(2, 0), 0.5, 0),
        lambda: T.quantile(m.grid, t([0.3, 0.5]), out=T.empty(0, dtype=T.float64)),
        lambda: T.quantile(t([[1.0, float("nan")], [1, 2]]), 0.5, 1),
        lambda: T.quantile(m.grid, t([])),
        lambda: T.tensor(3.0).quantile(0.5, dim=0, keepdim=True),
    ],
    "renorm": lambda T, t, m: [
        lambda: T.renorm(m.grid, 2, 0, 5.0),
        lambda: T.renorm(m.grid, -1, 0, 5.0),
        lambda: T.renorm(t([1.0]), 2, 0, 5.0),
        lambda: T.renorm(m.grid, 2, 0, -5.0),
        lambda: T.renorm(m.grid, 2 + 1j, 0, 5.0),
        lambda: T.renorm(m.grid.int(), 2, 0, 5.0),
        lambda: T.renorm(m.grid, 2, 3, 5.0),
    ],
    "searchsorted": lambda T, t, m: [
        lambda: T.searchsorted(m.ordered, t([2.0]), side="x"),
        lambda: T.searchsorted(m.ordered, t([2.0]), side="left", right=True),
        lambda: T.searchsorted(m.ordered, t([2.0]), sorter=t([0, 1])),
        lambda: T.searchsorted(m.ordered, t([2.0]), sorter=t([0.0, 1, 2])),
        lambda: T.searchsorted(m.ordered, t([2.0]), sorter=t([0, 1, 7])),
        lambda: T.searchsorted(t([[1.0, 2]]), 3.0),
        lambda: T.searchsorted(t([[1.0, 2]]), t(3.0)),
        lambda: T.searchsorted(t(1.0), t([3.0])),
        lambda: T.searchsorted(t([[1.0, 2]]), t([3.0])),
        lambda: T.searchsorted(m.ordered, t([2.0]), out=T.empty(0)),
        lambda: T.searchsorted(m.ordered, t([2.0]), out_int32=True, out=T.empty(0, dtype=T.int64)),
        lambda: T.searchsorted(t([1 + 1j]), t([1 + 1j])),
        lambda: T.searchsorted(t([False, True]), t([True])),
        lambda: T.searchsorted(m.ordered, t([2])),
        lambda: T.searchsorted(t([1, 3]), t([2.5])),
        lambda: T.searchsorted(m.ordered, t([3.0, 4]), right=True, sorter=t([2, 1, 0])),
        lambda: T.searchsorted(m.ordered, 5, right=True),
        lambda: T.searchsorted(m.ordered, t([[1, 2], [3, 9.0]]).t()).stride(),
    ],
    "trapezoid": lambda T, t, m: [
        lambda: T.trapezoid(t([1.0, 2, 3]), t([1.0, 2, 4])),
        lambda: T.trapezoid(t([1.0, 2, 3]), t([1.0, 2])),
        lambda: T.trapezoid(T.zeros(2, 0), T.zeros(0)),
        lambda: T.trapezoid(T.zeros(2, 3).bool(), T.zeros(3)),
        lambda: T.trapezoid(T.ones(2, 3), T.arange(6.0).reshape(2, 3)),
        lambda: T.trapezoid(T.ones(2, 3), T.arange(2.0), dim=0),
        lambda: T.trapezoid(T.ones(2, 3), T.arange(2.0), dim=1),
    ],
    "trapz": lambda T, t, m: [
        lambda: T.trapz(t([1.0, 2, 3]), dx=2),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_errors(name):
    def program(T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [tried(call) for call in CALLS[name](T, T.tensor, operands(T))]

    assert_same(program)
