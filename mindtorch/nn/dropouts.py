"""Dropout as functions; `functional` exports them."""

from __future__ import annotations

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability p and scale the others so that the mean stays."""
    _check_probability(p)
    return ops.dropout_(input, p, training) if inplace else ops.dropout(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of what selu gives: elements become its lower limit."""
    _check_probability(p)
    return ops.alpha_dropout_(input, p, training) if inplace else ops.alpha_dropout(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels."""
    _check_probability(p)
    drop = ops.feature_alpha_dropout_ if inplace else ops.feature_alpha_dropout
    return drop(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of sequences."""
    _check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. "
            f"{_purpose('dropout1d', 1, '2D or 3D')}"
        )
    return _drop_channels(input, p, training, inplace, input.ndim == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of images."""
    _check_probability(p)
    if input.ndim not in (3, 4):
        warn(_unexpected("dropout2d", input.ndim, 2, "3D or 4D"))
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
        )
    return _drop_channels(input, p, training, inplace, True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of volumes."""
    _check_probability(p)
    if input.ndim not in (4, 5):
        warn(_unexpected("dropout3d", input.ndim, 3, "4D or 5D"))
    return _drop_channels(input, p, training, inplace, input.ndim == 5)


def _unexpected(name: str, ndim: int, dims: int, usual: str) -> str:
    return (
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
        "release. To retain the behavior and silence this warning, please use dropout instead. "
        f"{_purpose(name, dims, usual)}"
    )


def _purpose(name: str, dims: int, usual: str) -> str:
    return (
        f"Note that {name} exists to provide channel-wise dropout on inputs with {dims} spatial "
        f"dimension{'s' if dims > 1 else ''}, a channel dimension, and an optional batch dimension (i.e. {usual} "
        "inputs)."
    )


def _drop_channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    drop = ops.feature_dropout_ if inplace else ops.feature_dropout
    if batched:
        return drop(input, p, training)
    if inplace:
        return drop(input.unsqueeze_(0), p, training).squeeze_(0)
    return drop(input.unsqueeze(0), p, training).squeeze(0)
