"""More cases for ops of the simulated NPU that compute different things by their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.parity.npu.cases import NUMBERS, OUT, Maker, code, geglu, gradients
from tests.parity.npu.nn_cases import _MASK, _flash_arguments, _turned

VARIANTS: list[tuple[str, Callable[[Maker], Any], Callable[..., Any], str]] = []


def variant(name: str, build: Callable[[Maker], Any], function: Callable[..., Any], dtypes: Any = ("float32",)) -> None:
    """Adds a case."""
    VARIANTS.extend((name, build, function, dtype) for dtype in dtypes)


for _mode, _rounding in enumerate((None, "trunc", "floor")):
    variant(
        "aclnnDivMod",
        lambda m, mode=_mode: (m.x(3, 4), m.above(4), mode, OUT),
        lambda x, y, mode, r=_rounding: torch.div(x, y, rounding_mode=r),
        NUMBERS,
    )
for _mode in (0, 1):
    _words = ("none", "tanh")[_mode]
    variant("aclnnGeluV2", lambda m, a=_mode: (m.x(3, 4), a, OUT), lambda x, a, w=_words: F.gelu(x, approximate=w))
    variant(
        "aclnnGeluBackwardV2",
        lambda m, w=_words: (m.x(3, 4), m.x(3, 4), w, OUT),
        lambda g, x, w: torch.ops.aten.gelu_backward(g, x, approximate=w),
    )
variant("aclnnGeGluV3", lambda m: (m.x(4, 6), 0, 0, False, OUT, OUT), lambda x, d, a, left: geglu(x, d, left))
variant(
    "aclnnEluBackward",
    lambda m: (m.x(3, 4), 1.5, 1.2, 0.7, True, m.x(3, 4), OUT),
    lambda g, a, s, i, is_result, y: torch.ops.aten.elu_backward(g, a, s, i, is_result, y),
)
variant("aclnnClamp", lambda m: (m.x(3, 4), None, 1, OUT), lambda x, low, high: torch.clamp(x, low, high), NUMBERS)
variant("aclnnClamp", lambda m: (m.x(3, 4), 2, -2, OUT), torch.clamp, NUMBERS)
variant("aclnnLogit", lambda m: (m.part(3, 4), -1.0, OUT), lambda x, eps: torch.logit(x))
variant("aclnnPowTensorScalar", lambda m: (m.x(3, 4), 2.5, OUT), torch.pow, ("int64", "float32"))
variant(
    "aclnnAdd",
    lambda m: (m.x(3, 4), m.x(4).astype("float32"), 2, OUT),
    lambda x, y, a: torch.add(x, y.float(), alpha=a),
    ("int32",),
)
variant(
    "aclnnSWhere",
    lambda m: (m.mask(3, 4), m.x(3, 4), m.x(4).astype("float32"), OUT),
    lambda c, x, y: torch.where(c, x, y.float()),
    ("int64",),
)

# The outcomes of sorting, of equal values and of NaN.
_TIES = np.array([[3.0, 1, 3, np.nan], [2, 2, 1, 1], [np.nan, 5, np.nan, 5]], "f4")
for _largest in (False, True):
    variant(
        "aclnnSort",
        lambda m, d=_largest: (_TIES.copy(), True, 1, d, OUT, OUT),
        lambda x, s, d, r: torch.sort(x, stable=s, dim=d, descending=r),
    )
for _name in ("max", "min"):
    variant(f"aclnn{_name.capitalize()}Dim", lambda m: (_TIES.copy(), 1, False, OUT, OUT), getattr(torch, _name))
    variant(f"aclnnCum{_name}", lambda m: (_TIES.copy(), 1, OUT, OUT), getattr(torch, f"cum{_name}"))
variant("aclnnMedianDim", lambda m: (_TIES[:2].copy(), 1, True, OUT, OUT), lambda x, d, k: torch.median(x, d, k))
variant("aclnnNanMedian", lambda m: (_TIES.copy(), OUT), torch.nanmedian)
variant("aclnnAmax", lambda m: (m.x(), (), True, OUT), lambda x, d, k: x)
variant("aclnnReduceSum", lambda m: (m.x(), (), False, code(m), OUT), lambda x, d, k, t: x, ("float32", "int64"))
variant(
    "aclnnReduceSum",
    lambda m: (m.x(3, 0), (1,), False, code(m), OUT),
    lambda x, d, k, t: x.sum(d),
    ("float32", "int64"),
)
variant("aclnnCumsum", lambda m: (m.x(), 0, code(m), OUT), lambda x, d, t: x, ("float32", "int64"))
for _order in (0.0, 1.0, float("inf"), float("-inf")):
    variant(
        "aclnnLinalgVectorNorm",
        lambda m, p=_order: (m.x(3, 4), p, (1,), False, 0, OUT),
        lambda x, p, d, k, t: torch.linalg.vector_norm(x, p, d, k),
    )
variant("aclnnBincount", lambda m: (m.index(6, 10), m.x(10), 8, OUT), lambda x, w, n: torch.bincount(x, w, n))
variant("aclnnHistc", lambda m: (m.x(20), 5, 0, 0, OUT), lambda x, b, low, high: torch.histc(x, b))
variant(
    "aclnnSearchSorted",
    lambda m: _with_sorter(m.x(2, 6), m.x(2, 3)),
    lambda s, x, i, r, o: torch.searchsorted(s, x, out_int32=i, right=r, sorter=o),
)


def _with_sorter(sequence: np.ndarray, values: np.ndarray) -> Any:
    return sequence, values, True, True, np.argsort(sequence, 1), OUT


# Writing by index.
for _kind, _word in enumerate(("sum", "prod", "amax", "amin", "mean"), 1):
    for _own in (False, True):
        variant(
            "aclnnScatterReduce",
            lambda m, k=_kind, own=_own: (m.x(4, 5), 1, m.index(5, 3, 4), m.x(3, 4), k, own, OUT),
            lambda x, d, i, s, k, own, w=_word: x.scatter_reduce(d, i, s, w, include_self=own),
            ("float32", "int64"),
        )
for _kind, _word in ((1, "add"), (2, "multiply")):
    variant(
        "aclnnScatter",
        lambda m, k=_kind: (m.x(4, 5), 1, m.index(5, 3, 4), m.x(3, 4), k, OUT),
        lambda x, d, i, s, k, w=_word: x.scatter(d, i, s, reduce=w),
        NUMBERS,
    )
variant(
    "aclnnIndexPutImpl",
    lambda m: (m.x(4, 5), [np.empty(0, np.int64), np.array([0, 3])], m.x(4, 2), False, False),
    lambda x, i, v, a, u: _put_columns(x, i[1], v),
    NUMBERS,
)
variant("aclnnIndexSelect", lambda m: (m.x(), 0, np.array([0]), OUT), lambda x, d, i: x, NUMBERS)
variant("aclnnGather", lambda m: (m.x(), 0, np.array(0), OUT), lambda x, d, i: x, NUMBERS)
variant(
    "aclnnEmbeddingDenseBackward",
    lambda m: (m.x(2, 3, 4), m.index(5, 2, 3), 6, 2, False, OUT),
    torch.ops.aten.embedding_dense_backward,
)
variant("aclnnRoll", lambda m: (m.x(3, 4), (5,), (), OUT), lambda x, s, d: torch.roll(x, s))
variant("aclnnDiag", lambda m: (m.x(3, 4), -1, OUT), torch.diag)
variant(
    "aclnnCat",
    lambda m: ([m.x(0), m.x(2, 3), m.x(1, 3).astype("float32")], 0, OUT),
    lambda x, d: torch.cat([x[1], x[2].float()], d),
    ("int64",),
)


def _put_columns(x: torch.Tensor, columns: torch.Tensor, values: torch.Tensor) -> None:
    x[:, columns] = values


# Matrices and windows.
variant("aclnnMatmul", lambda m: (m.x(4), m.x(2, 4, 3), OUT, 0), lambda x, y, c: x @ y)
variant("aclnnMatmul", lambda m: (m.x(4), m.x(4), OUT, 0), lambda x, y, c: x @ y)
variant(
    "aclnnAddmm",
    lambda m: (np.full((3, 2), np.nan, m.dtype), m.x(3, 4), m.x(4, 2), 0, 1, OUT, 0),
    lambda x, a, b, beta, alpha, c: torch.addmm(x, a, b, beta=beta, alpha=alpha),
)
for _ceil in (False, True):
    for _include in (False, True):
        variant(
            "aclnnAvgPool2d",
            lambda m, c=_ceil, i=_include: (m.x(2, 6, 5), (3,), (2,), (1,), c, i, 0, 0, OUT),
            lambda x, k, s, p, c, i, d, cube: F.avg_pool2d(x, k, s, p, c, i),
        )
variant(
    "aclnnAvgPool2d",
    lambda m: (m.x(2, 6, 5), (2,), (), (0,), False, True, 3, 0, OUT),
    lambda x, k, s, p, c, i, d, cube: F.avg_pool2d(x, k, None, p, c, i, d),
)
variant(
    "aclnnMaxPool2dWithIndices",
    lambda m: (
        np.where(m.mask(2, 6, 5), np.nan, m.distinct(2, 6, 5)).astype("f4"),
        (2,),
        (),
        (1,),
        (1,),
        False,
        OUT,
        OUT,
    ),
    lambda x, k, s, p, d, c: F.max_pool2d(x, k, None, p, d, c, return_indices=True),
)

# Norms and losses.
variant(
    "aclnnLayerNorm",
    lambda m: (m.x(2, 3, 4), (4,), None, None, 0.01, OUT, None, None),
    lambda x, s, w, b, e, *_: F.layer_norm(x, s, eps=e),
)
variant(
    "aclnnBatchNorm",
    lambda m: (m.x(4, 3), None, None, m.x(3), m.above(3), False, 0.3, 0.01, OUT, None, None),
    lambda x, w, b, rm, rv, t, mo, e, *_: F.batch_norm(x, rm, rv, w, b, t, mo, e),
)
variant(
    "aclnnBatchNormBackward",
    lambda m: (m.x(4, 3), m.x(4, 3), m.x(3), m.x(3), m.above(3), None, None, False, 0.01, (True,) * 3, OUT, OUT, OUT),
    lambda g, x, w, rm, rv, *_: gradients(
        lambda x, w, b: F.batch_norm(x, rm, rv, w, b, False, 0, 0.01), g, x, w, torch.zeros_like(w)
    ),
)
_TARGETS = np.array([2, 0, 1, 2, 1], "int32")
for _reduction, _word in enumerate(("none", "mean", "sum")):
    variant(
        "aclnnMseLoss",
        lambda m, r=_reduction: (m.x(3, 4), m.x(4), r, OUT),
        lambda x, y, r, w=_word: F.mse_loss(x, y.expand(3, 4), reduction=w),
    )
    variant(
        "aclnnMseLossBackward",
        lambda m, r=_reduction: (m.x(3, 4), m.x(3, 4), m.x(3, 4), r, OUT),
        lambda g, x, y, r: torch.ops.aten.mse_loss_backward(g, x, y, r),
    )
    variant(
        "aclnnBinaryCrossEntropyBackward",
        lambda m, r=_reduction: (m.x(3, 4), m.part(3, 4), m.part(3, 4), m.part(3, 4), r, OUT),
        torch.ops.aten.binary_cross_entropy_backward,
    )
    variant(
        "aclnnNLLLossBackward",
        lambda m, r=_reduction: (
            m.x(5) if r == 0 else m.x(1),
            m.x(5, 3),
            _TARGETS.copy(),
            m.part(3),
            r,
            -100,
            m.above(1),
            OUT,
        ),
        lambda g, x, t, w, r, i, n: torch.ops.aten.nll_loss_backward(
            g if r == 0 else g.squeeze(), x, t.long(), w, r, i, n.squeeze()
        ),
    )
variant(
    "aclnnNLLLoss",
    lambda m: (m.x(5, 3), _TARGETS.copy(), m.part(3), 0, 0, OUT, None),
    lambda x, t, w, r, i, n: F.nll_loss(x, t.long(), w, ignore_index=i, reduction="none"),
)
variant(
    "aclnnKlDiv",
    lambda m: (m.x(3, 4), m.x(3, 4), 0, True, OUT),
    lambda x, y, r, log: F.kl_div(x, y, reduction="none", log_target=True),
)
variant(
    "aclnnSmoothL1Loss",
    lambda m: (m.x(3, 4), m.x(3, 4), 0, 0.0, OUT),
    lambda x, y, r, b: F.smooth_l1_loss(x, y, reduction="none", beta=b),
)
for _p in (0.0, 1.0, 2.0, float("inf")):
    variant("aclnnCdist", lambda m, p=_p: (m.x(3, 4), m.x(5, 4), p, 0, OUT), lambda x, y, p, c: torch.cdist(x, y, p))

# Images, by a factor that is not that of the sizes.
for _name, _mode, _align in (
    ("Bilinear2d", "bilinear", True),
    ("Bicubic2d", "bicubic", True),
    ("Bicubic2d", "bicubic", False),
):
    variant(
        f"aclnnUpsample{_name}",
        lambda m, a=_align: (m.x(2, 3, 5, 4), (3, 9), a, 0.0, 0.0, OUT),
        lambda x, s, a, *_, n=_mode: F.interpolate(x, s, mode=n, align_corners=a),
    )
variant(
    "aclnnUpsampleBilinear2d",
    lambda m: (m.x(2, 3, 5, 4), (12, 9), False, 2.4, 2.4, OUT),
    lambda x, s, a, *_: F.interpolate(x, scale_factor=2.4, mode="bilinear"),
)

# Attention in each layout, with each kind of mask.
_COMPRESSED = np.triu(np.ones((2048, 2048), bool), 1)
for _layout in ("BSH", "SBH", "BSND", "BNSD"):
    for _sparse in (0, 1, 2, 3):

        def _arguments(m: Maker, layout: str = _layout, sparse: int = _sparse) -> Any:
            mask = (None, _MASK, _COMPRESSED, _COMPRESSED)[sparse]
            moved = (_laid_out(each, layout) for each in _flash_arguments(m))
            return *moved, None, None, None, mask, None, 0.4, 1.0, 1, 1, 4, layout, 0, sparse, OUT, OUT, None, OUT

        def _expected(
            q: Any,
            k: Any,
            v: Any,
            pse: Any,
            drop: Any,
            pad: Any,
            mask: Any,
            *rest: Any,
            layout: str = _layout,
            sparse: int = _sparse,
        ) -> Any:
            q, k, v = (_as_heads(each, layout, n) for each, n in ((q, 4), (k, 2), (v, 2)))
            rows, columns = torch.arange(3)[:, None], torch.arange(5)
            hidden = {
                0: torch.zeros(3, 5, dtype=torch.bool), 1: mask, 2: columns > rows, 3: columns > rows + 2,
            }[sparse]  # fmt: skip
            scores = (0.4 * q @ k.repeat_interleave(2, 1).mT).masked_fill(hidden, -torch.inf)
            top = scores.amax(-1, keepdim=True)
            total = (scores - top).exp().sum(-1, keepdim=True)
            out = scores.softmax(-1) @ v.repeat_interleave(2, 1)
            return top.repeat(1, 1, 1, 8).float(), total.repeat(1, 1, 1, 8).float(), _from_heads(out, layout)

        variant("aclnnFlashAttentionScore", _arguments, _expected)


def _laid_out(x: np.ndarray, layout: str) -> np.ndarray:
    return np.ascontiguousarray(_from_heads(torch.from_numpy(x), layout).numpy())


def _from_heads(x: torch.Tensor, layout: str) -> torch.Tensor:
    order = {"BNSD": "bnsd", "BSND": "bsnd", "BSH": "bsnd", "SBH": "sbnd"}[layout]
    moved = torch.einsum(f"bnsd->{order}", x)
    return moved.flatten(2) if layout in ("BSH", "SBH") else moved


def _as_heads(x: torch.Tensor, layout: str, heads: int) -> torch.Tensor:
    order = {"BNSD": "bnsd", "BSND": "bsnd", "BSH": "bsnd", "SBH": "sbnd"}[layout]
    return torch.einsum(f"{order}->bnsd", x.unflatten(2, (heads, -1)) if x.ndim == 3 else x)


variant(
    "aclnnRotaryPositionEmbedding",
    lambda m: (m.x(2, 3, 4, 6), m.x(2, 1, 1, 6), m.x(2, 1, 1, 6), 0, OUT),
    lambda x, c, s, mode: x * c + _turned(x, mode) * s,
)
