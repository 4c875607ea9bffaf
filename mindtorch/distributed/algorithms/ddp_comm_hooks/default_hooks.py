"""Hooks that take the mean of the gradients, in their dtype or in half precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.dtype import bfloat16, float16
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.distributed.collectives import all_reduce
from mindtorch.distributed.world import group_or_default
from mindtorch.futures import Future
from mindtorch.nn.parallel.buckets import GradBucket

Hook = Callable[[Any, GradBucket], Future]


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The mean over all processes: what happens without a hook."""
    return mean(process_group, bucket.buffer())


def mean(process_group: Any, tensor: Tensor) -> Future:
    """The mean of the tensors of all processes, in their memory."""
    group = group_or_default(process_group)
    work = all_reduce(tensor.div_(group.size()), group=group, async_op=True)
    assert work is not None
    return work.get_future().then(_first)


def _first(future: Future) -> Tensor:
    return future.value()[0]


def _compress_hook(dtype: Dtype, process_group: Any, bucket: GradBucket) -> Future:
    buffer = bucket.buffer()
    return mean(process_group, buffer.to(dtype)).then(lambda future: buffer.copy_(future.value()))


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The mean, sent as float16."""
    return _compress_hook(float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future:
    """The mean, sent as bfloat16."""
    return _compress_hook(bfloat16, process_group, bucket)


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook whose bucket is in float16."""
    return _compressed(hook, float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """A hook whose bucket is in bfloat16."""
    return _compressed(hook, bfloat16)


def _compressed(hook: Hook, dtype: Dtype) -> Hook:
    def compressed(state: Any, bucket: GradBucket) -> Future:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(state, bucket).then(lambda future: buffer.copy_(future.value()))

    return compressed
