"""`x == y`, which is put on Tensor when two tensors are first compared."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch._core.interop import from_numpy
from mindtorch._core.tensor import Tensor, extend_tensor
from mindtorch._generated.ops import comparison  # type: ignore[import-not-found]
from mindtorch.dispatch.methods import as_operator


def _equal_to_array(function: Any, overloads: Any, values: dict[str, Any]) -> Any:
    """`tensor == ndarray`: of the comparisons, torch takes arrays for this one only."""
    tensor, other = values["input"], values["other"]
    if isinstance(other, np.ndarray) and other.dtype.kind in "biufc":
        return function(tensor, from_numpy(other))
    return NotImplemented


@extend_tensor
class Equality:
    """`x == y`."""

    __eq__: Callable[..., Tensor] = as_operator(comparison.eq, _equal_to_array)  # type: ignore[assignment]
