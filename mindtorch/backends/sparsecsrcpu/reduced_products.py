"""The product of a CSR matrix and a dense one in which the terms of an element are reduced by other words than sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from mindtorch._core.layout import sparse_csr
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.checks import is_float, not_implemented, scalar_name
from mindtorch.backends.cpu.common.precision import deliver, widen
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecsrcpu.array import CompressedArray


class _Extreme(NamedTuple):
    """The ufunc that finds it, and what it begins with, which no term that equals it replaces."""

    ufunc: np.ufunc
    begin: float


_EXTREMES = {
    "amax": _Extreme(np.maximum, -np.inf),
    "max": _Extreme(np.maximum, -np.inf),
    "amin": _Extreme(np.minimum, np.inf),
    "min": _Extreme(np.minimum, np.inf),
}


def mm_reduce(input: CompressedArray, other: np.ndarray, reduce: str) -> tuple[np.ndarray, np.ndarray]:
    """The product, and for extremes which of the values made each element: `nnz` where none did."""
    _check(input, other)
    _check_word(reduce)
    if not is_float(other):
        raise not_implemented("spmm_reduce_kernel", other)
    return quiet(_mm_reduce, input, other, reduce)


def _check(input: CompressedArray, other: Any) -> None:
    _check_matrix(input)
    if isinstance(other, CompressedArray | SparseArray):
        raise RuntimeError(
            f"Expected tensor to have Strided Layout, but got tensor with {other.layout.shown} Layout (while checking "
            "arguments for sparse_mm_reduce)"
        )
    if other.dtype != input.dtype:
        raise RuntimeError(
            f"Expected tensor for argument #1 'other' to have scalar type {scalar_name(input)}; but got "
            f"torch.{scalar_name(other)}Tensor instead (while checking arguments for sparse_mm_reduce)"
        )
    if other.ndim != 2 or len(other) != input.shape[1]:
        raise RuntimeError(
            f"Expected a tensor of dimension 2 and tensor.size[0] == {input.shape[1]} but got: dimension "
            f"{other.ndim} and tensor.size[0] = {len(other)}"
        )


def _check_matrix(input: CompressedArray) -> None:
    if input.layout is not sparse_csr:
        raise RuntimeError(f"sparse_mm_reduce: expect self to be SparseCsr, got {input.layout.shown}")
    if input.ndim - input.dense_dim != 2:
        raise RuntimeError(f"sparse_mm_reduce: expected self to be a 2-D tensor, got {input.ndim}-D tensor.")
    if input.dense_dim:
        raise RuntimeError("sparse_mm_reduce: expected non-hybrid self tensor.")


def _widened(array: np.ndarray) -> np.ndarray:
    return cast(np.ndarray, widen(array))


def _check_word(reduce: str) -> None:
    if reduce == "prod":
        raise RuntimeError("sparse_mm_reduce: reduce type of prod has not been enabled.")
    if reduce not in ("sum", "mean", *_EXTREMES):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")


def _mm_reduce(input: CompressedArray, other: np.ndarray, reduce: str) -> tuple[np.ndarray, np.ndarray]:
    result = np.zeros((input.shape[0], other.shape[1]), other.dtype)
    places = np.empty(0, input.plain.dtype)
    if not input.nnz:
        return result, places
    terms, rows = _widened(input.values)[:, None] * _widened(other)[input.plain], _Rows(input)
    extreme = _EXTREMES.get(reduce)
    if extreme is None:
        result[rows.filled] = deliver(_sums(terms, rows, reduce), other)
        return result, places
    found = rows.reduced(extreme.ufunc, terms)
    places = np.full(result.shape, input.nnz, input.plain.dtype)
    places[rows.filled] = _places(terms, found, rows, extreme.begin)
    result[rows.filled] = deliver(found, other)
    return result, places


class _Rows:
    """The rows of a matrix that have values: where each begins, and how many it has."""

    __slots__ = ("filled", "starts", "lengths")

    def __init__(self, matrix: CompressedArray) -> None:
        lengths = np.diff(matrix.compressed)
        self.filled = np.flatnonzero(lengths)
        self.starts = matrix.compressed[self.filled]
        self.lengths = lengths[self.filled]

    def reduced(self, ufunc: np.ufunc, terms: np.ndarray) -> np.ndarray:
        """The terms of each row as one, from the first to the last."""
        return ufunc.reduceat(terms, self.starts, axis=0)

    def repeated(self, values: np.ndarray) -> np.ndarray:
        """What is known of each row, for each of its terms."""
        return np.repeat(values, self.lengths, axis=0)


def _sums(terms: np.ndarray, rows: _Rows, reduce: str) -> np.ndarray:
    sums = rows.reduced(np.add, terms)
    return sums / rows.lengths[:, None].astype(sums.dtype) if reduce == "mean" else sums


def _places(terms: np.ndarray, found: np.ndarray, rows: _Rows, begin: float) -> np.ndarray:
    """Which term became each element: the last nan, or else the first of equals; none that equals the beginning."""
    count = len(terms)
    numbers = np.broadcast_to(np.arange(count)[:, None], terms.shape)
    last = rows.reduced(np.maximum, np.where(np.isnan(terms), numbers, -1))
    first = rows.reduced(np.minimum, np.where(terms == rows.repeated(found), numbers, count))
    return np.where(last >= 0, last, np.where(found == begin, count, first))


# -------------------- gradients --------------------


def mm_reduce_backward(
    input: CompressedArray,
    grad_out: np.ndarray,
    weight: np.ndarray,
    reduce: str,
    arg_out: np.ndarray,
    output_mask: Sequence[bool],
) -> tuple[CompressedArray | None, np.ndarray | None]:
    """The gradients of the compressed matrix, which has its places, and of the dense one."""
    terms = _Chosen(input, arg_out) if reduce in _EXTREMES and input.nnz else _All(input, reduce)
    given = widen(grad_out), widen(weight)
    values = quiet(terms.of_values, *given) if output_mask[0] else None
    other = quiet(terms.of_other, *given) if output_mask[1] else None
    return (
        None if values is None else input.with_values(deliver(values, input.values)),
        None if other is None else deliver(other, weight),
    )


class _All:
    """Of sums and means, every term has a share of the gradient."""

    __slots__ = ("rows", "columns", "shares", "counts")

    def __init__(self, input: CompressedArray, reduce: str) -> None:
        self.rows, self.columns = input.places()
        values = _widened(input.values)
        lengths = np.diff(input.compressed).astype(values.dtype)[self.rows]
        self.counts = lengths if reduce == "mean" else np.ones_like(lengths)
        # torch keeps the values divided by the counts, in half precision where they are
        self.shares = _widened(deliver(values / self.counts, input.values))

    def of_values(self, grad: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return (grad[self.rows] * weight[self.columns]).sum(axis=1) / self.counts

    def of_other(self, grad: np.ndarray, weight: np.ndarray) -> np.ndarray:
        result = np.zeros_like(weight)
        np.add.at(result, self.columns, grad[self.rows] * self.shares[:, None])
        return result


class _Chosen:
    """Of extremes, only the term that each element is."""

    __slots__ = ("values", "at", "of", "inner")

    def __init__(self, input: CompressedArray, places: np.ndarray) -> None:
        self.values = _widened(input.values)
        self.at = np.nonzero(places < input.nnz)
        self.of = places[self.at]  # which of the values
        self.inner = input.plain[self.of], self.at[1]  # the element of the other matrix

    def of_values(self, grad: np.ndarray, weight: np.ndarray) -> np.ndarray:
        result = np.zeros_like(self.values)
        np.add.at(result, self.of, grad[self.at] * weight[self.inner])
        return result

    def of_other(self, grad: np.ndarray, weight: np.ndarray) -> np.ndarray:
        result = np.zeros_like(weight)
        np.add.at(result, self.inner, grad[self.at] * self.values[self.of])
        return result
