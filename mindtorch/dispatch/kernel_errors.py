"""What NumPy says when a kernel asks it for more than there is, and what torch says then.

Memory is mostly asked for where the sizes are known (`mindtorch/_core/aligned.py`, the iterators), and has torch's
error from there. But any NumPy function makes arrays for its results and on the way to them: generated functions hand
what their kernels raise to `in_torchs_words`.
"""

from math import prod

import numpy as np

from mindtorch._core.aligned import NO_ROOM
from mindtorch._support import errors

# What kernels may end with for want of memory, or for numbers that don't fit into NumPy's own.
NUMPY_ERRORS = NO_ROOM

# What it says of shapes with too many bytes to be counted, without a word about which.
_TOO_LARGE = ("array is too big; ", "Maximum allowed dimension exceeded", "Maximum allowed size exceeded")
# What it says of more than 64 dimensions. torch has room for more, and this text where its loops have not.
_TOO_MANY_DIMS = ("maximum supported dimension for an ndarray", "number of dimensions must be within")


def in_torchs_words(error: Exception) -> Exception:
    """The error to raise for one that a kernel has ended with: mostly the same."""
    if isinstance(error, MemoryError):
        return errors.no_memory(_bytes_of(*error.args)) if len(error.args) == 2 else errors.no_objects()
    if isinstance(error, ValueError) and str(error).startswith(_TOO_LARGE):
        return errors.numel_overflow()
    if isinstance(error, ValueError) and str(error).startswith(_TOO_MANY_DIMS):
        return errors.too_many_dims()
    return error


def _bytes_of(shape: tuple[int, ...], dtype: np.dtype) -> int:
    """NumPy's error knows the array that it could not make; Python's, for a list that is too long, knows nothing."""
    return prod(shape) * dtype.itemsize
