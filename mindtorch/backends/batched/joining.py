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
        joined = [each for each in tensors if tuple(each.shape) != (0,)] or [batch.sample(each, 0) for each in tensors]
        dtype = reduce(promote, [tensor.dtype for tensor in tensors])
        if not any(map(batch.has, joined)):
            return batch.filled(_joined(op, joined, dim, dtype))
        return _joined(op, [batch.filled(each) for each in joined], shifted_dims(dim, joined[0].ndim), dtype)

    return batched(op, rule)


def _joined(op: str, tensors: Sequence[Any], dim: Any, dtype: Any) -> Any:
    first, *others = tensors
    return run(op, [first if first.dtype == dtype else convert(first, dtype), *others], dim)


def stack(op: str, promotion: str) -> Kernel:
    def rule(batch: Batch, tensors: Sequence[Any], dim: int = 0) -> Any:
        return run(op, [batch.filled(tensor) for tensor in tensors], shifted_dims(dim, tensors[0].ndim + 1))

    return batched(op, rule)
