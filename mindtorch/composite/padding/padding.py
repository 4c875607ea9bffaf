"""`pad`: which op pads, and padding by what lies at the other end."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

_UNSUPPORTED = """Padding size {size} is not supported for {ndim}D input tensor.
Supported combinations for non-constant padding:
  - 2D or 3D input: padding size = 2 (pads last dimension)
  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)
  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"""


def pad(input: Tensor, pad: tuple[int, ...], mode: str, value: float | None) -> Tensor:
    if mode != "constant" and mode not in _EDGES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check_widths(input, pad)
    if mode == "constant":
        return ops.constant_pad_nd(input, pad, 0.0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pad) // 2
    if not (1 <= dims <= 3 and input.ndim in (dims + 1, dims + 2)):
        raise NotImplementedError(_UNSUPPORTED.format(size=len(pad), ndim=input.ndim))
    return _EDGES[mode](input, pad, dims)


def _check_widths(input: Tensor, pad: Sequence[int]) -> None:
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension "
            f"but got padding length {len(pad)} and input of dimension {input.ndim}"
        )


def _reflect(input: Tensor, pad: Sequence[int], dims: int) -> Tensor:
    return (ops.reflection_pad1d, ops.reflection_pad2d, ops.reflection_pad3d)[dims - 1](input, pad)


def _replicate(input: Tensor, pad: Sequence[int], dims: int) -> Tensor:
    return (ops.replication_pad1d, ops.replication_pad2d, ops.replication_pad3d)[dims - 1](input, pad)


def _wrap_around(input: Tensor, pad: Sequence[int], dims: int) -> Tensor:
    sides = [(input.ndim - 1 - number, *pad[2 * number : 2 * number + 2]) for number in range(dims)]
    for dim, low, high in reversed(sides):
        size = input.shape[dim]
        if max(low, high) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + low + high < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    for dim, low, high in sides:
        input = _wrap_dim(input, dim, low, high)
    return input


def _wrap_dim(input: Tensor, dim: int, low: int, high: int) -> Tensor:
    """Negative widths cut off first, so that what is cut off does not come round again."""
    size = input.shape[dim] + min(low, 0) + min(high, 0)
    places = ops.arange(-max(low, 0), size + max(high, 0), device=input.device) % max(size, 1)
    return input.index_select(dim, places + max(-low, 0))


_EDGES = {"reflect": _reflect, "replicate": _replicate, "circular": _wrap_around}
