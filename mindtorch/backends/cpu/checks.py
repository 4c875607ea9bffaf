"""Names of dtypes and shapes as torch's kernels write them in their messages, and checks that several kernels share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mindtorch import errors
from mindtorch.dtype import FROM_NUMPY
from mindtorch.dtype import c_name as c_name_of


def scalar_name(array: Any) -> str:
    """The dtype as in `expected scalar type Float`."""
    return FROM_NUMPY[array.dtype].storage_name


def c_name(array: np.ndarray) -> str:
    """The dtype as C++ spells it: `c10::Half`."""
    return c_name_of(FROM_NUMPY[array.dtype])


def times(sizes: Iterable[int], sign: str = " x ") -> str:
    return sign.join(map(str, sizes))


def expect_dtype(array: np.ndarray | None, like: Any) -> None:
    if array is not None and array.dtype != like.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(like)} but found {scalar_name(array)}")


def not_implemented(kernel: str, array: np.ndarray) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(array)}'")


def is_float(array: np.ndarray) -> bool:
    return array.dtype.kind in "fV"  # bfloat16 is of NumPy's kind V


def expect_float(array: np.ndarray, kernel: str) -> None:
    if not is_float(array):
        raise not_implemented(kernel, array)


def no_eigenvalues(A: np.ndarray) -> Exception:
    """NumPy doesn't tell which matrix it was, nor LAPACK's code: the first that is not finite, or else of all."""
    batch = ""
    if A.ndim > 2:
        finite = np.isfinite(A).all((-2, -1)).ravel()
        batch = f"(Batch element {finite.argmin()}): "
    return errors.LinAlgError(
        f"linalg.eigh: {batch}The algorithm failed to converge because the input matrix is ill-conditioned or has too "
        f"many repeated eigenvalues (error code: {A.shape[-1] - 1})."
    )
