"""Products and sums with sparse tensors: `mindtorch.sparse`."""

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support import errors
from mindtorch.composite.sparse.sparse_math import sparse_sum
from mindtorch.dispatch import ops
from mindtorch.sparse.compressed import sparse_bsc_tensor as sparse_bsc_tensor
from mindtorch.sparse.compressed import sparse_bsr_tensor as sparse_bsr_tensor
from mindtorch.sparse.compressed import sparse_compressed_tensor as sparse_compressed_tensor
from mindtorch.sparse.compressed import sparse_csc_tensor as sparse_csc_tensor
from mindtorch.sparse.compressed import sparse_csr_tensor as sparse_csr_tensor
from mindtorch.sparse.gradcheck import as_sparse_gradcheck as as_sparse_gradcheck
from mindtorch.sparse.invariants import check_sparse_tensor_invariants as check_sparse_tensor_invariants
from mindtorch.sparse.legacy import BFloat16Tensor as BFloat16Tensor
from mindtorch.sparse.legacy import ByteTensor as ByteTensor
from mindtorch.sparse.legacy import CharTensor as CharTensor
from mindtorch.sparse.legacy import DoubleTensor as DoubleTensor
from mindtorch.sparse.legacy import FloatTensor as FloatTensor
from mindtorch.sparse.legacy import HalfTensor as HalfTensor
from mindtorch.sparse.legacy import IntTensor as IntTensor
from mindtorch.sparse.legacy import LongTensor as LongTensor
from mindtorch.sparse.legacy import ShortTensor as ShortTensor

mm = ops._sparse_mm  # of a sparse matrix and a dense or sparse one, also with the word of a reduction
spmm = dsmm = ops.mm  # their old names at the top of the library


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * mat + alpha * (mat1 @ mat2)` with a sparse `mat1`."""
    return ops._sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor: over all dimensions a dense number, over some of them a sparse tensor."""
    if dim is not None:
        return sparse_sum(input, [dim] if isinstance(dim, int) else dim, dtype)
    values = input.coalesce().values()
    return values.sum() if dtype is None else values.sum(dtype=dtype)


def spsolve(input: Tensor, other: Tensor, *, left: bool = True) -> Tensor:
    """The solution of a sparse system of equations; no backend of the CPU has it."""
    raise errors.no_kernel("_spsolve", "SparseCsrCPU" if input.layout.is_compressed else "CPU", ["SparseCsrCUDA"])


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Tensor | None = None
) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)` at the places of a compressed `input`."""
    return ops.sparse_sampled_addmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The softmax along a dimension of a sparse tensor, over the elements that there are."""
    return ops._sparse_softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax`."""
    return ops._sparse_log_softmax(input, dim, dtype)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A sparse matrix with the rows of a matrix on the diagonals of these offsets."""
    return ops._spdiags(diagonals, offsets, tuple(shape), layout)
