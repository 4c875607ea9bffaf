"""The kernel of dropout."""

from __future__ import annotations

import numpy as np

from mindtorch._core.strided import empty_like
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common import checks
from mindtorch.backends.cpu.common.precision import deliver, widen
from mindtorch.backends.cpu.random import random

# -------------------- dropout --------------------


def native_dropout(input, p, train):
    mask = empty_like(input, np.dtype(bool))
    if input.size == 0:
        return input.copy(), mask
    if train is False:
        mask.fill(True)
        return _copied(input), mask
    random.bernoulli_float(mask, 1 - p)
    if not checks.is_float(input):
        raise RuntimeError(f"result type Float can't be cast to the desired output type {checks.scalar_name(input)}")
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return _copied(deliver(quiet(np.multiply, widen(input) * mask, np.float32(scale)), input)), mask


def _copied(input: np.ndarray) -> np.ndarray:
    """A copy with the strides that a new tensor like this one has."""
    result = empty_like(input)
    np.copyto(result, input)
    return result
