"""Composites that compute on arrays alone, where nothing sees the ops that they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.promotion import DOUBLE, FLOAT
from mindtorch.autograd._engine.history import edge_of


def bare_floats(*tensors: Any) -> list[np.ndarray] | None:
    """The arrays of some tensors, all of float32 or all of float64; None if there are others, if a mode is active, or
    if what is done with one of the tensors is recorded."""
    if state.active_modes:
        return None
    arrays = [tensor._mt_array for tensor in tensors]
    dtype = arrays[0].dtype
    if dtype is not FLOAT and dtype is not DOUBLE:
        return None
    if state.grad_everywhere or state.thread.grad_enabled:
        for tensor in tensors:
            if tensor._mt_edge is not None and edge_of(tensor) is not None:
                return None
    for array in arrays:
        if type(array) is not np.ndarray or array.dtype is not dtype:
            return None
    return arrays
