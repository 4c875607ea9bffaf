"""Products and sums with sparse tensors: `mindtorch.sparse`."""

from typing import Any

from mindtorch.dispatch import ops
from mindtorch.sparse.legacy import BFloat16Tensor as BFloat16Tensor
from mindtorch.sparse.legacy import ByteTensor as ByteTensor
from mindtorch.sparse.legacy import CharTensor as CharTensor
from mindtorch.sparse.legacy import DoubleTensor as DoubleTensor
from mindtorch.sparse.legacy import FloatTensor as FloatTensor
from mindtorch.sparse.legacy import HalfTensor as HalfTensor
from mindtorch.sparse.legacy import IntTensor as IntTensor
from mindtorch.sparse.legacy import LongTensor as LongTensor
from mindtorch.sparse.legacy import ShortTensor as ShortTensor
from mindtorch.tensor import Tensor

spmm = dsmm = ops.mm  # their old names at the top of the library


def mm(sparse: Tensor, dense: Tensor) -> Tensor:
    """The matrix product of a sparse matrix and a dense (or sparse) one."""
    return ops._sparse_mm(sparse, dense)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * mat + alpha * (mat1 @ mat2)` with a sparse `mat1`."""
    return ops._sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of a sparse tensor: over all dimensions a dense number, over some of them a sparse tensor."""
    if dim is None:
        values = input.coalesce().values()
        return values.sum() if dtype is None else values.sum(dtype=dtype)
    dense = input.to_dense()
    summed = dense.sum(dim) if dtype is None else dense.sum(dim, dtype=dtype)
    return summed.to_sparse()
