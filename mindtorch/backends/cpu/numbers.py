"""Python numbers that must fit into a dtype, as torch's `value cannot be converted` check sees it."""

import math
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch.promotion import BFLOAT16, BOOL, CDOUBLE, CFLOAT, DOUBLE, FLOAT, HALF, real_of

_C_NAMES = {
    **{np.dtype(each): f"{each}_t" for each in ("uint8", "int8", "int16", "int64", "uint16", "uint32", "uint64")},
    np.dtype("int32"): "int",
    HALF: "c10::Half",
    BFLOAT16: "c10::BFloat16",
    FLOAT: "float",
    DOUBLE: "double",
    CFLOAT: "c10::complex<float>",
    CDOUBLE: "c10::complex<double>",
}


def fitting(number: complex, dtype: np.dtype[Any]) -> np.ndarray:
    """The number as a 0-d array of `dtype`; torch's RuntimeError when it lies outside of the dtype's range."""
    if dtype == BOOL:
        return np.array(bool(number))
    if not _fits(number, dtype):
        raise RuntimeError(f"value cannot be converted to type {_C_NAMES[dtype]} without overflow")
    if isinstance(number, complex) and dtype.kind != "c":
        number = number.real
    return np.array(number).astype(dtype)


def _fits(number: complex, dtype: np.dtype[Any]) -> bool:
    if isinstance(number, complex):
        if dtype.kind == "c":
            return _fits(number.real, real_of(dtype)) and _fits(number.imag, real_of(dtype))
        return number.imag == 0 and _fits(number.real, dtype)
    if dtype.kind not in "iu":
        return not math.isfinite(number) or abs(number) <= ml_dtypes.finfo(real_of(dtype)).max
    limits = np.iinfo(dtype)
    if isinstance(number, float):
        return bool(limits.min <= number <= limits.max)
    lowest = limits.min or -limits.max  # a negative number may wrap around in an unsigned dtype
    return bool(lowest <= number <= limits.max)
