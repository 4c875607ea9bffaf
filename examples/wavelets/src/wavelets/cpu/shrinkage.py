"""Kernels that shrink values towards zero."""

import numpy as np

from mindtorch.backends.writing import deliver


def soft_threshold(input, threshold, out=None):
    if input.dtype.kind != "f":
        raise RuntimeError(f"soft_threshold: expected floating-point values, not {input.dtype}")
    shrunk = np.maximum(np.abs(input) - threshold, 0)
    return deliver(np.copysign(shrunk, input), out)
