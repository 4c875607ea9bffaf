"""Kernels of the `upsample_*` ops: their checks and signatures; the arithmetic is in `resampling`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.strided import laid_out
from mindtorch._support.float_errors import quiet
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.precision import check_out, deliver, widen
from mindtorch.backends.cpu.resampling import resampling
from mindtorch.backends.cpu.resampling.resampling import Kind, Side, Taps

_AXES = {1: "W", 2: "HW", 3: "DHW"}
_WIDE_ONLY = (resampling.smooth_linear, resampling.smooth_cubic, resampling.smooth_lanczos)


class _Resizing:
    """One way to resize: what the ops of all dimensions share.

    The names are those that torch's kernels have in errors; some have another one for images.
    """

    def __init__(
        self,
        kind: Kind,
        name: str,
        image_name: str | None = None,
        backward_kind: Kind | None = None,
    ) -> None:
        self.kind = kind
        self.backward_kind = backward_kind or kind
        self.name = name
        self.image_name = image_name or name

    def forward(
        self, input: np.ndarray, size: Sequence[int], align: bool, scales: Sequence[float | None], out: Any
    ) -> np.ndarray:
        sides = self._sides(input.shape, size, align, scales)
        if prod(input.shape[1:]) == 0:
            raise RuntimeError(
                f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes {list(input.shape)}"
            )
        check_out(out, input)
        if not self._takes(input.dtype):
            raise checks.not_implemented(self.image_name if len(sides) == 2 else self.name, input)
        x = _computed(input)
        taps = resampling.taps_of(self.kind, sides, x.dtype)
        if self.kind in _WIDE_ONLY:
            taps = [resampling.unchanged(each) if each.size == each.out else tap for each, tap in zip(sides, taps)]
        if not (self.kind is resampling.linear and len(sides) == 2):
            taps = [_rounded(each, input.dtype) for each in taps]
        result = quiet(resampling.gather_all, x, taps)
        return self._as_image(deliver(_as_bytes(result, input), input, out), input, out)

    def backward(
        self,
        name: str,
        grad: np.ndarray,
        size: Sequence[int],
        input_size: Sequence[int],
        align: bool,
        scales: Sequence[float | None],
        out: Any,
    ) -> np.ndarray:
        sides = self._sides(input_size, size, align, scales)
        _check_grad(grad, (*input_size[:2], *(side.out for side in sides)))
        check_out(out, grad)
        if self.kind in _WIDE_ONLY and grad.dtype.itemsize == 2:
            raise checks.not_implemented(name, grad)
        checks.expect_float(grad, name)
        g = widen(grad)
        taps = resampling.taps_of(self.backward_kind, sides, g.dtype)
        result = quiet(resampling.scatter_all, g, taps, [side.size for side in sides])
        return self._as_image(deliver(np.ascontiguousarray(result), grad, out), grad, out)

    def _takes(self, dtype: np.dtype) -> bool:
        if self.kind in _WIDE_ONLY:
            return dtype in (np.float32, np.float64, np.uint8)
        return dtype.kind in "fV" or dtype == np.uint8

    def _sides(
        self, shape: Sequence[int], size: Sequence[int], align: bool, scales: Sequence[float | None]
    ) -> list[Side]:
        dims = len(scales)
        if len(size) != dims:
            raise RuntimeError(f"It is expected output_size equals to {dims}, but got size {len(size)}")
        if len(shape) != dims + 2:
            raise RuntimeError(f"It is expected input_size equals to {dims + 2}, but got size {len(shape)}")
        if min(*shape[2:], *size) <= 0:
            raise RuntimeError(
                "Input and output sizes should be greater than 0, but got "
                f"input ({_named(shape[2:])}){' and' if dims == 1 else ''} output ({_named(size)})"
            )
        geometry.check_room((*shape[:2], *size), 1)
        return [Side(n, o, align, scale) for n, o, scale in zip(shape[2:], size, scales)]

    def _as_image(self, result: np.ndarray, input: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        return result if out is not None else laid_out(result, image_layout.following(input, result.shape))


def _named(sizes: Sequence[int]) -> str:
    return ", ".join(f"{axis}: {size}" for axis, size in zip(_AXES[len(sizes)], sizes))


def _computed(input: np.ndarray) -> np.ndarray:
    """The elements in the dtype in which they, and the weights, are computed."""
    return input.astype(np.float32) if input.dtype == np.uint8 else widen(input)


def _rounded(taps: Taps, dtype: np.dtype) -> Taps:
    """Half precision has weights of half precision, except for images; those of two neighbours add up to 1."""
    if taps.weights is None or dtype.itemsize != 2:
        return taps
    weights = taps.weights.astype(dtype)
    if weights.shape[1] == 2:
        weights[:, 0] = 1 - weights[:, 1].astype(np.float32)
    return Taps(taps.indices, weights.astype(np.float32))


def _as_bytes(result: np.ndarray, input: np.ndarray) -> np.ndarray:
    return np.rint(result).clip(0, 255) if input.dtype == np.uint8 else result


def _check_grad(grad: np.ndarray, expected: tuple[int, ...]) -> None:
    if grad.ndim != len(expected):
        raise RuntimeError(
            f"Expected grad_output to be a tensor of dimension {len(expected)} but got: dimension {grad.ndim}"
        )
    for dim, (size, wanted) in enumerate(zip(grad.shape, expected)):
        if size != wanted:
            raise RuntimeError(
                "Expected grad_output to have the same shape as output;"
                f" output.size({dim}) = {wanted} but got grad_output.size({dim}) = {size}"
            )


_NEAREST = _Resizing(
    resampling.nearest,
    "compute_indices_weights_nearest",
    "upsample_nearest2d_channels_last",
    resampling.nearest_backward,
)
_NEAREST_EXACT = _Resizing(
    resampling.nearest_exact,
    "compute_indices_weights_nearest",
    "upsample_nearest2d_channels_last",
)
_LINEAR = _Resizing(resampling.linear, "compute_indices_weights_linear", "upsample_bilinear2d_channels_last")
_CUBIC = _Resizing(resampling.cubic, "compute_indices_weights_cubic")
_SMOOTH_LINEAR = _Resizing(resampling.smooth_linear, "compute_index_ranges_weights")
_SMOOTH_CUBIC = _Resizing(resampling.smooth_cubic, "compute_index_ranges_weights")
_LANCZOS = _Resizing(resampling.smooth_lanczos, "compute_index_ranges_weights")


# -------------------- without corners --------------------


def _line(resizing: _Resizing) -> Callable:
    def kernel(input, output_size, scales, out=None):
        return resizing.forward(input, output_size, False, [scales], out)

    return kernel


def _line_backward(resizing: _Resizing, name: str) -> Callable:
    def kernel(grad_output, output_size, input_size, scales, out=None):
        return resizing.backward(name, grad_output, output_size, input_size, False, [scales], out)

    return kernel


def _image(resizing: _Resizing) -> Callable:
    def kernel(input, output_size, scales_h, scales_w, out=None):
        return resizing.forward(input, output_size, False, [scales_h, scales_w], out)

    return kernel


def _image_backward(resizing: _Resizing, name: str) -> Callable:
    def kernel(grad_output, output_size, input_size, scales_h, scales_w, out=None):
        return resizing.backward(name, grad_output, output_size, input_size, False, [scales_h, scales_w], out)

    return kernel


def _volume(resizing: _Resizing) -> Callable:
    def kernel(input, output_size, scales_d, scales_h, scales_w, out=None):
        return resizing.forward(input, output_size, False, [scales_d, scales_h, scales_w], out)

    return kernel


def _volume_backward(resizing: _Resizing, name: str) -> Callable:
    def kernel(grad_output, output_size, input_size, scales_d, scales_h, scales_w, out=None):
        return resizing.backward(name, grad_output, output_size, input_size, False, [scales_d, scales_h, scales_w], out)

    return kernel


upsample_nearest1d = _line(_NEAREST)
upsample_nearest1d_backward = _line_backward(_NEAREST, "upsample_nearest1d_backward")
upsample_nearest2d = _image(_NEAREST)
upsample_nearest2d_backward = _image_backward(_NEAREST, "upsample_nearest2d_backward")
upsample_nearest3d = _volume(_NEAREST)
upsample_nearest3d_backward = _volume_backward(_NEAREST, "upsample_nearest3d_backward")
upsample_nearest_exact1d = _line(_NEAREST_EXACT)
upsample_nearest_exact1d_backward = _line_backward(_NEAREST_EXACT, "_upsample_nearest_exact1d_backward")
upsample_nearest_exact2d = _image(_NEAREST_EXACT)
upsample_nearest_exact2d_backward = _image_backward(_NEAREST_EXACT, "_upsample_nearest_exact2d_backward")
upsample_nearest_exact3d = _volume(_NEAREST_EXACT)
upsample_nearest_exact3d_backward = _volume_backward(_NEAREST_EXACT, "_upsample_nearest_exact3d_backward")


# -------------------- with corners --------------------


def _cornered_image(resizing: _Resizing) -> Callable:
    def kernel(input, output_size, align_corners, scales_h, scales_w, out=None):
        return resizing.forward(input, output_size, align_corners, [scales_h, scales_w], out)

    return kernel


def _cornered_image_backward(resizing: _Resizing, name: str) -> Callable:
    def kernel(grad_output, output_size, input_size, align_corners, scales_h, scales_w, out=None):
        return resizing.backward(name, grad_output, output_size, input_size, align_corners, [scales_h, scales_w], out)

    return kernel


def upsample_linear1d(input, output_size, align_corners, scales, out=None):
    return _LINEAR.forward(input, output_size, align_corners, [scales], out)


def upsample_linear1d_backward(grad_output, output_size, input_size, align_corners, scales, out=None):
    return _LINEAR.backward(
        "upsample_linear1d_backward", grad_output, output_size, input_size, align_corners, [scales], out
    )


def upsample_trilinear3d(input, output_size, align_corners, scales_d, scales_h, scales_w, out=None):
    return _LINEAR.forward(input, output_size, align_corners, [scales_d, scales_h, scales_w], out)


def upsample_trilinear3d_backward(
    grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w, out=None
):
    scales = [scales_d, scales_h, scales_w]
    return _LINEAR.backward(
        "upsample_trilinear3d_backward", grad_output, output_size, input_size, align_corners, scales, out
    )


upsample_bilinear2d = _cornered_image(_LINEAR)
upsample_bilinear2d_backward = _cornered_image_backward(_LINEAR, "upsample_bilinear2d_backward")
upsample_bicubic2d = _cornered_image(_CUBIC)


def upsample_bicubic2d_backward(grad_output, output_size, input_size, align_corners, scales_h, scales_w):
    name, scales = "upsample_bicubic2d_backward", [scales_h, scales_w]
    return _CUBIC.backward(name, grad_output, output_size, input_size, align_corners, scales, None)


upsample_bilinear2d_aa = _cornered_image(_SMOOTH_LINEAR)
upsample_bilinear2d_aa_backward = _cornered_image_backward(_SMOOTH_LINEAR, "upsample_bilinear2d_aa_backward_cpu")
upsample_bicubic2d_aa = _cornered_image(_SMOOTH_CUBIC)
upsample_bicubic2d_aa_backward = _cornered_image_backward(_SMOOTH_CUBIC, "upsample_bicubic2d_aa_backward_cpu")
upsample_lanczos2d_aa = _cornered_image(_LANCZOS)
upsample_lanczos2d_aa_backward = _cornered_image_backward(_LANCZOS, "upsample_lanczos2d_aa_backward_cpu")
