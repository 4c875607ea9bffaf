"""Kernels of the padding ops whose edges repeat elements of the input: `reflection_pad*` and `replication_pad*`.

Every place of the result is one element of the input, so padding is a resampling without weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.strided import laid_out
from mindtorch._support import errors
from mindtorch._support.float_errors import quiet
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.precision import check_out, deliver
from mindtorch.backends.cpu.resampling.resampling import Taps, gather_all, scatter_all

_AXES = {1: "W", 2: "HW", 3: "DHW"}
Edge = Callable[[np.ndarray, int], np.ndarray]


def _reflect(places: np.ndarray, size: int) -> np.ndarray:
    return size - 1 - np.abs(size - 1 - np.abs(places))


def _replicate(places: np.ndarray, size: int) -> np.ndarray:
    return places.clip(0, size - 1)


class _Padding:
    """How one op chooses elements; `op` is its name without the number of dimensions."""

    def __init__(self, op: str, edge: Edge) -> None:
        self.op = op
        self.edge = edge

    def forward(
        self, input: np.ndarray, padding: Sequence[int], dims: int, out: np.ndarray | None = None
    ) -> np.ndarray:
        self._check(input.shape, padding, dims)
        check_out(out, input)
        if input.dtype.kind == "b":
            raise checks.not_implemented(f"{self.op}{dims}d", input)
        result = gather_all(input, self._taps(input.shape, padding, dims))
        return _laid_out(deliver(result, input, out), input, out, dims)

    def backward(self, grad: np.ndarray, input: np.ndarray, padding: Sequence[int], dims: int) -> np.ndarray:
        takes_no_channels = dims < 3 or self.edge is _reflect
        self._check(input.shape, padding, dims, dims if takes_no_channels else dims + 1)
        taps = self._taps(input.shape, padding, dims)
        if grad.dtype.kind in "biu":
            raise checks.not_implemented(f"{self.op}{dims}d_backward", grad)
        self._check_grad(grad, input, [len(each.indices) for each in taps])
        checks.expect_dtype(input, grad)
        if not input.size:
            return np.zeros(input.shape, grad.dtype)
        result = quiet(_added_up, grad, taps, input.shape[-dims:])
        return _laid_out(deliver(np.ascontiguousarray(result), grad), input, None, dims)

    def _taps(self, shape: Sequence[int], padding: Sequence[int], dims: int) -> list[Taps]:
        sides = zip(shape[-dims:], reversed(list(zip(padding[::2], padding[1::2]))))
        return [Taps(self.edge(np.arange(-low, n + high), n)[:, None], None) for n, (low, high) in sides]

    def _check(self, shape: Sequence[int], padding: Sequence[int], dims: int, filled: int | None = None) -> None:
        """`filled`: so many of the last dimensions have elements; those of an image and its channels."""
        if len(padding) != 2 * dims:
            found = f", but got: {len(padding)}" if self.edge is _reflect else ""
            raise RuntimeError(f"padding size is expected to be {2 * dims}{found}")
        if len(shape) not in (dims + 1, dims + 2) or 0 in shape[-(filled or dims + 1) :]:
            raise RuntimeError(
                f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other "
                f"non-zero dimensions for input, but got: {list(shape)}"
            )
        if self.edge is _reflect:
            _check_reflected(shape, padding, dims)
        sides = zip(shape[-dims:], reversed(list(zip(padding[::2], padding[1::2]))))
        sizes = [n + low + high for n, (low, high) in sides]
        if min(sizes) < 1:
            given, calculated = _named(shape[-dims:]), _named(sizes)
            raise RuntimeError(f"input ({given}) is too small. Calculated output {calculated}")
        geometry.check_room((*shape[:-dims], *sizes), 1)

    def _check_grad(self, grad: np.ndarray, input: np.ndarray, sizes: Sequence[int]) -> None:
        """Along the sides, the last one first; of volumes also along the channels."""
        dims = len(sizes)
        expected = {_SIDES[axis]: size for axis, size in zip(_AXES[dims], sizes)}
        places = {name: input.ndim - dims + number for number, name in enumerate(expected)}
        order = [*reversed(expected)]
        if dims == 3 and self.edge is _reflect and grad.ndim != input.ndim:
            raise RuntimeError(_NO_MESSAGE.format("grad_output.dim() == input.dim()"))
        if dims == 3 and self.edge is _replicate:
            order.insert(0, "channel")
            expected["channel"], places["channel"] = input.shape[-4], input.ndim - 4
        for name in order:
            if grad.ndim <= places[name]:
                raise errors.dim_out_of_range(places[name], grad.ndim)
            found = grad.shape[places[name]]
            if found != expected[name]:
                raise RuntimeError(self._text(dims).format(name, expected[name], found))
        checks.expect_sizes(grad, (*input.shape[:-dims], *sizes), "grad_output")

    def _text(self, dims: int) -> str:
        """How the kernel for so many dimensions writes it."""
        gradient = "grad_output" if self.edge is _reflect and dims != 2 else "gradOutput"
        comma = "" if self.edge is _replicate and dims == 1 else ","
        return f"{gradient} {{}} unexpected. Expected: {{}}{comma} Got: {{}}"


_SIDES = {"W": "width", "H": "height", "D": "depth"}
_NO_MESSAGE = (
    "Expected {} to be true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)


def _added_up(grad: np.ndarray, taps: list[Taps], size: Sequence[int]) -> np.ndarray:
    """Every element of grad added to the one that it came from; half precision is rounded after every addition."""
    if grad.dtype.itemsize != 2:
        return scatter_all(grad, taps, size)
    places = np.ravel_multi_index(np.ix_(*(each.indices[:, 0] for each in taps)), tuple(size)).ravel()
    outer = grad.shape[: grad.ndim - len(taps)]
    result = np.zeros((prod(size), prod(outer)), grad.dtype)
    np.add.at(result, places, grad.reshape(prod(outer), len(places)).T)
    return result.T.reshape(*outer, *size)


def _check_reflected(shape: Sequence[int], padding: Sequence[int], dims: int) -> None:
    for number in range(dims):
        low, high = padding[2 * number : 2 * number + 2]
        dim = len(shape) - 1 - number
        if max(low, high) >= shape[dim]:
            raise RuntimeError(
                f"Argument #{4 + 2 * number}: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({low}, {high}) at dimension {dim} of input {list(shape)}"
            )


def _named(sizes: Sequence[int]) -> str:
    return " ".join(f"{axis}: {size}" for axis, size in zip(_AXES[len(sizes)], sizes))


def _laid_out(result: np.ndarray, input: np.ndarray, out: np.ndarray | None, dims: int) -> np.ndarray:
    """A new result in the memory format of a batch; sequences and single images are row-major."""
    if out is not None or dims == 1:
        return result
    return laid_out(result, image_layout.following(input, result.shape))


_REFLECTION = _Padding("reflection_pad", _reflect)
_REPLICATION = _Padding("replication_pad", _replicate)


def reflection_pad1d(input, padding, out=None):
    return _REFLECTION.forward(input, padding, 1, out)


def replication_pad1d(input, padding, out=None):
    return _REPLICATION.forward(input, padding, 1, out)


def _pad(how: _Padding, dims: int) -> Callable:
    def kernel(input, padding):
        return how.forward(input, padding, dims)

    return kernel


def _pad_backward(how: _Padding, dims: int) -> Callable:
    def kernel(grad_output, input, padding):
        return how.backward(grad_output, input, padding, dims)

    return kernel


reflection_pad1d_backward = _pad_backward(_REFLECTION, 1)
reflection_pad2d = _pad(_REFLECTION, 2)
reflection_pad2d_backward = _pad_backward(_REFLECTION, 2)
reflection_pad3d = _pad(_REFLECTION, 3)
reflection_pad3d_backward = _pad_backward(_REFLECTION, 3)
replication_pad1d_backward = _pad_backward(_REPLICATION, 1)
replication_pad2d = _pad(_REPLICATION, 2)
replication_pad2d_backward = _pad_backward(_REPLICATION, 2)
replication_pad3d = _pad(_REPLICATION, 3)
replication_pad3d_backward = _pad_backward(_REPLICATION, 3)
