"""Gradients that are reduced together: the buckets of `DistributedDataParallel`, and what its hooks see of them."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch._core import geometry
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.futures import Future

_FIRST_BUCKET = 1 << 20  # bytes; the first is small, so that communication begins early


class GradBucket:
    """The gradients of a bucket as a communication hook sees them."""

    def __init__(self, index: int, parameters: Sequence[Tensor], buffer: Tensor, is_last: bool) -> None:
        self._index = index
        self._parameters = list(parameters)
        self._buffer = buffer
        self._is_last = is_last

    def index(self) -> int:
        """The place of the bucket; the first is reduced first."""
        return self._index

    def buffer(self) -> Tensor:
        """The gradients, flat, one after the other."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Take another tensor for the gradients."""
        self._buffer = buffer

    def gradients(self) -> list[Tensor]:
        """The parts of the buffer, in the shapes of the parameters."""
        return views_of(self._buffer, self._parameters)

    def parameters(self) -> list[Tensor]:
        """The parameters."""
        return list(self._parameters)

    def is_last(self) -> bool:
        """Whether it is reduced last."""
        return self._is_last


class Bucket:
    """Parameters of one dtype, and the memory in which their gradients are reduced."""

    def __init__(self, index: int, parameters: Sequence[Tensor], dtype: Dtype | None) -> None:
        self.index = index
        self.parameters = list(parameters)
        self.is_last = False
        self.buffer = ops.zeros(sum(each.numel() for each in parameters), dtype=dtype or parameters[0].dtype)
        self.views = views_of(self.buffer, self.parameters)
        self.waiting = 0  # how many gradients are still to come
        self.future: Future | None = None

    def for_hooks(self) -> GradBucket:
        """What a communication hook gets."""
        return GradBucket(self.index, self.parameters, self.buffer, self.is_last)

    def fill(self) -> None:
        """Copy the gradients into the buffer, zeros for those that are missing."""
        for parameter, view in zip(self.parameters, self.views, strict=True):
            if parameter.grad is None:
                view.zero_()
            elif parameter.grad is not view:
                view.copy_(parameter.grad.detach())

    def take(self) -> None:
        """Wait for the reduced gradients, and put them into the buffer."""
        assert self.future is not None
        reduced = self.future.wait()
        reduced = reduced[0] if isinstance(reduced, list) else reduced
        if reduced is not self.buffer:
            self.buffer.copy_(reduced)


def views_of(buffer: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """The parts of a flat buffer, each with the shape of its parameter, and with its strides if that has no gaps."""
    parts = buffer.split([each.numel() for each in parameters])
    return [_laid_out(part, each) for part, each in zip(parts, parameters, strict=True)]


def _laid_out(part: Tensor, parameter: Tensor) -> Tensor:
    if parameter.is_contiguous() or not geometry.is_non_overlapping_and_dense(
        tuple(parameter.shape), parameter.stride()
    ):
        return part.view(parameter.shape)
    return part.as_strided(parameter.shape, parameter.stride(), part.storage_offset())


def buckets_of(parameters: Sequence[Tensor], cap: int, dtype: Dtype | None = None) -> list[Bucket]:
    """The parameters in buckets of one dtype and at most `cap` bytes; those whose gradients come first are first.

    They are reduced in `dtype`, if one is given.
    """
    groups: list[list[Tensor]] = []
    for each in reversed(parameters):
        limit = min(_FIRST_BUCKET, cap) if len(groups) <= 1 else cap
        fits = groups and groups[-1][0].dtype is each.dtype and sum(p.nbytes for p in groups[-1]) + each.nbytes <= limit
        if fits:
            groups[-1].append(each)
        else:
            groups.append([each])
    made = [Bucket(index, group, dtype) for index, group in enumerate(groups)]
    made[-1].is_last = True
    return made
