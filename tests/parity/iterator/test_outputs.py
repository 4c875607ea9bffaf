"""Every family of ops writes to every kind of `out=` as torch does: the same values, strides, warnings and errors."""

import warnings
from typing import Any

import pytest
import torch

import mindtorch

# Of the shape (2, 4) or another one, in every layout and of several dtypes.
OUTPUTS = [
    "T.zeros(2, 4)",
    "T.zeros(0)",
    "T.zeros(5)",
    "T.zeros(0, 4)",
    "T.zeros(4, 2).t()",
    "T.zeros(2, 8)[:, ::2]",
    "T.zeros(3, 2, 4)[0]",
    "T.zeros(2, 4, dtype=T.float64)",
    "T.zeros(2, 4, dtype=T.float16)",
    "T.zeros(2, 4, dtype=T.int64)",
    "T.zeros(2, 4, dtype=T.bool)",
    "T.zeros(2, 4, dtype=T.complex64)",
    "T.zeros(0, dtype=T.float64)",
]
EXPANDED = ["T.zeros(1, 4).expand(2, 4)", "T.zeros(4, 1).expand(4, 2).t()", "T.zeros(1).expand(2, 4)"]

# `x` is (2, 4), `y` (4,), `z` (2, 1), `n` (2, 4) of integers, `a` (2, 3) and `b` (3, 4), `w` (3, 2, 4).
CALLS = """
T.add(x, 1, out=o); T.add(x, y, out=o); T.sub(n, z, out=o); T.mul(x, n, out=o); T.div(n, 2, out=o); T.eq(x, y, out=o)
T.logical_and(x, z, out=o); T.pow(x, 2, out=o); T.pow(2, n, out=o); T.maximum(x, y, out=o); T.remainder(n, 2, out=o)
T.bitwise_and(n, 1, out=o); T.neg(x, out=o); T.abs(x, out=o); T.abs(c, out=o); T.floor(x, out=o); T.sqrt(n, out=o)
T.sqrt(x, out=o); T.sign(x, out=o); T.clamp(x, 0, 1, out=o); T.clamp_min(x, 1, out=o); T.clamp(x, y, z, out=o)
T.lerp(x, x, 0.5, out=o); T.addcmul(x, y, z, out=o); T.where(x > 1, x, y, out=o); T.round(x, out=o); T.angle(x, out=o)
T.matmul(a, b, out=o); T.mm(a, b, out=o); T.addmm(y, a, b, out=o); T.outer(z[:, 0], y, out=o); T.complex(x, x, out=o)
T.cat([x[:1], y[None]], out=o); T.stack([y, y], out=o); T.index_select(b, 0, T.tensor([0, 1]), out=o)
T.gather(x, 0, n % 2, out=o); T.full((2, 4), 1.0, out=o); T.ones((2, 4), out=o); T.zeros((2, 4), out=o)
T.arange(8, out=o); T.amax(w, 0, out=o); T.argmax(w, 0, out=o); T.all(w, 0, out=o); T.logical_not(x, out=o)
T.cumsum(x, 0, out=o); T.mean(w, 0, out=o); T.bmm(w, w.mT, out=o); T.baddbmm(y[:2], w, w.mT, out=o)
T.diag(y, out=o); T.diag(a, out=o); T.masked_select(x, x > 1, out=o); T.nonzero(x, out=o)
T.dot(y, y, out=o); T.vdot(y, y, out=o); T.vdot(y + 0j, y + 0j, out=o); T.mv(x, y, out=o); T.addmv(z[:, 0], x, y, out=o)
T.sigmoid(n, out=o)
"""
# What torch writes to expanded outputs of these is what happens to come out.
ANY_ORDER = """
T.sum(w, 0, out=o); T.prod(w, 0, out=o); T.eye(2, 4, out=o); T.tril(x, out=o)
"""


def calls(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(";")]


def run(library: Any, call: str, output: str) -> Any:
    """What a call gives, or its error; and its warnings, and what is in the output afterwards."""
    names = {
        "T": library,
        "x": library.arange(8.0).reshape(2, 4),
        "y": library.arange(4.0),
        "z": library.arange(2.0).reshape(2, 1),
        "n": library.arange(8).reshape(2, 4),
        "c": library.arange(8.0).reshape(2, 4).to(library.complex64),
        "a": library.arange(6.0).reshape(2, 3),
        "b": library.arange(12.0).reshape(3, 4),
        "w": library.arange(24.0).reshape(3, 2, 4) / 4,
    }
    names["o"] = out = eval(output, names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = eval(call, names)
            seen = result is out, result.stride(), str(result.dtype), result.tolist(), out.tolist()
        except (RuntimeError, TypeError, IndexError, NotImplementedError) as error:
            seen = type(error).__name__, str(error).split("\n")[0]
    return seen, sorted({str(each.message).partition(" (Triggered")[0] for each in caught})


@pytest.mark.parametrize("call", calls(CALLS) + calls(ANY_ORDER))
def test_outputs(call):
    for output in OUTPUTS:
        assert run(mindtorch, call, output) == run(torch, call, output), output


@pytest.mark.parametrize("call", calls(CALLS))
def test_expanded_outputs(call):
    for output in EXPANDED:
        assert run(mindtorch, call, output) == run(torch, call, output), output
