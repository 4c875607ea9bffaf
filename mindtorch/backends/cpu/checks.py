"""Names of dtypes and shapes as torch's kernels write them in their messages."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

SCALAR_NAMES = {
    "float64": "Double",
    "float32": "Float",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
}

C_NAMES = {
    "float64": "double",
    "float32": "float",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
}


def scalar_name(array: np.ndarray) -> str:
    """The dtype as in `expected scalar type Float`."""
    return SCALAR_NAMES[array.dtype.name]


def c_name(array: np.ndarray) -> str:
    """The dtype as C++ spells it: `c10::Half`."""
    return C_NAMES[array.dtype.name]


def times(sizes: Iterable[int], sign: str = " x ") -> str:
    return sign.join(map(str, sizes))


def expect_dtype(array: np.ndarray, like: np.ndarray) -> None:
    if array.dtype != like.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(like)} but found {scalar_name(array)}")


def not_implemented(kernel: str, array: np.ndarray) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(array)}'")


def expect_float(array: np.ndarray, kernel: str) -> None:
    if array.dtype.kind not in "fV":
        raise not_implemented(kernel, array)
