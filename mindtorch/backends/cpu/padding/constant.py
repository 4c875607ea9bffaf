"""The kernel of padding by a number."""

from __future__ import annotations

import numpy as np

from mindtorch._core import geometry
from mindtorch._core.strided import laid_out
from mindtorch.backends import image_layout
from mindtorch.backends.cpu.common.numbers import filling

# -------------------- padding --------------------


def constant_pad_nd(input, pad, value):
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)}while the input has {input.ndim}dimensions."
        )
    sides = [(0, 0)] * (input.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2]))[::-1]
    shape = [n + low + high for n, (low, high) in zip(input.shape, sides)]
    if any(n + min(low, 0) + min(high, 0) < 0 for n, (low, high) in zip(input.shape, sides)):
        raise RuntimeError("narrow(): length must be non-negative.")
    geometry.check_room(shape, input.itemsize)
    out = laid_out(np.empty(shape, input.dtype), image_layout.of_padding(input, tuple(shape), pad))
    out[...] = filling(value, out)
    target = tuple(slice(max(low, 0), n - max(high, 0)) for n, (low, high) in zip(shape, sides))
    source = tuple(slice(max(-low, 0), n - max(-high, 0)) for n, (low, high) in zip(input.shape, sides))
    out[target] = input[source]
    return out
