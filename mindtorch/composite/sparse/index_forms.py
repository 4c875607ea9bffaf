"""The rows of the elements of a sparse matrix: one index for each, or the place where each row begins."""

from typing import Any

from mindtorch._core.dtype import int32, int64
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops


def convert_indices_from_coo_to_csr(input: Tensor, size: int, out_int32: bool = False) -> Tensor:
    """Where each of `size` rows begins, and where the last one ends, from the row of each element, in order."""
    if input.dim() > 1:
        raise RuntimeError(f"Input is supposed to be a vector, but got {input.dim()} dimensional tensor.")
    _check_integral(input, "convert_indices_from_coo_to_csr_cpu")
    places = ops.arange(size + 1, dtype=input.dtype, device=input.device)
    return ops.searchsorted(input, places).to(_index_dtype(out_int32))


def convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and the column of each element."""
    _check_integral(crow_indices, "convert_indices_from_csr_to_coo_cpu")
    numbers = ops.arange(len(crow_indices) - 1, device=crow_indices.device)
    rows = ops.repeat_interleave(numbers, ops.diff(crow_indices))
    pair = (col_indices, rows) if transpose else (rows, col_indices)
    return ops.stack([each.to(_index_dtype(out_int32)) for each in pair])


def _check_integral(indices: Tensor, kernel: str) -> None:
    if indices.is_floating_point() or indices.is_complex():
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{indices.dtype.storage_name}'")


def _index_dtype(is_short: bool) -> Any:
    return int32 if is_short else int64
