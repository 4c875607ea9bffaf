"""Names of dtypes and shapes as torch's kernels write them in their messages, and checks that several kernels share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import c_name as c_name_of
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.promotion import COMPLEX, is_integral, promote
from mindtorch._support import errors


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


def expect_dtypes(like: Any, *arrays: np.ndarray | None) -> None:
    dtype = like.dtype
    for array in arrays:
        if array is not None and array.dtype is not dtype:
            expect_dtype(array, like)


def expect_gradient_dtype(grad: np.ndarray, input: np.ndarray, name: str, start: str = "expected") -> None:
    """The text of pooling, which writes the gradient's name in its own way in each kernel."""
    if grad.dtype != input.dtype:
        raise RuntimeError(f"{start} dtype {c_name(input)} for `{name}` but got dtype {c_name(grad)}")


def expect_parameters(input: np.ndarray, *parameters: np.ndarray | None) -> None:
    """Parameters and statistics have an element for each channel, or none, and the dtype of the input.

    They are of float32, all of them, if the input is of half precision.
    """
    if input.ndim < 2:
        raise errors.dim_out_of_range(1, input.ndim)
    given = [each for each in parameters if each is not None]
    channels = input.shape[1]
    if any([each.size != channels for each in given]):
        _expect_elements(channels, given)
    if not given or given[0].dtype == input.dtype:
        expect_dtypes(input, *given)
    elif any(each.dtype != np.float32 for each in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    elif input.dtype.itemsize != 2:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _expect_elements(count: int, arrays: Iterable[np.ndarray]) -> None:
    for each in arrays:
        if each.size not in (0, count):
            raise RuntimeError(f"expected {count} elements in parameters and statistics, but got {each.size}")


def expect_sizes(array: np.ndarray, sizes: Sequence[int], name: str) -> None:
    """The sizes of a gradient; torch has a text for some ops and reads what lies behind the gradient in others."""
    if array.shape != tuple(sizes):
        raise RuntimeError(f"expected sizes {list(sizes)} for `{name}` but got sizes {list(array.shape)}")


def expect_size(array: np.ndarray, ndim: int, dim: int, size: int) -> None:
    if array.ndim <= dim:
        raise errors.dim_out_of_range(dim, array.ndim)
    found = array.shape[dim]
    if array.ndim != ndim or found != size:
        raise RuntimeError(
            f"Expected a tensor of dimension {ndim} and tensor.size[{dim}] == {size} but got: dimension {array.ndim} "
            f"and tensor.size[{dim}] = {found}"
        )


def expect_indices(indices: np.ndarray, name: str, op: str) -> None:
    if indices.dtype.kind != "i" or indices.dtype.itemsize < 4:
        raise wrong_type(indices, name, "Long, Int", op)


def wrong_type(array: np.ndarray, name: str, expected: str, op: str) -> RuntimeError:
    found = scalar_name(array)
    kind = f"CPU{found}Type" if array.dtype.kind in "bcV" else f"torch.{found}Tensor"
    return RuntimeError(
        f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: {expected}; but got "
        f"{kind} instead (while checking arguments for {op})"
    )


def expect_index_dtype(indices: np.ndarray) -> None:
    if indices.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_name(indices)}")


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


def check_asked_dtype(function: str, own: np.dtype[Any], dtype: Dtype | None) -> None:
    if dtype is None:
        return
    asked = dtype.storage_name
    if is_integral(dtype.numpy):
        raise RuntimeError(f"linalg.{function}: dtype should be floating point or complex, but got {asked}")
    if (own in COMPLEX) != dtype.is_complex:
        kind = "complex" if own in COMPLEX else "real"
        raise RuntimeError(f"linalg.{function}: dtype should be {kind} for {kind} inputs, but got {asked}")
    if promote(own, dtype.numpy) != dtype.numpy:
        raise RuntimeError(
            f"linalg.{function}: the dtype of the input ({FROM_NUMPY[own].storage_name}) should be convertible without "
            f"narrowing to the specified dtype ({asked})"
        )


def check_fit(op: str, A: np.ndarray, B: np.ndarray, left: bool) -> None:
    """Refuses the sides of a linear system whose sizes do not match."""
    if A.shape[-1] != B.shape[-2 if left else -1]:
        sizes = [f"{each.shape[-2]}x{each.shape[-1]}" for each in (A, B)]
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{op}: Incompatible shapes of A and B for the equation {equation} ({sizes[0]} and {sizes[1]})"
        )


def check_static_size(size: int) -> None:
    """Refuses numbers of rows that `nonzero_static` cannot give."""
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
