"""Kernels of the Haar transform: sums and differences of neighbours, scaled so that the energy stays the same.

They are made of functions that keep the class of their arrays, so that other backends can share them.
"""

import numpy as np

from mindtorch.backends.writing import deliver

SCALE = 0.5**0.5


def haar(input, dim, out=None):
    if input.shape[dim] % 2:
        raise RuntimeError(f"haar: the {input.shape[dim]} values of dimension {dim} cannot be paired")
    even, odd = _every_second(input, dim, 0), _every_second(input, dim, 1)
    approximation, detail = out or (None, None)
    return deliver(_scaled(even + odd), approximation), deliver(_scaled(even - odd), detail)


def inverse_haar(approximation, detail, dim):
    shape = list(approximation.shape)
    shape[dim] *= 2
    result = np.empty_like(approximation, order="C", shape=shape)
    _every_second(result, dim, 0)[...] = _scaled(approximation + detail)
    _every_second(result, dim, 1)[...] = _scaled(approximation - detail)
    return result


def every_other(input, dim):
    return _every_second(input, dim, 0)


def _every_second(input, dim, first):
    return np.moveaxis(np.moveaxis(input, dim, -1)[..., first::2], -1, dim)


def _scaled(values):
    return np.asanyarray(values * values.real.dtype.type(SCALE), order="C")
