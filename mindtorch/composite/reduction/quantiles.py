"""quantile and nanquantile: elements of the sorted input, and what lies between them."""

from __future__ import annotations

from collections.abc import Callable

from mindtorch._core import geometry
from mindtorch._core.dtype import float32, float64, int64
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import write_out
from mindtorch.dispatch import ops

_MODES = ("linear", "lower", "higher", "midpoint", "nearest")
_ROUNDED: dict[str, Callable[[Tensor], Tensor]] = {
    "lower": lambda ranks: ranks.floor(),
    "higher": lambda ranks: ranks.ceil(),
    "nearest": lambda ranks: ranks.round(),
}


def quantile(
    input: Tensor, q: Tensor, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Tensor:
    return _quantile(input, q, dim, keepdim, interpolation, skips_nan=False)


def nanquantile(
    input: Tensor, q: Tensor, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Tensor:
    return _quantile(input, q, dim, keepdim, interpolation, skips_nan=True)


def quantile_number(
    input: Tensor, q: float, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Tensor:
    return quantile(input, _as_tensor(input, q), dim, keepdim, interpolation)


def nanquantile_number(
    input: Tensor, q: float, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Tensor:
    return nanquantile(input, _as_tensor(input, q), dim, keepdim, interpolation)


def quantile_out(
    input: Tensor,
    q: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    *,
    out: Tensor,
) -> Tensor:
    return _written(out, input, quantile(input, q, dim, keepdim, interpolation))


def nanquantile_out(
    input: Tensor,
    q: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    *,
    out: Tensor,
) -> Tensor:
    return _written(out, input, nanquantile(input, q, dim, keepdim, interpolation))


def quantile_number_out(
    input: Tensor,
    q: float,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    *,
    out: Tensor,
) -> Tensor:
    return _written(out, input, quantile_number(input, q, dim, keepdim, interpolation))


def nanquantile_number_out(
    input: Tensor,
    q: float,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    *,
    out: Tensor,
) -> Tensor:
    return _written(out, input, nanquantile_number(input, q, dim, keepdim, interpolation))


def _written(out: Tensor, input: Tensor, result: Tensor) -> Tensor:
    if out.dtype is not input.dtype:
        raise RuntimeError("quantile() out tensor must be same dtype as the input tensor")
    written: Tensor = write_out(out, result.contiguous())
    return written


def _as_tensor(input: Tensor, q: float) -> Tensor:
    if not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    return ops.scalar_tensor(q, dtype=input.dtype, device=input.device)


# -------------------- the computation --------------------


def _quantile(input: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str, skips_nan: bool) -> Tensor:
    _check(input, q, interpolation)
    wrapped = geometry.wrap_dim(dim or 0, input.ndim)
    result = _of_rows(_sorted_rows(input, dim, wrapped), q.reshape((-1,)), interpolation, skips_nan)
    if keepdim:
        sizes = [1] * input.ndim if dim is None else list(input.shape)
        if input.ndim:
            sizes[wrapped] = 1
    else:
        sizes = [] if dim is None else [size for place, size in enumerate(input.shape) if place != wrapped]
    result = result.reshape((*sizes, q.numel())).movedim(-1, 0)
    return (result if q.ndim else result.squeeze(0)).clone()


def _check(input: Tensor, q: Tensor, interpolation: str) -> None:
    if not input.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if input.dtype not in (float32, float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q.dtype is not input.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _MODES:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            + interpolation
        )
    if q.device.type == "cpu" and not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")


def _sorted_rows(input: Tensor, dim: int | None, wrapped: int) -> Tensor:
    rows = input.flatten() if dim is None or not input.ndim else input.movedim(wrapped, -1)
    return ops.sort(rows)[0]


def _of_rows(rows: Tensor, q: Tensor, interpolation: str, skips_nan: bool) -> Tensor:
    """Quantiles along the last dimension of sorted rows. A nan, which is sorted last, makes all of them nan."""
    last = rows.size(-1) - 1
    if skips_nan:
        counts = (~rows.isnan()).sum(-1, keepdim=True)
        ranks = q * (counts - 1).to(q.dtype).clamp(min=0)
    else:
        ranks = (q * last).expand((*rows.shape[:-1], q.numel()))
        ranks = ranks.masked_fill(rows.isnan().any(-1, keepdim=True), last)
    if interpolation in _ROUNDED:
        ranks = _ROUNDED[interpolation](ranks)
    below = ranks.to(int64)
    values = rows.gather(-1, below)
    if interpolation not in ("linear", "midpoint"):
        return values
    weights = ops.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below.to(ranks.dtype)
    return values.lerp(rows.gather(-1, ranks.ceil().to(int64)), weights)
