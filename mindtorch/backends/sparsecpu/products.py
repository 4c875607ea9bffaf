"""Products of sparse matrices."""

from typing import Any, NoReturn

import numpy as np

from mindtorch.backends.cpu.common.checks import expect_dtype, scalar_name
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.dispatch.registry import register_kernels


def mm(input: SparseArray, mat2: Any, out: np.ndarray | None = None) -> Any:
    """sparse @ dense is dense, sparse @ sparse is sparse."""
    if isinstance(mat2, SparseArray):
        return _mm_sparse(input, mat2)
    check_product(input, mat2)
    return _delivered(input.dot(mat2), out)


def check_product(input: SparseArray, dense: np.ndarray) -> None:
    if input.sparse_dim != 2:
        raise RuntimeError(f"addmm: matrices expected, got {input.sparse_dim}D tensor")
    if dense.ndim != 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if input.shape[1] != dense.shape[0]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {input.shape[1]}, got {dense.shape[0]}")
    expect_dtype(dense, input)
    if input.dtype == np.bool_:
        raise NotImplementedError("\"addmm_sparse_dense\" not implemented for 'Bool'")


def _delivered(product: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    if out is None:
        return product
    out[...] = product
    return out


def _mm_sparse(input: SparseArray, mat2: SparseArray) -> SparseArray:
    """The elements of both that meet, multiplied and added up; also where that gives 0."""
    check_sparse_product(input, mat2)
    first, second = input.coalesce(), mat2.coalesce()
    left, right = meeting(first, second)
    places = np.stack([first.indices[0][left], second.indices[1][right]])
    products = first.values[left] * second.values[right]
    return SparseArray(places, products, (input.shape[0], mat2.shape[1]), False).coalesce()


def check_sparse_product(input: SparseArray, mat2: SparseArray) -> None:
    if input.ndim != 2 or mat2.ndim != 2:
        raise RuntimeError(
            "Expected mat1_.dim() == 2 to be true, but got false.  (Could this error message be improved?  If so, "
            "please report an enhancement request to PyTorch.)"
        )
    if input.shape[1] != mat2.shape[0]:
        (rows, inner), (length, columns) = input.shape, mat2.shape
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {length}x{columns})")
    names = scalar_name(input), scalar_name(mat2)
    if names[0] != names[1]:
        raise RuntimeError(f"mat1 dtype {names[0]} does not match mat2 dtype {names[1]}")
    if input.dtype.kind not in "fcV":
        raise NotImplementedError(f"\"sparse_matmul\" not implemented for '{names[0]}'")
    if input.dense_dim or mat2.dense_dim:
        dense_dim = input.dense_dim or mat2.dense_dim
        raise RuntimeError(f"sparse_sparse_matmul_cpu: scalar values expected, got {dense_dim}D values")


def meeting(first: SparseArray, second: SparseArray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of all pairs of elements where the column of the first is the row of the second."""
    starts = np.searchsorted(second.indices[0], first.indices[1])
    counts = np.searchsorted(second.indices[0], first.indices[1], side="right") - starts
    left = np.repeat(np.arange(first.nnz), counts)
    return left, np.arange(len(left)) + np.repeat(starts - np.cumsum(counts) + counts, counts)


def mv(input: SparseArray, vec: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if input.shape[-1] != vec.shape[-1]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    return _delivered(mm(input, vec[:, None])[:, 0], out)


def bmm(input: SparseArray, mat2: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Each matrix times the dense one of its number."""
    batch, rows, columns = input.coalesce().indices
    result = np.zeros((*input.shape[:2], mat2.shape[2]), input.dtype)
    np.add.at(result, (batch, rows), input.coalesce().values[:, None] * mat2[batch, columns])
    return _delivered(result, out)


def addmm(input: SparseArray, *args: Any, **options: Any) -> NoReturn:
    raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")


register_kernels("SparseCPU", {"addmm": addmm, "bmm": bmm, "mm": mm, "mv": mv})
