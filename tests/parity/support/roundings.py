"""Compares tensors up to some roundings in the last bit: where it comes from the vector unit and not from the op.

A processor that multiplies and adds at once rounds once where another one rounds twice. So a bound counts roundings,
each as large as the dtype has them for the largest number.
"""

from typing import Any

import numpy as np
import torch


def agree(own: Any, expected: Any, roundings: int, largest: float = 0.0) -> bool:
    """Whether a tensor equals torch's: integers exactly, fractions up to roundings of the largest of them, or of a
    larger number that they were made from."""
    if str(own.dtype) != str(expected.dtype) or tuple(own.shape) != tuple(expected.shape):
        return False
    if not expected.is_floating_point():
        return own.tolist() == expected.tolist()
    numbers, wanted = np.array(own.tolist()), np.array(expected.tolist())
    largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=largest)
    bound = roundings * torch.finfo(expected.dtype).eps * largest
    return np.allclose(numbers, wanted, rtol=0, atol=bound, equal_nan=True)
