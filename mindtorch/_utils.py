"""Helpers that programs take from `torch._utils`: several tensors as one, and back."""

from collections.abc import Iterable, Sequence

from mindtorch.dispatch import ops
from mindtorch.dtype import dtype as Dtype
from mindtorch.tensor import Tensor


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    return ops.cat([tensor.contiguous().view(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple([part.view_as(tensor) for part, tensor in zip(parts, tensors)])


def _element_size(dtype: Dtype) -> int:
    """How many bytes an element has."""
    return dtype.itemsize
