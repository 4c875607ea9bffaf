"""Functions of one number that sparse tensors have: those that are 0 at 0, so that only the values change."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch.dispatch.registry import kernel_table

_ZERO_AT_ZERO = (
    "abs asin asinh atan atanh ceil conj_physical deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf"
    " log1p neg rad2deg relu round sgn sign signbit sin sinh sqrt tan tanh trunc"
).split()


def on_values_kernels(prepared: Callable[[Any], Any]) -> dict[str, Callable]:
    """A kernel of each such function; `prepared` gives the array whose values may be computed with one by one."""
    return {op: _on_values(op, prepared) for op in _ZERO_AT_ZERO}


def _on_values(op: str, prepared: Callable[[Any], Any]) -> Callable:
    kernels = kernel_table(op)

    def kernel(input: Any, out: Any = None) -> Any:
        array = prepared(input)
        result = array.with_values(kernels[np.ndarray](array.values))
        return result if out is None else out.become(result)

    return kernel
