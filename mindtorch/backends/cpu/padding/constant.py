"""The kernel of padding by a number."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.strided import laid_out
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common.numbers import filling

# -------------------- padding --------------------


def constant_pad_nd(input, pad, value):
    shape, target, source = _plan_of(input.shape, tuple(pad))
    geometry.check_room(shape, input.itemsize)
    # What can't be an image, nor have strides that say less than they seem to, is row-major.
    if input.flags.c_contiguous and 1 not in shape and 0 not in shape and input.size and len(shape) < 4:
        out = np.empty(shape, input.dtype)
    else:
        out = laid_out(np.empty(shape, input.dtype), image_layout.of_padding(input, shape, pad))
    out[...] = filling(value, out)
    out[target] = input[source]
    return out


Slices = tuple[slice, ...]


@lru_cache(maxsize=1024)
def _plan_of(size: tuple[int, ...], pad: tuple[int, ...]) -> tuple[tuple[int, ...], Slices, Slices]:
    """The shape of the result, the part of it that is copied, and the part of the input that it is copied from."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * len(size):
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)}while the input has {len(size)}dimensions."
        )
    sides = [(0, 0)] * (len(size) - len(pad) // 2) + list(zip(pad[::2], pad[1::2]))[::-1]
    shape = tuple([n + low + high for n, (low, high) in zip(size, sides)])
    if any(n + min(low, 0) + min(high, 0) < 0 for n, (low, high) in zip(size, sides)):
        raise RuntimeError("narrow(): length must be non-negative.")
    target = tuple(slice(max(low, 0), n - max(high, 0)) for n, (low, high) in zip(shape, sides))
    source = tuple(slice(max(-low, 0), n - max(-high, 0)) for n, (low, high) in zip(size, sides))
    return shape, target, source
