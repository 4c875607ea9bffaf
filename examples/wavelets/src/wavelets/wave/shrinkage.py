"""Kernels that shrink values towards zero."""

import numpy as np

from mindtorch.backends.writing import deliver


def soft_threshold(input, threshold, out=None):
    return deliver(input - np.clip(input, -threshold, threshold), out)
