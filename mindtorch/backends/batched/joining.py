"""`cat` and `stack`: every tensor gets all samples."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from mindtorch._core.promotion import promote
from mindtorch.backends.batched.batch import Batch, Kernel, batched, run
from mindtorch.backends.batched.dims import shifted_dims
from mindtorch.backends.batched.pointwise import convert


def cat(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, tensors: Sequence[Any], dim: int = 0) -> Any:
        # A tensor of shape (0,) is left out, whatever the shape of the others is, but for the dtype.
        joined = [tensor for tensor in tensors if tuple(tensor.shape) != (0,)] or list(tensors)
        first, *others = [batch.filled(tensor) for tensor in joined]
        dtype = reduce(promote, [tensor.dtype for tensor in tensors])
        first = first if first.dtype == dtype else convert(first, dtype)
        return run(op, [first, *others], shifted_dims(dim, joined[0].ndim))

    return batched(op, rule)


def stack(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, tensors: Sequence[Any], dim: int = 0) -> Any:
        return run(op, [batch.filled(tensor) for tensor in tensors], shifted_dims(dim, tensors[0].ndim + 1))

    return batched(op, rule)
