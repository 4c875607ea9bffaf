"""Windows: weights that fade a signal in and out. Periodic ones (`sym=False`) lack the last point."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any

from mindtorch._core.dtype import float32, float64, get_default_dtype
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import tensor
from mindtorch.dispatch import ops

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _window(shape: Callable) -> Callable:
    """A window from a function that gives its values."""
    return _checked(shape, shape.__name__)


def _checked(shape: Callable, name: str) -> Callable:
    @wraps(shape)
    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = strided,
        device: Any = None,
        requires_grad: bool = False,
        **kwargs: Any,
    ) -> Tensor:
        dtype = get_default_dtype() if dtype is None else dtype
        _check(name, M, dtype, layout)
        values = shape(M, sym=sym, options={"dtype": dtype, "layout": layout, "device": device}, **kwargs)
        return values.requires_grad_() if requires_grad else values

    del window.__wrapped__  # the arguments are those of `window`
    return window


def _check(name: str, M: int, dtype: Any, layout: Any) -> None:
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")


def _steps(M: int, sym: bool) -> int:
    """How many steps the whole window has, of which a periodic one lacks the last."""
    return M - 1 if sym or M < 2 else M


def _points(M: int, start: float, step: float, options: dict[str, Any]) -> Tensor:
    return ops.linspace(start, start + max(M - 1, 0) * step, M, **options)


# -------------------- bells --------------------


@_window
def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool, options: Any) -> Tensor:
    """Falls to both sides of the centre, by e in tau points."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    center = _steps(M, sym) / 2 if center is None else center
    return ops.exp(-ops.abs(_points(M, -center / tau, 1 / tau, options)))


@_window
def cosine(M: int, *, sym: bool, options: Any) -> Tensor:
    """Half a wave."""
    step = math.pi / (_steps(M, sym) + 1) if M else 0.0
    return ops.sin(_points(M, 0.5 * step, step, options))


@_window
def gaussian(M: int, *, std: float = 1.0, sym: bool, options: Any) -> Tensor:
    """The bell of a normal distribution."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    step = 1 / (std * math.sqrt(2))
    return ops.exp(-(_points(M, -_steps(M, sym) / 2 * step, step, options) ** 2))


@_window
def kaiser(M: int, *, beta: float = 12.0, sym: bool, options: Any) -> Tensor:
    """Made of Bessel functions: the larger beta, the narrower."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return ops.ones((M,), **options)
    height = tensor(beta, dtype=options["dtype"], device=options["device"])
    step = 2.0 * beta / _steps(M, sym)
    points = ops.linspace(-beta, min(beta, -beta + max(M - 1, 0) * step), M, **options)
    return ops.i0(ops.sqrt(height * height - ops.pow(points, 2))) / ops.i0(height)


@_window
def bartlett(M: int, *, sym: bool, options: Any) -> Tensor:
    """A triangle."""
    if M < 2:
        return ops.ones((M,), **options)
    return 1 - ops.abs(_points(M, -1, 2 / _steps(M, sym), options))


# -------------------- sums of cosines --------------------


def _cosines(weights_of: Callable, name: str = "general_cosine") -> Callable:
    """A window from a function that gives the weights of its cosines."""

    @wraps(weights_of)
    def shape(M: int, *, sym: bool, options: dict[str, Any], **kwargs: Any) -> Tensor:
        if M < 2:
            return ops.ones((M,), **options)
        places = {"dtype": options["dtype"], "device": options["device"]}
        weights = [(-1) ** number * weight for number, weight in enumerate(weights_of(**kwargs))]
        angles = ops.arange(len(weights), **places).unsqueeze(-1) * _points(M, 0, 2 * math.pi / _steps(M, sym), options)
        return (tensor(weights, **places).unsqueeze(-1) * ops.cos(angles)).sum(0)

    return _checked(shape, name)


@_cosines
def general_cosine(*, a: Iterable[float]) -> Iterable[float]:
    """A sum of cosines with given weights."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return a


@_cosines
def general_hamming(*, alpha: float = 0.54) -> Iterable[float]:
    """A constant and a cosine, which share a weight of 1."""
    return alpha, 1.0 - alpha


@_cosines
def hamming() -> Iterable[float]:
    """A wave that does not go down to 0."""
    return 0.54, 1.0 - 0.54


@_cosines
def hann() -> Iterable[float]:
    """A wave."""
    return 0.5, 0.5


@partial(_cosines, name="blackman")
def blackman() -> Iterable[float]:
    """Three cosines."""
    return 0.42, 0.5, 0.08


@_cosines
def nuttall() -> Iterable[float]:
    """Four cosines, for low side lobes."""
    return 0.3635819, 0.4891775, 0.1365995, 0.0106411
