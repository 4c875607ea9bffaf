"""How a kernel hands over its result when it has not written it to `out` itself. For kernels of other packages, too."""

from typing import Any

import numpy as np

from mindtorch import iterator

Array = np.ndarray


def deliver(result: Any, out: Array | None) -> Array:
    """The result as an array; or `out` with its values, in new memory if it has another shape, as torch resizes it."""
    result = np.asanyarray(result)
    if out is None:
        return result
    iterator.check_result_dtype(result.dtype, out.dtype)
    if iterator.needs_resize(out, result.shape):
        out = np.empty_like(out, shape=result.shape)
    np.copyto(out, result, casting="unsafe")
    return out
