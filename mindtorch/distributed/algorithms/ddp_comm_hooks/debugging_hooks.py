"""A hook that sends nothing, to see what the rest takes."""

from __future__ import annotations

from typing import Any

from mindtorch.futures import Future
from mindtorch.nn.parallel.buckets import GradBucket


def noop_hook(_: Any, bucket: GradBucket) -> Future:
    """The gradients of this process, as they are."""
    future: Future = Future()
    future.set_result(bucket.buffer())
    return future


__all__ = ["noop_hook"]
