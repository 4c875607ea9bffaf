"""Window functions: weights that fade a piece of a signal in and out. Each step is rounded, as in torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindtorch._core import state
from mindtorch._core.dtype import PYTHON_TYPES, bfloat16, c_name, float16, float32
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.layout import sparse_coo
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def hann_window(
    window_length: int, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return hann_window_periodic(window_length, True, dtype, layout, device, pin_memory)


def hann_window_periodic(
    window_length: int,
    periodic: bool,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return _window("hann", _cosine(0.5, 0.5), window_length, periodic, dtype, layout, device)


def hamming_window(
    window_length: int, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return hamming_window_periodic(window_length, True, dtype, layout, device, pin_memory)


def hamming_window_periodic(
    window_length: int,
    periodic: bool,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return hamming_window_alpha(window_length, periodic, 0.54, dtype, layout, device, pin_memory)


def hamming_window_alpha(
    window_length: int,
    periodic: bool,
    alpha: float,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return hamming_window_alpha_beta(window_length, periodic, alpha, 0.46, dtype, layout, device, pin_memory)


def hamming_window_alpha_beta(
    window_length: int,
    periodic: bool,
    alpha: float,
    beta: float,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return _window("hamming", _cosine(alpha, beta), window_length, periodic, dtype, layout, device)


def blackman_window(
    window_length: int, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return blackman_window_periodic(window_length, True, dtype, layout, device, pin_memory)


def blackman_window_periodic(
    window_length: int,
    periodic: bool,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return _window("blackman", _blackman, window_length, periodic, dtype, layout, device)


def bartlett_window(
    window_length: int, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return bartlett_window_periodic(window_length, True, dtype, layout, device, pin_memory)


def bartlett_window_periodic(
    window_length: int,
    periodic: bool,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return _window("bartlett", _bartlett, window_length, periodic, dtype, layout, device)


def kaiser_window(
    window_length: int, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool | None = None
) -> Tensor:
    return kaiser_window_periodic(window_length, True, dtype, layout, device, pin_memory)


def kaiser_window_periodic(
    window_length: int,
    periodic: bool,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return kaiser_window_beta(window_length, periodic, 12.0, dtype, layout, device, pin_memory)


def kaiser_window_beta(
    window_length: int,
    periodic: bool,
    beta: float,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    return _window("kaiser", _kaiser(beta), window_length, periodic, dtype, layout, device)


# -------------------- what they have in common --------------------

# From the numbers 0, 1, 2 ... to the weights; the last number is the second argument.
Shape = Callable[[Tensor, int], Tensor]


def _window(
    name: str, shape: Shape, length: int, periodic: bool, dtype: Dtype | None, layout: Any, device: Any
) -> Tensor:
    """A periodic window is one that is longer by an element, without its last element."""
    dtype = PYTHON_TYPES.get(dtype, dtype)
    _check(f"{name}_window", length, dtype, layout, device)
    dtype = dtype or state.default_dtype
    if length <= 1:
        return ops.ones((length,), dtype=dtype, device=device)
    whole = length + 1 if periodic else length
    weights = shape(ops.arange(whole, dtype=dtype, layout=layout, device=device), whole - 1)
    return weights.narrow(0, 0, length) if periodic else weights


def _check(name: str, length: int, dtype: Dtype | None, layout: Any, device: Any) -> None:
    if layout is sparse_coo:
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {_options(dtype, 'Sparse', device)}")
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        shown = _options(dtype, "Strided (default)", device)
        raise RuntimeError(f"{name} expects floating point dtypes, got: {shown}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")


def _options(dtype: Dtype | None, layout: str, device: Any) -> str:
    """What a tensor would be made with, as torch's messages show it."""
    shown = c_name(dtype) if dtype else "float"
    return (
        f"TensorOptions(dtype={shown}, device={device or 'cpu'}, layout={layout}, requires_grad=false (default), "
        "pinned_memory=false, memory_format=(nullopt))"
    )


# -------------------- their shapes --------------------


def _cosine(alpha: float, beta: float) -> Shape:
    """A raised cosine: alpha at its mean, alpha + beta in the middle."""

    def shape(places: Tensor, last: int) -> Tensor:
        return places.mul_(2 * math.pi / last).cos_().mul_(-beta).add_(alpha)

    return shape


def _blackman(places: Tensor, last: int) -> Tensor:
    angles = places.mul_(math.pi / last)
    return angles.mul(4).cos_().mul_(0.08) - angles.mul(2).cos_().mul_(0.5) + 0.42


def _bartlett(places: Tensor, last: int) -> Tensor:
    """A triangle."""
    weights = places.mul_(2.0 / last)
    weights[last // 2 + 1 :].mul_(-1).add_(2)
    return weights


def _kaiser(beta: float) -> Shape:
    """Bessel functions of an ellipse; half precision is computed in single precision."""

    def shape(places: Tensor, last: int) -> Tensor:
        dtype = places.dtype
        wide = places.to(float32) if dtype in (float16, bfloat16) else places
        middle = last / 2
        heights = (1 - ((wide - middle) / middle) ** 2).sqrt()
        bound = ops.full((), beta, dtype=wide.dtype, device=wide.device)
        return (ops.i0(heights * beta) / ops.i0(bound)).to(dtype)

    return shape
