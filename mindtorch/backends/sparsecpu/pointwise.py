"""Functions of one number that sparse tensors have: those that are 0 at 0, so that only the values change."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch.dispatch.registry import kernel_table
from mindtorch.iterator.checks import check_result_dtype

_ZERO_AT_ZERO = (
    "_conj_physical abs asin asinh atan atanh ceil conj_physical deg2rad erf erfinv expm1 floor frac isinf isnan"
    " isneginf isposinf log1p neg rad2deg relu round sgn sign signbit sin sinh sqrt tan tanh trunc"
).split()


def on_values_kernels(prepared: Callable[[Any], Any], also: str = "") -> dict[str, Callable]:
    """A kernel of each such function, and of others; `prepared` gives the array whose values are computed with."""
    return {op: on_values(op, prepared) for op in [*_ZERO_AT_ZERO, *also.split()]}


def on_values(op: str, prepared: Callable[[Any], Any]) -> Callable:
    """The kernel that computes with the values what the op does with a dense array."""
    kernels = kernel_table(op)

    def kernel(input: Any, *args: Any, out: Any = None) -> Any:
        array = prepared(input)
        if out is input and array is not input:
            raise RuntimeError(f"{op}_ requires coalesced input")
        return deliver(array.with_values(kernels[np.ndarray](array.values, *args)), out)

    return kernel


def deliver(result: Any, out: Any) -> Any:
    """The result, or the array that is to hold it, if it can."""
    if out is None:
        return result
    if isinstance(out, np.ndarray):
        raise RuntimeError(
            "Expected self.is_sparse() && result.is_sparse() to be true, but got false.  (Could this error message be "
            "improved?  If so, please report an enhancement request to PyTorch.)"
        )
    check_result_dtype(result.dtype, out.dtype)
    return out.become(result if result.dtype == out.dtype else result.astype(out.dtype))
