"""More cases of `npu_cases`: bags, recurrent steps, CTC, images against aliasing, and quantized numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.parity.npu.cases import OUT, Maker, case
from tests.parity.npu.nn_cases import resize
from tests.parity.npu.variants import variant

# -------------------- bags --------------------

_INDICES, _OFFSETS = np.array([1, 3, 2, 1, 5, 0, 3]), np.array([0, 2, 2, 6])


def _bag(mode: int, padding: int = -1, weights: bool = False, last: bool = False) -> tuple[Any, Any]:
    """A case in a mode; bags of two, none, four and one."""

    def build(m: Maker) -> Any:
        factors = m.x(7) if weights else None
        found = np.zeros((3 if last else 4, *((3,) if mode == 2 else ())), np.int64)
        return (
            m.x(6, 3), _INDICES, _OFFSETS, False, mode, False, factors, last, padding, OUT, OUT, OUT,
            OUT if mode == 2 else found,
        )  # fmt: skip

    def function(w: Any, i: Any, o: Any, scaled: bool, mode: int, sparse: bool, factors: Any, *rest: Any) -> Any:
        last, padding = rest[:2]
        found = torch.ops.aten._embedding_bag(w, i, o, scaled, mode, sparse, factors, last, padding)
        sizes = np.diff([*_OFFSETS, *([] if last else [7])])
        if padding >= 0:
            sizes = sizes - [np.sum(_INDICES[a : a + n] == padding) for a, n in zip(_OFFSETS, sizes)]
        # torch leaves out of sums what it does not need.
        parts = (found[0], torch.repeat_interleave(torch.arange(4), torch.tensor([2, 0, 4, 1])), torch.tensor(sizes))
        if last:
            parts = (parts[0], torch.tensor([0, 0, 2, 2, 2, 2, 3]), parts[2])
        return (*parts, found[3]) if mode == 2 else parts

    return build, function


case("aclnnEmbeddingBag", *_bag(0))
for _options in (
    {"mode": 1},
    {"mode": 2},
    {"mode": 0, "weights": True},
    {"mode": 1, "padding": 3},
    {"mode": 2, "padding": 1},
):
    variant("aclnnEmbeddingBag", *_bag(**_options))


def _renorm(table: torch.Tensor, indices: torch.Tensor, most: float, order: float) -> None:
    table.copy_(torch.embedding_renorm_(table.clone(), indices, most, order))


case("aclnnEmbeddingRenorm", lambda m: (m.x(6, 3), np.array([[1, 3], [1, 5]]), 0.75, 2.0), _renorm, ("float32",))
variant("aclnnEmbeddingRenorm", lambda m: (m.x(6, 3), np.array([4], "int32"), 0.5, 1.0), _renorm)

# -------------------- recurrent steps --------------------


def _lstm(x: Any, h: Any, c: Any, one: Any = None, other: Any = None) -> Any:
    """torch's cell, with the products done already: identities as weights."""
    gates = x + h + (0 if one is None else one + other)
    i, f, g, o = gates.chunk(4, 1)
    kept = torch.cat([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()], 1)
    eye = torch.eye(gates.shape[1], dtype=gates.dtype)
    hidden = torch.zeros(len(x), c.shape[1], dtype=gates.dtype)
    hy, cy = torch.lstm_cell(gates, (hidden, c), eye, torch.zeros(gates.shape[1], c.shape[1], dtype=gates.dtype))
    return hy, cy, kept


case(
    "aclnnThnnFusedLstmCell",
    lambda m: (m.x(2, 12), m.x(2, 12), m.x(2, 3), m.x(12), m.x(12), OUT, OUT, OUT),
    _lstm,
    ("float32", "float16"),
)
variant(
    "aclnnThnnFusedLstmCell",
    lambda m: (m.x(2, 12), m.x(2, 12), m.x(2, 3), None, None, OUT, OUT, OUT),
    _lstm,
)


def _lstm_state(m: Maker, wants: tuple[bool, bool] = (True, True)) -> Any:
    gates, c = (torch.from_numpy(each.astype("float64")) for each in (m.x(2, 12), m.x(2, 3)))
    _, cy, kept = _lstm(gates, torch.zeros_like(gates), c)
    grads = [m.x(2, 3) if wanted else None for wanted in wants]
    return (*grads, *(each.numpy().astype(m.dtype) for each in (c, cy, kept)), True, OUT, OUT, OUT)


def _lstm_gradients(dh: Any, dc: Any, c: Any, cy: Any, kept: Any, has_bias: bool) -> Any:
    """By the values of the gates, of which the inputs follow."""
    i, f, g, o = kept.detach().chunk(4, 1)
    gates = torch.cat([i.logit(), f.logit(), g.atanh(), o.logit()], 1).requires_grad_()
    cell = c.detach().requires_grad_()
    results = _lstm(gates, torch.zeros_like(gates), cell)[:2]
    pairs = [(own, grad) for own, grad in zip(results, (dh, dc)) if grad is not None]
    own, grads = zip(*pairs)
    of_gates, of_cell = torch.autograd.grad(own, (gates, cell), grads)
    return of_gates, of_cell, of_gates.sum(0)


case("aclnnThnnFusedLstmCellBackward", _lstm_state, _lstm_gradients, ("float32",))
for _wants in ((True, False), (False, True)):
    variant("aclnnThnnFusedLstmCellBackward", lambda m, w=_wants: _lstm_state(m, w), _lstm_gradients)

# -------------------- CTC --------------------

_TIMES, _LENGTHS = (6, 5, 4), (2, 3, 1)
_TARGETS = np.array([[1, 2, 0], [3, 3, 1], [2, 0, 0]])
_JOINED = np.array([1, 2, 3, 3, 1, 2])


def _scores(m: Maker) -> np.ndarray:
    x = m.x(6, 3, 5).astype("float64")
    return (x - np.log(np.exp(x).sum(2, keepdims=True))).astype(m.dtype)


def _losses(x: Any, targets: Any, times: Any, lengths: Any, blank: int, zero: bool, room: Any) -> Any:
    """A2 and A3 have room for eight states where there are seven, and leave the eighth as it was."""
    losses, alpha = torch.ops.aten._ctc_loss(x, targets, list(times), list(lengths), blank)
    room[:, :, : alpha.shape[2]] = alpha
    return torch.where(losses.isinf(), 0, losses) if zero else losses


def _ctc(targets: np.ndarray, blank: int = 0, zero: bool = False) -> Any:
    """Sequences of equal lengths: torch leaves the other times and states as they were."""
    return lambda m: (_scores(m), targets, (6, 6, 6), (3, 3, 3), blank, zero, OUT, np.zeros((3, 6, 8), m.dtype))


_FULL = np.array([[1, 2, 4], [3, 3, 1], [2, 2, 2]])
case("aclnnCtcLoss", _ctc(_FULL), _losses, ("float32", "float64"))
variant("aclnnCtcLoss", _ctc(_FULL.reshape(-1).astype("int32")), _losses)
variant("aclnnCtcLoss", _ctc(_FULL % 4, 4), _losses)


def sequences() -> tuple[Any, ...]:
    """Log-probabilities, targets, and lengths of both."""
    return _scores(Maker("float64", "sequences")), _TARGETS, list(_TIMES), list(_LENGTHS)


def _ctc_backward(targets: np.ndarray, zero: bool = False) -> Any:
    def build(m: Maker) -> Any:
        scores = _scores(m)
        saved = torch.ops.aten._ctc_loss(torch.from_numpy(scores).double(), torch.from_numpy(targets), _TIMES, _LENGTHS)
        with np.errstate(over="ignore"):  # what lies behind the end of a sequence is whatever was in the memory
            kept = [each.numpy().astype(m.dtype) for each in saved]
        return m.x(3), scores, targets, _TIMES, _LENGTHS, *kept, 0, zero, OUT

    return build


def _ctc_gradient(g: Any, x: Any, targets: Any, times: Any, lengths: Any, *saved: Any) -> Any:
    rest = saved[2:]
    own = torch.ops.aten._ctc_loss(x, targets, list(times), list(lengths), rest[0])
    return torch.ops.aten._ctc_loss_backward(g, x, targets, list(times), list(lengths), *own, *rest)


case("aclnnCtcLossBackward", _ctc_backward(_TARGETS), _ctc_gradient, ("float32", "float64"))
variant("aclnnCtcLossBackward", _ctc_backward(_JOINED), _ctc_gradient)

# -------------------- images --------------------

resize("Bilinear2dAA", 2, "bilinear", 2, False, antialias=True)
resize("Bicubic2dAA", 2, "bicubic", 2, False, "Bicubic2dAAGrad", antialias=True)

# -------------------- single functions --------------------

case(
    "aclnnUnfoldGrad",
    lambda m: (m.x(2, 3, 4, 3), (2, 3, 9), 2, 3, 2, OUT),
    lambda g, sizes, *rest: torch.ops.aten.unfold_backward(g, list(sizes), *rest),
)
variant(
    "aclnnUnfoldGrad",
    lambda m: (m.x(2, 4, 3, 3), (2, 9, 3), 1, 3, 2, OUT),
    lambda g, sizes, *rest: torch.ops.aten.unfold_backward(g, list(sizes), *rest),
)
case("aclnnXlog1py", lambda m: (m.x(3, 1), m.part(3, 4), OUT), torch.special.xlog1py)
variant(
    "aclnnXlog1py",
    lambda m: (np.array([0.0, 0, 2, 0], m.dtype), np.array([-1, np.nan, np.nan, 3], m.dtype), OUT),
    torch.special.xlog1py,
)


def _quantized(x: Any, scale: Any, zero: Any, axis: int, low: int, high: int) -> Any:
    found = torch.fake_quantize_per_channel_affine(x.float(), scale.float(), zero.int(), axis, low, high)
    places = torch.round(x.double() / scale.double().reshape(-1, 1)) + zero.reshape(-1, 1)
    return found, (places >= low) & (places <= high)


case(
    "aclnnFakeQuantPerChannelAffineCachemask",
    lambda m: (m.x(3, 8), np.array([0.25, 0.5, 0.125], m.dtype), np.array([1, -2, 0], "int32"), 0, -4, 5, OUT, OUT),
    _quantized,
    ("float32",),
)
