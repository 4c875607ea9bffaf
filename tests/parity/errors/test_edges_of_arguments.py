"""Calls at the edge of what torch takes: whether it takes them, its error or its result, with strides."""

import warnings

import numpy as np
import pytest

import mindtorch

torch = pytest.importorskip("torch")

POOLS = [
    f"F.max_pool{dims}d(t(1, {', '.join(['9'] * dims)}), {kernel}, 2, {pad}, {dilation})"
    for dims in (2, 3)
    for kernel in (1, 2, 3)
    for pad in (0, 1, 2)
    for dilation in (1, 2, 3)
]
AVERAGES = [
    f"F.{name}(t(1, 1, {size}, {size}, {size}), {arguments})"
    for size in (1, 2, 3)
    for kernel in (1, 2, 3, 4)
    for name, arguments in (
        ("avg_pool3d", f"{kernel}, 2, {kernel // 2}, True, False"),
        ("avg_pool3d", f"({kernel}, 1, 1), 1"),
        ("lp_pool3d", f"2.0, {kernel}, 2, True"),
    )
]
EMPTY_CELLS = [
    f"F.adaptive_{kind}_pool{dims}d(L.ones{shape}, {size})"
    for dims in (1, 2, 3)
    for empty in range(dims + 2)
    for shape in (
        tuple(0 if place == empty else 2 for place in range(dims + 2)),
        tuple(0 if place == empty else 2 for place in range(dims + 1)),
    )
    for kind in ("avg", "max")
    for size in (0, 1, 2)
]
EMPTY_GRADIENTS = [
    f"L.ops.aten._adaptive_avg_pool{dims}d_backward(L.ones{(*shape, *[2] * dims)}, L.ones{(*shape, *[4] * dims)})"
    for dims in (2, 3)
    for shape in ((0, 2), (2, 0), (2, 2))
]
EMPTY_PADS = [
    f"A.{kind}_pad{dims}d_backward(L.ones{(*shape, *[7] * dims)}, L.ones{(*shape, *[5] * dims)}, {[1, 1] * dims})"
    for kind in ("reflection", "replication")
    for dims in (1, 2, 3)
    for shape in ((0, 2), (2, 0))
]
EMPTY_PRODUCTS = [
    f"L.{name}(L.ones(1), L.ones({batch}, {rows}, {inner}), L.ones({batch}, {inner}, {columns}), beta={beta})"
    for name in ("addbmm", "baddbmm")
    for batch in (0, 2)
    for rows, inner, columns in ((0, 3, 0), (2, 3, 0), (2, 0, 2), (0, 0, 2))
    for beta in (0, 1)
]
EMPTY_SYSTEMS = [
    f"L.linalg.tensorinv(L.ones{shape}, ind={ind})" for ind in (1, 2) for shape in ((0, 0), (0, 3, 0), (2, 0, 0))
]
EMPTY_SYSTEMS += [
    "L.linalg.tensorsolve(L.ones(0, 0), L.ones(0))",
    "L.linalg.tensorsolve(L.ones(2, 0, 0), L.ones(2, 0))",
]
FACTORS = [
    f"L.addr(L.ones(2, 2, dtype=L.{dtype}), L.ones(2, dtype=L.{dtype}), L.ones(2, dtype=L.{dtype}), {name}={factor})"
    for dtype in ("float32", "float64", "bfloat16", "int64", "bool", "complex64")
    for name in ("alpha", "beta")
    for factor in (1j, 2 + 0j, 1.5, True)
]
LEAST_SQUARES = [
    f"L.linalg.lstsq({matrix}, L.ones(3, 1), rcond={rcond}, driver='{driver}')"
    for matrix in ("t(3, 2)", "L.ones(3, 2)", "L.zeros(3, 2)")
    for driver in ("gelsd", "gelss")
    for rcond in (None, 0.2, 1, 1.5)
]
UNPOOLS = [
    f"A.max_unpool{dims}d({input}, {indices}, {size}{more})"
    for dims, more in ((2, ""), (3, ", [2, 2, 2], [0, 0, 0]"))
    for input in (f"t{(1, *[2] * dims)}", f"t{(1, 1, 1, *[2] * dims)}", "t(1)")
    for indices in (f"t{(1, *[2] * dims)}.long()", f"t{(1, *[2] * dims)}")
    for size in ([4] * dims, [4] * (dims + 1), [4] * (dims - 1) + [-1], [-2] + [4] * (dims - 1))
] + ["A.max_unpool3d(t(1, 2, 2, 2), t(1, 2, 2, 2).long(), [4, 4, 4], [2], [0, 0, 0])"]
NUMBERS = [
    call.format(number)
    for number in (1 + 1j, 2 + 0j, "N.bool_(True)", "N.float32(0.5)", 2)
    for call in (
        "F.softplus(t(2, 2), beta={})", "F.softplus(t(2, 2), 1, {})", "F.leaky_relu(t(2, 2), {})", "F.elu(t(2, 2), {})",
        "F.celu(t(2, 2), {})", "F.hardshrink(t(2, 2), {})", "F.softshrink(t(2, 2), {})",
        "F.hardtanh(t(2, 2), -1, {})", "F.threshold(t(2, 2), {}, 1)", "L.trapezoid(t(2, 2), dx={})",
        "L.cumulative_trapezoid(t(2, 2), dx={})", "L.logit(t(2, 2) / 4, eps={})", "L.nan_to_num(t(2, 2), nan={})",
        "F.dropout(t(2, 2), {}, training=False)",
    )
]  # fmt: skip
OTHERS = [
    "L.split(t(4), split_size_or_sections=2)", "L.split(tensor=t(4), split_size_or_sections=[1, 3], dim=-1)",
    "L.split(t(4), split_size=2)", "L.split(3, 2)", "L.split(t(4))", "L.split(t(4), 2, 0, 1)",
    "t(4).split(split_size=2)",
    "F.pad(t(2, 3), 1)", "F.pad(t(2, 3), [1, 1])", "F.layer_norm(t(2, 3), 3)", "F.layer_norm(t(2, 3), [3])",
    "L.autograd.graph.get_gradient_edge(None)", "L.autograd.graph.get_gradient_edge(3)",
    "L.autograd.graph.get_gradient_edge(L.ones(2))",
]  # fmt: skip
CALLS = {
        "max_pool": POOLS, "avg_pool": AVERAGES, "empty cells": EMPTY_CELLS, "empty gradients": EMPTY_GRADIENTS,
        "empty padding": EMPTY_PADS, "empty products": EMPTY_PRODUCTS, "empty systems": EMPTY_SYSTEMS,
        "factors": FACTORS, "least squares": LEAST_SQUARES, "unpooling": UNPOOLS, "numbers": NUMBERS, "others": OTHERS,
}  # fmt: skip


def _outcome(library, call: str):
    """What the call gives: its tensors, or the type and text of its error."""
    names = {
        "L": library,
        "N": np,
        "A": library.ops.aten,
        "F": library.nn.functional,
        "t": lambda *shape: _counted(library, shape),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(call, names)
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error)
    return [result] if isinstance(result, library.Tensor) else list(result)


def _counted(library, shape):
    return library.arange(float(np.prod(shape)), dtype=library.float32).reshape(shape)


def _described(tensor) -> tuple:
    return tuple(tensor.shape), str(tensor.dtype).partition(".")[2], tuple(tensor.stride())


def _differs(call: str) -> str | None:
    ours, theirs = _outcome(mindtorch, call), _outcome(torch, call)
    if isinstance(ours, tuple) or isinstance(theirs, tuple):
        return None if ours == theirs else f"{call}: {ours} for {theirs}"
    pairs = list(zip(ours, theirs, strict=True))
    if [_described(one) for one, _ in pairs] != [_described(other) for _, other in pairs]:
        return f"{call}: {[_described(one) for one in ours]} for {[_described(each) for each in theirs]}"
    close = all(np.allclose(one.tolist(), other.tolist(), 1e-3, 1e-5, equal_nan=True) for one, other in pairs)
    return None if close else f"{call}: {ours} for {theirs}"


@pytest.mark.parametrize("kind", CALLS)
def test_calls_at_the_edge(kind):
    assert [text for text in map(_differs, CALLS[kind]) if text] == []
