"""The rest of the cases of `npu_cases`: windows, norms, losses, new numbers, images, optimizers and attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.npu_simulator.evaluate.creation import mask_size
from tests.parity.npu.cases import CASES, FLOATS, OUT, Maker, case, gradients

# -------------------- windows --------------------


def _conv(x: Any, w: Any, b: Any, s: Any, p: Any, d: Any, transposed: bool, op: Any, g: int) -> torch.Tensor:
    return torch.convolution(x, w, b, s, p, d, transposed, op, g)


case(
    "aclnnConvolution",
    lambda m: (m.x(2, 4, 7, 6), m.x(6, 2, 3, 2), m.x(6), (2, 1), (1, 0), (1, 2), False, (0, 0), 2, OUT, 0),
    lambda *a: _conv(*a[:9]),
)
case(
    "aclnnConvolutionBackward",
    lambda m: (
        m.x(2, 6, 4, 4),
        m.x(2, 4, 7, 6),
        m.x(6, 2, 3, 2),
        (6,),
        (2, 1),
        (1, 0),
        (1, 2),
        False,
        (0, 0),
        2,
        (True,) * 3,
        0,
        OUT,
        OUT,
        OUT,
    ),
    lambda g, x, w, bias, *a: torch.ops.aten.convolution_backward(g, x, w, list(bias), *map(_plain, a[:7])),
)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# The same with other sizes: rank 1 and 3, transposed.
MORE_CONVOLUTIONS = [
    (lambda m: (m.x(2, 4, 9), m.x(4, 1, 3), None, (2,), (1,), (1,), False, (0,), 4, OUT, 0)),
    (
        lambda m: (
            m.x(1, 2, 4, 5, 4),
            m.x(3, 2, 2, 3, 2),
            m.x(3),
            (1, 2, 1),
            (0, 1, 1),
            (1, 1, 2),
            False,
            (0, 0, 0),
            1,
            OUT,
            0,
        )
    ),
    (lambda m: (m.x(2, 4, 5, 4), m.x(4, 3, 3, 2), m.x(6), (2, 1), (1, 0), (1, 2), True, (1, 0), 2, OUT, 0)),
    (lambda m: (m.x(2, 4, 5), m.x(4, 3, 3), None, (3,), (2,), (1,), True, (2,), 1, OUT, 0)),
]

_POOL = ((3, 2), (2, 1), (1, 0))
case(
    "aclnnMaxPool2dWithIndices",
    lambda m: (m.distinct(1, 2, 7, 6), *_POOL, (1, 2), True, OUT, OUT),
    lambda x, k, s, p, d, c: F.max_pool2d(x, k, s, p, d, c, return_indices=True),
)
case(
    "aclnnMaxPool3dWithArgmax",
    lambda m: (m.distinct(1, 1, 5, 4, 6), (2, 2, 3), (2, 1, 2), (1, 0, 1), (1, 1, 1), False, OUT, OUT),
    lambda x, k, s, p, d, c: F.max_pool3d(x, k, s, p, d, c, return_indices=True),
    ("float32",),
)


def _pool_backward(m: Maker) -> Any:
    x = m.distinct(1, 2, 7, 6)
    _, found = F.max_pool2d(torch.from_numpy(x.astype("f8")), *_POOL, (1, 2), True, return_indices=True)
    return m.x(*found.shape), x, found.numpy(), *_POOL, (1, 2), True, OUT


case(
    "aclnnMaxPool2dWithIndicesBackward",
    _pool_backward,
    lambda g, x, i, k, s, p, d, c: gradients(lambda x: F.max_pool2d(x, k, s, p, d, c), g, x)[0],
)


def _pool3d_backward(m: Maker) -> Any:
    x = m.distinct(1, 1, 5, 4, 6)
    sizes = (2, 2, 3), (2, 1, 2), (1, 0, 1), (1, 1, 1), False
    _, found = F.max_pool3d(torch.from_numpy(x.astype("f8")), *sizes, return_indices=True)
    return m.x(*found.shape), x, found.numpy(), *sizes, OUT


case(
    "aclnnMaxPool3dWithArgmaxBackward",
    _pool3d_backward,
    lambda g, x, i, k, s, p, d, c: gradients(lambda x: F.max_pool3d(x, k, s, p, d, c), g, x)[0],
    ("float32",),
)
_AVERAGE = ((3, 2), (2, 1), (1, 0), True, False)
case(
    "aclnnAvgPool2d",
    lambda m: (m.x(1, 2, 7, 6), *_AVERAGE, 0, 0, OUT),
    lambda x, k, s, p, c, i, d, cube: F.avg_pool2d(x, k, s, p, c, i),
)
case(
    "aclnnAvgPool2dBackward",
    lambda m: (m.x(1, 2, 4, 5), m.x(1, 2, 7, 6), *_AVERAGE, 5, 0, OUT),
    lambda g, x, k, s, p, c, i, d, cube: gradients(lambda x: F.avg_pool2d(x, k, s, p, c, i, d), g, x)[0],
)
_AVERAGE3 = ((2, 2, 3), (2, 1, 2), (1, 0, 1), False, True)
case(
    "aclnnAvgPool3d",
    lambda m: (m.x(1, 2, 5, 4, 6), *_AVERAGE3, 0, OUT),
    lambda x, k, s, p, c, i, d: F.avg_pool3d(x, k, s, p, c, i),
)
case(
    "aclnnAvgPool3dBackward",
    lambda m: (m.x(1, 2, 3, 3, 3), m.x(1, 2, 5, 4, 6), *_AVERAGE3, 0, OUT),
    lambda g, x, k, s, p, c, i, d: gradients(lambda x: F.avg_pool3d(x, k, s, p, c, i), g, x)[0],
)
for _rank, _shape, _size in ((2, (2, 3, 7, 5), (3, 2)), (3, (1, 2, 5, 4, 3), (2, 3, 2))):
    _average, _maximum = (getattr(F, f"adaptive_{kind}_pool{_rank}d") for kind in ("avg", "max"))
    case(f"aclnnAdaptiveAvgPool{_rank}d", lambda m, s=_shape, z=_size: (m.x(*s), z, OUT), _average)
    case(
        f"aclnnAdaptiveAvgPool{_rank}dBackward",
        lambda m, s=_shape, z=_size: (m.x(*s[:2], *z), m.x(*s), OUT),
        lambda g, x, f=_average, z=_size: gradients(lambda x: f(x, z), g, x)[0],
    )
    case(
        f"aclnnAdaptiveMaxPool{_rank}d",
        lambda m, s=_shape, z=_size: (m.x(*s), z, OUT, OUT),
        lambda x, z, f=_maximum: f(x, z, return_indices=True),
    )

    def _adaptive_backward(m: Maker, s: Any = _shape, z: Any = _size, f: Any = _maximum) -> Any:
        x = m.x(*s)
        return m.x(*s[:2], *z), x, f(torch.from_numpy(x.astype("f8")), z, return_indices=True)[1].numpy(), OUT

    case(
        f"aclnnAdaptiveMaxPool{_rank}dBackward",
        _adaptive_backward,
        lambda g, x, i, f=_maximum, z=_size: gradients(lambda x: f(x, z), g, x)[0],
    )


def _places(m: Maker) -> np.ndarray:
    return np.stack([m.random.permutation(20)[:6] for _ in range(2)]).reshape(1, 2, 2, 3)


case(
    "aclnnMaxUnpool2d",
    lambda m: (m.x(1, 2, 2, 3), _places(m), (4, 5), OUT),
    lambda x, i, s: torch.ops.aten.max_unpool2d(x, i, s),
)
case(
    "aclnnMaxUnpool2dBackward",
    lambda m: (m.x(1, 2, 4, 5), m.x(1, 2, 2, 3), _places(m), (4, 5), OUT),
    lambda g, x, i, s: gradients(lambda x: torch.ops.aten.max_unpool2d(x, i, s), g, x)[0],
)


def _places3d(m: Maker) -> np.ndarray:
    return np.stack([m.random.permutation(24)[:8] for _ in range(2)]).reshape(1, 2, 2, 2, 2)


_UNPOOL3D = ((2, 3, 4), (1, 1, 1), (0, 0, 0))
case(
    "aclnnMaxUnpool3d",
    lambda m: (m.x(1, 2, 2, 2, 2), _places3d(m), *_UNPOOL3D, OUT),
    torch.ops.aten.max_unpool3d,
)
case(
    "aclnnMaxUnpool3dBackward",
    lambda m: (m.x(1, 2, 2, 3, 4), m.x(1, 2, 2, 2, 2), _places3d(m), *_UNPOOL3D, OUT),
    lambda g, x, i, *sizes: gradients(lambda x: torch.ops.aten.max_unpool3d(x, i, *sizes), g, x)[0],
)
case(
    "aclnnIm2col",
    lambda m: (m.x(2, 3, 6, 5), (3, 2), (1, 2), (1, 0), (2, 1), OUT),
    lambda x, k, d, p, s: F.unfold(x, k, d, p, s),
)
case(
    "aclnnIm2colBackward",
    lambda m: (m.x(2, 18, 9), (6, 5), (3, 2), (1, 2), (1, 0), (2, 1), OUT),
    lambda x, o, k, d, p, s: F.fold(x, o, k, d, p, s),
)

# -------------------- norms --------------------


def _layer_norm(x: Any, s: Any, w: Any, b: Any, eps: float) -> Any:
    return torch.ops.aten.native_layer_norm(x, list(s), w, b, eps)


case("aclnnLayerNorm", lambda m: (m.x(2, 3, 4), (3, 4), m.x(3, 4), m.x(3, 4), 0.01, OUT, OUT, OUT), _layer_norm)


def _statistics(x: np.ndarray, dims: tuple[int, ...], eps: float) -> tuple[np.ndarray, np.ndarray]:
    wide = x.astype("f8")
    scale = 1 / np.sqrt(wide.var(dims, keepdims=True) + eps)
    return wide.mean(dims, keepdims=True).astype("f4"), scale.astype("f4")


def _layer_norm_backward(m: Maker) -> Any:
    x = m.x(2, 3, 4)
    return m.x(2, 3, 4), x, (3, 4), *_statistics(x, (1, 2), 0.01), m.x(3, 4), m.x(3, 4), (True,) * 3, OUT, OUT, OUT


case(
    "aclnnLayerNormBackward",
    _layer_norm_backward,
    lambda g, x, s, m, r, w, b, k: gradients(lambda x, w, b: F.layer_norm(x, s, w, b, 0.01), g, x, w, b),
)


def _rms_norm(x: torch.Tensor, gamma: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    scale = (x.square().mean(-1, keepdim=True) + eps).rsqrt()
    return F.rms_norm(x, gamma.shape, gamma, eps), scale.float()


case("aclnnRmsNorm", lambda m: (m.x(2, 3, 4), m.x(4), 1e-3, OUT, OUT), _rms_norm)
case(
    "aclnnRmsNormGrad",
    lambda m: _rms_grad_arguments(m),
    lambda g, x, r, w: _with_float32(gradients(lambda x, w: F.rms_norm(x, w.shape, w, 1e-3), g, x, w)),
)
case(
    "aclnnAddRmsNorm",
    lambda m: (m.x(2, 3, 4), m.x(2, 3, 4), m.x(4), 1e-3, OUT, OUT, OUT),
    lambda a, b, w, e: (*_rms_norm(a + b, w, e), a + b),
    ("float32",),
)


def _rms_grad_arguments(m: Maker) -> Any:
    x = m.x(2, 3, 4)
    scale = 1 / np.sqrt((x.astype("f8") ** 2).mean(-1, keepdims=True) + 1e-3)
    return m.x(2, 3, 4), x, scale.astype("f4"), m.x(4), OUT, OUT


def _with_float32(found: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    return found[0], found[1].float()


case(
    "aclnnGroupNorm",
    lambda m: (m.x(2, 4, 3, 2), m.x(4), m.x(4), 2, 4, 6, 2, 0.01, OUT, OUT, OUT),
    lambda x, w, b, n, c, hw, g, e: torch.ops.aten.native_group_norm(x, w, b, n, c, hw, g, e),
)


def _group_norm_backward(m: Maker) -> Any:
    x = m.x(2, 4, 3, 2)
    mean, scale = (each.reshape(2, 2) for each in _statistics(x.reshape(2, 2, -1), (2,), 0.01))
    return m.x(2, 4, 3, 2), x, mean, scale, m.x(4), 2, 4, 6, 2, (True,) * 3, OUT, OUT, OUT


case(
    "aclnnGroupNormBackward",
    _group_norm_backward,
    lambda g, x, m, r, w, *_: gradients(lambda x, w, b: F.group_norm(x, 2, w, b, 0.01), g, x, w, torch.zeros_like(w)),
)


def _batch_norm(x: Any, w: Any, b: Any, rm: Any, rv: Any, t: bool, mo: float, e: float) -> Any:
    """A2 and A3 save the variance in the place of the reciprocal deviation."""
    result, mean, invstd = torch.ops.aten.native_batch_norm(x, w, b, rm, rv, t, mo, e)
    return result, mean, invstd**-2 - e


case(
    "aclnnBatchNorm",
    lambda m: (m.x(4, 3, 2), m.x(3), m.x(3), m.x(3), m.above(3), True, 0.3, 0.01, OUT, OUT, OUT),
    _batch_norm,
)


def _batch_norm_backward(m: Maker) -> Any:
    x = m.x(4, 3, 2)
    mean, invstd = (each.reshape(3) for each in _statistics(x, (0, 2), 0.01))
    kept = (each.astype(m.dtype) for each in (mean, invstd.astype("f8") ** -2 - 0.01))
    return m.x(4, 3, 2), x, m.x(3), m.x(3), m.above(3), *kept, True, 0.01, (True,) * 3, OUT, OUT, OUT


case(
    "aclnnBatchNormBackward",
    _batch_norm_backward,
    lambda g, x, w, rm, rv, *_: gradients(
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0, 0.01), g, x, w, torch.zeros_like(w)
    ),
    ("float32",),
)

case(
    "aclnnGroupNormSilu",
    lambda m: (m.x(2, 4, 3, 2), m.x(4), m.x(4), 2, 0.01, OUT, OUT, OUT),
    lambda x, w, b, g, e: _silu_first(torch.ops.aten.native_group_norm(x, w, b, 2, 4, 6, g, e)),
)


def _silu_first(found: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return F.silu(found[0]), *found[1:]


# -------------------- losses --------------------

WORDS = ("none", "mean", "sum")


def loss(name: str, function: Callable[..., torch.Tensor], *numbers: Any, positive: bool = False) -> None:
    """A loss and its gradient, by torch's function with keyword `reduction`."""
    make = "part" if positive else "x"

    def build(m: Maker) -> Any:
        return getattr(m, make)(3, 4), getattr(m, make)(3, 4), 2 if positive else 1, *numbers, OUT

    case(f"aclnn{name}", build, lambda x, y, r, *n: function(x, y, *n, reduction=WORDS[r]))
    if f"aclnn{name}" == "aclnnKlDiv":
        return
    case(
        f"aclnn{name}Backward",
        lambda m: (m.x(3, 4), *(build(m)[:2]), 0, *numbers, OUT),
        lambda g, x, y, r, *n: gradients(lambda x: function(x, y, *n, reduction=WORDS[r]), g, x)[0],
    )


loss("MseLoss", F.mse_loss)
loss("L1Loss", F.l1_loss)
loss("SmoothL1Loss", lambda x, y, beta, reduction: F.smooth_l1_loss(x, y, reduction=reduction, beta=beta), 0.5)
loss("SoftMarginLoss", F.soft_margin_loss)
loss("KlDiv", lambda x, y, log, reduction: F.kl_div(x, y, reduction=reduction, log_target=log), False, positive=True)
case(
    "aclnnKlDivBackward",
    lambda m: (m.x(), m.x(3, 4), m.part(3, 4), 1, False, OUT),
    lambda g, x, y, r, log: gradients(lambda x: F.kl_div(x, y, reduction="none").mean(), g, x)[0],
)
case(
    "aclnnBinaryCrossEntropy",
    lambda m: (m.part(3, 4), m.part(3, 4), m.part(3, 4), 1, OUT),
    lambda x, y, w, r: F.binary_cross_entropy(x, y, w, reduction=WORDS[r]),
)
case(
    "aclnnBinaryCrossEntropyBackward",
    lambda m: (m.x(), m.part(3, 4), m.part(3, 4), None, 1, OUT),
    lambda g, x, y, w, r: gradients(lambda x: F.binary_cross_entropy(x, y), g, x)[0],
)
case(
    "aclnnBinaryCrossEntropyWithLogits",
    lambda m: (m.x(3, 4), m.part(3, 4), m.part(4), m.above(4), 2, OUT),
    lambda x, y, w, p, r: F.binary_cross_entropy_with_logits(x, y, w, pos_weight=p, reduction=WORDS[r]),
)
case(
    "aclnnBinaryCrossEntropyWithLogitsBackward",
    lambda m: (m.x(), m.x(3, 4), m.part(3, 4), m.part(4), m.above(4), 1, OUT),
    lambda g, x, y, w, p, r: gradients(lambda x: F.binary_cross_entropy_with_logits(x, y, w, pos_weight=p), g, x)[0],
)
_TARGET = np.array([2, 0, 1, 2, 1])
case(
    "aclnnNLLLoss",
    lambda m: (m.x(5, 3), _TARGET.copy(), m.part(3), 1, 1, OUT, OUT),
    lambda x, t, w, r, i: torch.ops.aten.nll_loss_forward(x, t, w, r, i),
)
case(
    "aclnnNLLLossBackward",
    lambda m: _nll_backward(m, (5, 3), _TARGET.copy()),
    lambda g, x, t, w, r, i, n: gradients(lambda x: F.nll_loss(x, t, w, ignore_index=i), g, x)[0],
)
case(
    "aclnnNLLLoss2d",
    lambda m: (m.x(1, 3, 1, 5), _TARGET.reshape(1, 1, 5).copy(), m.part(3), 2, 1, OUT, OUT),
    lambda x, t, w, r, i: torch.ops.aten.nll_loss2d_forward(x, t, w, r, i),
)
case(
    "aclnnNLLLoss2dBackward",
    lambda m: _nll_backward(m, (1, 3, 1, 5), _TARGET.reshape(1, 1, 5).copy()),
    lambda g, x, t, w, r, i, n: gradients(lambda x: F.nll_loss(x, t, w, ignore_index=i), g, x)[0],
)


def _nll_backward(m: Maker, shape: tuple[int, ...], target: np.ndarray) -> Any:
    weight = m.part(3)
    total = weight.astype("f8")[target[target != 1]].sum()
    return m.x(), m.x(*shape), target, weight, 1, 1, np.array(total, m.dtype), OUT


case("aclnnCdist", lambda m: (m.x(2, 3, 4), m.x(2, 5, 4), 3.0, 0, OUT), lambda x, y, p, c: torch.cdist(x, y, p))
for _name in ("aclnnPdist", "aclnnPdistForward"):
    case(_name, lambda m: (m.x(4, 3), 3.0, OUT), F.pdist)
case("aclnnRenorm", lambda m: (m.x(3, 4), 2.0, 0, 1.0, OUT), torch.renorm)

# -------------------- new numbers --------------------

case("aclnnArange", lambda m: (1, 8, 2, OUT), lambda a, b, s: torch.arange(a, b, s), ("int64",))
case("aclnnRange", lambda m: (1.0, 8.0, 2.5, OUT), lambda a, b, s: torch.arange(a, b + s / 2, s), ("float32",))
case("aclnnLinspace", lambda m: (1.0, 8.0, 5, OUT), torch.linspace, ("float32",))
case("aclnnLogSpace", lambda m: (0.0, 3.0, 4, 2.0, OUT), torch.logspace, ("float32",))
case("aclnnEye", lambda m: (3, 4, OUT), lambda n, m: torch.eye(n, m), ("float32",))
case("aclnnInplaceZero", lambda m: (m.x(3, 4),), torch.zero_, (*FLOATS, "int64", "bool"))
case("aclnnInplaceOne", lambda m: (m.x(3, 4),), lambda x: x.fill_(1), (*FLOATS, "int64", "bool"))
case("aclnnInplaceFillScalar", lambda m: (m.x(3, 4), 2.5), lambda x, v: x.fill_(v), (*FLOATS, "int64", "bool"))
case("aclnnInplaceFillTensor", lambda m: (m.x(3, 4), m.x()), lambda x, v: x.fill_(v))
case("aclnnInplaceFillDiagonal", lambda m: (m.x(5, 3), 7.0, False), lambda x, v, w: x.fill_diagonal_(v, w))
case(
    "aclnnOneHot",
    lambda m: (m.index(4, 2, 3), 4, np.array([5], m.dtype), np.array([2], m.dtype), -1, OUT),
    lambda x, n, on, off, a: F.one_hot(x, n) * (on - off) + off,
)
_BITS = np.packbits(np.arange(128) % 3 == 0, bitorder="little")
_KEPT = (torch.arange(12) % 3 == 0).reshape(3, 4)
case("aclnnDropoutDoMask", lambda m: (m.x(3, 4), _BITS.copy(), 0.25, OUT), lambda x, k, p: x * _KEPT / (1 - p))
for _name in ("aclnnDropoutBackward", "aclnnDropoutV3Grad"):
    case(_name, lambda m: (m.x(3, 4), _BITS.copy(), 2.0, OUT), lambda g, k, s: g * _KEPT * s)

# Each a seed and an offset; a sample has to look like what it is of.
RANDOM: dict[str, tuple[Callable[[np.ndarray], tuple[Any, ...]], Callable[[np.ndarray], bool]]] = {
    "aclnnInplaceUniform": (
        lambda o: (o, -1.0, 3.0, 7, 0),
        lambda v: v.min() >= -1 and v.max() < 3 and abs(v.mean() - 1) < 0.1,
    ),
    "aclnnInplaceNormal": (lambda o: (o, 2.0, 3.0, 7, 0), lambda v: abs(v.mean() - 2) < 0.2 and abs(v.std() - 3) < 0.2),
    "aclnnNormalFloatFloat": (
        lambda o: (2.0, 3.0, 7, 0, o),
        lambda v: abs(v.mean() - 2) < 0.2 and abs(v.std() - 3) < 0.2,
    ),
    "aclnnNormalFloatTensor": (lambda o: (2.0, np.full_like(o, 3), 7, 0, o), lambda v: abs(v.std() - 3) < 0.2),
    "aclnnNormalTensorFloat": (lambda o: (np.full_like(o, 2), 3.0, 7, 0, o), lambda v: abs(v.mean() - 2) < 0.2),
    "aclnnNormalTensorTensor": (
        lambda o: (np.full_like(o, 2), np.full_like(o, 3), 7, 0, o),
        lambda v: abs(v.std() - 3) < 0.2,
    ),
    "aclnnBernoulli": (
        lambda o: (o, 0.3, 7, 4, o),
        lambda v: set(np.unique(v)) == {0, 1} and abs(v.mean() - 0.3) < 0.05,
    ),
    "aclnnBernoulliTensor": (lambda o: (o, np.full_like(o, 0.3), 7, 4, o), lambda v: abs(v.mean() - 0.3) < 0.05),
    "aclnnInplaceBernoulli": (lambda o: (o, 0.3, 7, 4), lambda v: abs(v.mean() - 0.3) < 0.05),
    "aclnnInplaceBernoulliTensor": (lambda o: (o, np.full_like(o, 0.3), 7, 4), lambda v: abs(v.mean() - 0.3) < 0.05),
    "aclnnInplaceRandom": (lambda o: (o, -2, 3, 7, 0), lambda v: set(np.unique(v)) == {-2, -1, 0, 1, 2}),
    "aclnnInplaceRandomWithoutFromTo": (
        lambda o: (o, 7, 0),
        lambda v: v.min() >= 0 and v.max() <= 2**24 and len(set(v)) > 3990,
    ),
    "aclnnRandperm": (lambda o: (len(o), 7, 0, o), lambda v: sorted(v) == list(range(len(v)))),
    "aclnnMultinomial": (
        lambda o: (np.array([1, 0, 3], "f4"), len(o), True, 7, 0, o),
        lambda v: set(np.unique(v)) == {0, 2} and abs((v == 2).mean() - 0.75) < 0.05,
    ),
}


def _share(mask: np.ndarray, count: int) -> float:
    return float(np.unpackbits(mask)[:count].mean())


# The functions of masks: arguments from an empty mask for 4 000 elements, and what of it must hold.
MASKS: dict[str, Callable[[np.ndarray], tuple[Any, ...]]] = {
    "aclnnDropoutGenMask": lambda mask: ((40, 100), 0.25, 7, 0, mask),
    "aclnnDropoutGenMaskV2": lambda mask: ((40, 100), 0.25, 7, 0, 0, mask),
    "aclnnDropout": lambda mask: (np.ones((40, 100), "f4"), 0.25, True, 7, 0, np.empty((40, 100), "f4"), mask),
    "aclnnDropoutV3": lambda mask: (np.ones((40, 100), "f4"), None, 0.25, 7, 4, np.empty((40, 100), "f4"), mask),
}
MASK_BYTES = mask_size(4000)

# -------------------- images --------------------

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def _sampled(x: Any, g: Any, mode: int, padding: int, align: bool) -> torch.Tensor:
    return F.grid_sample(x, g, _MODES[mode], _PADDINGS[padding], align)


def _grid(m: Maker, *shape: int) -> np.ndarray:
    return (m.x(*shape).astype("f8") * 0.8).astype(m.dtype)


case("aclnnGridSampler2D", lambda m: (m.x(2, 3, 5, 4), _grid(m, 2, 3, 6, 2), 0, 1, False, OUT), _sampled)
case("aclnnGridSampler3D", lambda m: (m.x(2, 3, 5, 4, 3), _grid(m, 2, 2, 3, 4, 3), 0, 0, True, OUT), _sampled)
case(
    "aclnnGridSampler2DBackward",
    lambda m: (m.x(2, 3, 3, 6), m.x(2, 3, 5, 4), _grid(m, 2, 3, 6, 2), 0, 2, False, (True, True), OUT, OUT),
    lambda g, x, p, mode, pad, align, k: gradients(lambda x, p: _sampled(x, p, mode, pad, align), g, x, p),
    ("float32",),
)
case(
    "aclnnGridSampler3DBackward",
    lambda m: (m.x(2, 3, 2, 3, 4), m.x(2, 3, 5, 4, 3), _grid(m, 2, 2, 3, 4, 3), 0, 1, True, (True, True), OUT, OUT),
    lambda g, x, p, mode, pad, align, k: gradients(lambda x, p: _sampled(x, p, mode, pad, align), g, x, p),
    ("float32",),
)
GRIDS = [(mode, padding, align) for mode in range(3) for padding in range(3) for align in (False, True)]

case(
    "aclnnAffineGrid",
    lambda m: (m.x(2, 2, 3), (2, 3, 4, 5), False, OUT),
    lambda t, s, a: F.affine_grid(t, s, align_corners=a),
)

_SHAPES = {1: ((2, 3, 5), (8,)), 2: ((2, 3, 5, 4), (8, 3)), 3: ((1, 2, 3, 4, 5), (5, 3, 7))}


def resize(
    name: str, rank: int, mode: str, scales: int, align: bool | None = None, backward: str | None = None, **more: Any
) -> None:
    """One of torch's modes, and its gradient."""
    shape, size = _SHAPES[rank]
    flags = () if align is None else (align,)
    options = more if align is None else {"align_corners": align, **more}

    def function(x: torch.Tensor) -> torch.Tensor:
        return F.interpolate(x, size, mode=mode, **options)

    case(
        f"aclnnUpsample{name}",
        lambda m: (m.x(*shape), size, *flags, *(0.0,) * scales, OUT),
        lambda x, *_: function(x),
        ("float32",),
    )
    case(
        f"aclnnUpsample{backward or name + 'Backward'}",
        lambda m: (m.x(*shape[:2], *size), size, shape, *flags, *(0.0,) * (rank if backward is None else scales), OUT),
        lambda g, *_: gradients(function, g, torch.zeros(shape, dtype=torch.float64))[0],
        ("float32",),
    )


for _rank in (1, 2, 3):
    resize(f"Nearest{_rank}d", _rank, "nearest", 3 if _rank == 3 else 0)
    resize(f"NearestExact{_rank}d", _rank, "nearest-exact", _rank)
for _rank in (1, 2):
    case(
        f"aclnnUpsampleNearest{_rank}dV2",
        lambda m, s=_SHAPES[_rank]: (m.x(*s[0]), s[1], *(0.0,) * (len(s[0]) - 2), OUT),
        lambda x, s, *_: F.interpolate(x, s, mode="nearest"),
        ("float32",),
    )
resize("Linear1d", 1, "linear", 1, True)
resize("Bilinear2d", 2, "bilinear", 2, False)
resize("Trilinear3d", 3, "trilinear", 3, True)
resize("Bicubic2d", 2, "bicubic", 2, False)
CASES["aclnnUpsampleBilinear2dBackwardV2"] = CASES["aclnnUpsampleBilinear2dBackward"]

# -------------------- optimizers and lists --------------------

_ADAM_NUMBERS = (0.1, 0.5, 0.75, 0.25, 0.01)


def _adam_step(x: Any, m: Any, v: Any, largest: Any, g: Any, step: Any, amsgrad: bool, maximize: bool) -> None:
    state = [m], [v], [] if largest is None else [largest], [step.float().reshape(())]
    options = {"lr": 0.1, "beta1": 0.5, "beta2": 0.75, "weight_decay": 0.25, "eps": 0.01}
    torch._fused_adamw_([x], [g], *state, amsgrad=amsgrad, maximize=maximize, **options)


def _adam(x: Any, m: Any, v: Any, largest: Any, g: Any, step: Any, *rest: Any) -> None:
    # torch's maximum is of the uncorrected v, too
    _adam_step(x, m, v, largest, g, step, *rest[-2:])


case(
    "aclnnApplyAdamWV2",
    lambda m: (
        m.x(3, 4),
        m.x(3, 4),
        m.part(3, 4),
        m.part(3, 4),
        m.x(3, 4),
        np.array([3.0], "f4"),
        *_ADAM_NUMBERS,
        True,
        True,
    ),
    _adam,
    ("float32",),
)


def _fused(
    params: Any, grads: Any, first: Any, second: Any, largest: Any, steps: Any, scale: Any, found: Any, *rest: Any
) -> None:
    for x, g, m, v, n in zip(params, grads, first, second, steps):
        _adam_step(x, m, v, None, g / scale, n, *rest[-2:])


case(
    "aclnnFusedAdamw",
    lambda m: (
        [m.x(3), m.x(2, 2)],
        [m.x(3), m.x(2, 2)],
        [m.x(3), m.x(2, 2)],
        [m.part(3), m.part(2, 2)],
        [],
        [np.array([3.0], "f4"), np.array([5.0], "f4")],
        np.array([2.0], "f4"),
        np.array([0.0], "f4"),
        *_ADAM_NUMBERS,
        False,
        False,
    ),
    _fused,
    ("float32",),
)


def lists(m: Maker, make: str = "x") -> list[np.ndarray]:
    """Three tensors."""
    return [getattr(m, make)(3), getattr(m, make)(2, 2), getattr(m, make)(1, 4)]


def foreach(
    name: str, build: Callable[[Maker], Any], function: Callable[..., torch.Tensor], dtypes: Any = FLOATS
) -> None:
    """A function of lists: arguments that are lists go member by member."""

    def each(*arguments: Any) -> list[torch.Tensor]:
        spread = [value if isinstance(value, (list, tuple)) else [value] * 3 for value in arguments]
        return [function(*own) for own in zip(*spread)]

    case(f"aclnnForeach{name}", lambda m: (*build(m), [OUT, OUT, OUT]), each, dtypes)


for _name in "Abs Atan Cos Cosh Erf Erfc Exp Expm1 Neg Sigmoid Sin Sinh Tan Tanh".split():
    if _name not in ("Erf", "Erfc"):
        foreach(_name, lambda m: (lists(m),), getattr(torch, _name.lower()))
for _name in "Acos Asin".split():
    foreach(_name, lambda m: (lists(m, "part"),), getattr(torch, _name.lower()))
for _name in "Log Log10 Log1p Log2 Sqrt Reciprocal".split():
    foreach(_name, lambda m: (lists(m, "above"),), getattr(torch, _name.lower()))
foreach("Copy", lambda m: (lists(m),), lambda x: x)
_POWERS = {
    "Add": torch.add,
    "Sub": torch.sub,
    "Mul": torch.mul,
    "Div": torch.div,
    "Pow": torch.pow,
    "Maximum": torch.maximum,
    "Minimum": torch.minimum,
}
for _name, _function in _POWERS.items():

    def _of_number(x: Any, s: Any, f: Any = _function) -> torch.Tensor:
        return f(x, torch.as_tensor(s, dtype=x.dtype).reshape(()))

    foreach(f"{_name}Scalar", lambda m: (lists(m, "above"), np.array([2], m.dtype)), _of_number)
    foreach(f"{_name}ScalarV2", lambda m: (lists(m, "above"), 2.0), _of_number)
    foreach(f"{_name}ScalarList", lambda m: (lists(m, "above"), [2.0, 1.5, 0.5]), _of_number)
    if _name in ("Add", "Sub"):
        foreach(
            f"{_name}List",
            lambda m: (lists(m), lists(m), np.array([2], m.dtype)),
            lambda x, y, a, f=_function: f(x, y * a),
        )
        foreach(f"{_name}ListV2", lambda m: (lists(m), lists(m), 2.0), lambda x, y, a, f=_function: f(x, y, alpha=a))
    else:
        foreach(f"{_name}List", lambda m: (lists(m, "above"), lists(m, "above")), _function)
for _name, _function in {"Addcmul": torch.addcmul, "Addcdiv": torch.addcdiv}.items():

    def _three(x: Any, a: Any, b: Any, s: Any, f: Any = _function) -> torch.Tensor:
        return f(x, a, b, value=float(s))

    def _numbers_each(x: Any, a: Any, b: Any, s: Any, f: Any = _function) -> list[torch.Tensor]:
        return [f(*own[:3], value=float(own[3])) for own in zip(x, a, b, s)]

    foreach(f"{_name}Scalar", lambda m: (lists(m), lists(m), lists(m, "above"), np.array([2], m.dtype)), _three)
    foreach(f"{_name}ScalarV2", lambda m: (lists(m), lists(m), lists(m, "above"), 2.0), _three)
    for _form in ("ScalarList", "List"):
        case(
            f"aclnnForeach{_name}{_form}",
            lambda m: (lists(m), lists(m), lists(m, "above"), np.array([2, 1.5, 0.5], m.dtype), [OUT, OUT, OUT]),
            _numbers_each,
        )
foreach("LerpList", lambda m: (lists(m), lists(m), lists(m, "part")), torch.lerp)
foreach("LerpScalar", lambda m: (lists(m), lists(m), 0.25), torch.lerp)
foreach("Norm", lambda m: (lists(m), 3.0), lambda x, p: torch.linalg.vector_norm(x, p))
foreach("PowScalarAndTensor", lambda m: (2.0, lists(m)), torch.pow)
case("aclnnForeachZeroInplace", lambda m: (lists(m),), lambda x: [each.zero_() for each in x])


def _unscale(grads: Any, found: Any, inverse: Any) -> None:
    torch._amp_foreach_non_finite_check_and_unscale_(grads, found, inverse)


case(
    "aclnnForeachNonFiniteCheckAndUnscale",
    lambda m: ([m.x(3), np.array([1, np.inf], m.dtype)], np.zeros(1, "f4"), np.full(1, 0.5, "f4")),
    lambda g, found, inverse: _unscale_double(g, found, inverse),
    ("float32",),
)


def _unscale_double(grads: Any, found: Any, inverse: Any) -> None:
    single = [each.float() for each in grads]
    flag = found.float()
    _unscale(single, flag, inverse.float())
    found.copy_(flag)
    for each, own in zip(grads, single):
        each.copy_(own)


# -------------------- attention --------------------


def _turned(x: torch.Tensor, mode: int) -> torch.Tensor:
    if mode:
        return torch.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape)
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def _rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mode: int) -> torch.Tensor:
    return x * cos + _turned(x, mode) * sin


case("aclnnRotaryPositionEmbedding", lambda m: (m.x(2, 3, 4, 6), m.x(1, 3, 1, 6), m.x(1, 3, 1, 6), 1, OUT), _rotary)
case(
    "aclnnRotaryPositionEmbeddingGrad",
    lambda m: (m.x(2, 3, 4, 6), m.x(1, 3, 1, 6), m.x(1, 3, 1, 6), m.x(2, 3, 4, 6), 0, OUT, OUT, OUT),
    lambda g, c, s, x, mode: gradients(lambda x, c, s: _rotary(x, c, s, mode), g, x, c, s),
)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """torch's own, in the layout BNSD; mask: what takes no part."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=~mask, scale=scale, enable_gqa=True)


_MASK = np.triu(np.ones((3, 5), bool), 2)
_OPTIONS = (0.4, 1.0, 100, 100, 4, "BNSD", 0, 1)


def _flash(q: Any, k: Any, v: Any, pse: Any, drop: Any, pad: Any, mask: Any, prefix: Any, scale: float, *_: Any) -> Any:
    scores = (scale * q @ k.repeat_interleave(2, 1).mT).masked_fill(mask, -torch.inf)
    top = scores.amax(-1, keepdim=True)
    total = (scores - top).exp().sum(-1, keepdim=True)
    eight = (top.repeat(1, 1, 1, 8).float(), total.repeat(1, 1, 1, 8).float())
    return (*eight, attention(q, k, v, mask, scale))


def _flash_arguments(m: Maker) -> Any:
    return m.x(2, 4, 3, 6), m.x(2, 2, 5, 6), m.x(2, 2, 5, 6)


case(
    "aclnnFlashAttentionScore",
    lambda m: (*_flash_arguments(m), None, None, None, _MASK.copy(), None, *_OPTIONS, OUT, OUT, None, OUT),
    lambda *a: _flash(*a),
    ("float32",),
)


def _flash_grad_arguments(m: Maker) -> Any:
    q, k, v = _flash_arguments(m)
    kept = [np.zeros((2, 4, 3, 8), "f4")] * 2
    return (
        q,
        k,
        v,
        m.x(*q.shape),
        None,
        None,
        None,
        _MASK.copy(),
        *kept,
        None,
        m.x(*q.shape),
        None,
        *_OPTIONS,
        OUT,
        OUT,
        OUT,
        None,
    )


case(
    "aclnnFlashAttentionScoreGrad",
    _flash_grad_arguments,
    lambda q, k, v, g, p, d, pad, mask, *rest: gradients(lambda q, k, v: attention(q, k, v, mask, 0.4), g, q, k, v),
    ("float32",),
)
case(
    "aclnnScaledMaskedSoftmax",
    lambda m: (m.x(2, 2, 3, 4), m.mask(2, 1, 3, 4), 0.5, False, OUT),
    lambda x, k, s, t: torch.softmax((x * s).masked_fill(k, -10000), -1),
)
_GROUPS = np.array([2, 2, 5])


def _grouped(x: Any, w: Any, b: Any, *_: Any) -> torch.Tensor:
    rows = x[0].split([2, 0, 3])
    return torch.cat([own @ each + add for own, each, add in zip(rows, w[0], b[0])])


for _name, _more in (("aclnnGroupedMatmulV4", ()), ("aclnnGroupedMatmulV5", (None,))):
    case(
        _name,
        lambda m, more=_more: (
            [m.x(5, 4)],
            [m.x(3, 4, 2)],
            [m.x(3, 2)],
            *[None] * 5,
            _GROUPS.copy(),
            *[None] * 3,
            2,
            0,
            0,
            0,
            *more,
            [OUT],
            None,
            None,
        ),
        lambda *a: [_grouped(*a)],
    )


def _permuted(x: torch.Tensor, index: torch.Tensor, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
    order = index.reshape(-1).argsort(stable=True)
    return x[order // 2], order.argsort().int()


case("aclnnMoeTokenPermute", lambda m: (m.x(4, 3), m.index(5, 4, 2), 0, False, OUT, OUT), _permuted)
case(
    "aclnnMoeTokenUnpermute",
    lambda m: (m.x(8, 3), m.random.permutation(8).astype("int32"), m.part(4, 2), False, None, OUT),
    lambda x, i, w, *_: (x[i.long()].reshape(4, 2, 3) * w[..., None]).sum(1),
)
case(
    "aclnnMoeTokenPermuteGrad",
    lambda m: (m.x(8, 3), m.random.permutation(8).astype("int32"), 2, False, OUT),
    lambda g, i, *_: g[i.long()].reshape(4, 2, 3).sum(1),
)


def _unpermuted(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (rows[places.long()].reshape(4, 2, 3) * weights[..., None]).sum(1)


case(
    "aclnnMoeTokenUnpermuteGrad",
    lambda m: (m.x(8, 3), m.x(4, 3), m.random.permutation(8).astype("int32"), m.part(4, 2), False, None, OUT, OUT),
    lambda x, g, i, w, *_: gradients(lambda x, w: _unpermuted(x, i, w), g, x, w),
)


def _quantized(x: torch.Tensor, smooth: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scale = ((x * smooth).abs().amax(-1) / 127).float()
    return (x * smooth / scale[:, None]).round().to(torch.int8), scale


case("aclnnDynamicQuant", lambda m: (m.x(3, 4), m.part(4), OUT, OUT), _quantized, ("float16",))
