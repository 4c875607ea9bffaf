"""The dropout ops: of elements or whole channels, to zero or to the lower limit of selu."""

from __future__ import annotations

import math

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

_WITHOUT_KERNEL = ("cpu", "meta")  # torch takes the op with a mask on all other devices
# The lower limit of selu, with the sign turned.
_ALPHA = 1.7580993408473766


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    if _keeps_everything(input, p, train):
        return input
    if p < 1 and input.device.type not in _WITHOUT_KERNEL:
        return ops.native_dropout(input, p, True)[0]
    return input * _noise(input, p)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    return input if _keeps_everything(input, p, train) else input.mul_(_noise(input, p))


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    return grad_output * (mask.to(grad_output.dtype) * scale)


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    return input if _keeps_everything(input, p, train) else input * _noise(input, p, _channel_shape(input))


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    return input if _keeps_everything(input, p, train) else input.mul_(_noise(input, p, _channel_shape(input)))


def _keeps_everything(input: Tensor, p: float, train: bool) -> bool:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    return p == 0 or not train or input.numel() == 0


def _noise(input: Tensor, p: float, shape: tuple[int, ...] | None = None) -> Tensor:
    if p == 1:
        return ops.zeros((), dtype=input.dtype, device=input.device)
    return _kept(input, p, shape).div_(1 - p)


def _kept(input: Tensor, p: float, shape: tuple[int, ...] | None) -> Tensor:
    """1 for what is kept, 0 for the rest."""
    empty = ops.empty_like(input) if shape is None else input.new_empty(shape)
    return empty.bernoulli_(1 - p)


def _channel_shape(input: Tensor) -> tuple[int, ...]:
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.ndim - 2))


# -------------------- with the moments of selu --------------------


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    return input if _keeps_everything(input, p, train) else _alpha_dropped(input, p, None)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    return input if _keeps_everything(input, p, train) else _alpha_dropped_inplace(input, p, None)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    return input if _keeps_everything(input, p, train) else _alpha_dropped(input, p, _channel_shape(input))


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    return input if _keeps_everything(input, p, train) else _alpha_dropped_inplace(input, p, _channel_shape(input))


def _alpha_dropped(input: Tensor, p: float, shape: tuple[int, ...] | None) -> Tensor:
    if p == 1:
        return input * _noise(input, p)
    factor, shift = _moments_kept(input, p, shape)
    return input * factor + shift


def _alpha_dropped_inplace(input: Tensor, p: float, shape: tuple[int, ...] | None) -> Tensor:
    if p == 1:
        return input.mul_(_noise(input, p))
    factor, shift = _moments_kept(input, p, shape)
    return input.mul_(factor).add_(shift)


def _moments_kept(input: Tensor, p: float, shape: tuple[int, ...] | None) -> tuple[Tensor, Tensor]:
    """By what to multiply and what to add."""
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    kept = _kept(input, p, shape)
    shift = kept.add(-1).mul_(_ALPHA * scale).add_(_ALPHA * scale * p)
    return kept.mul_(scale), shift
