"""Local SGD: after some steps gradients are reduced in parts of the group; `PostLocalSGDOptimizer` does the rest."""

from __future__ import annotations

from typing import Any

from mindtorch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
from mindtorch.distributed.algorithms.ddp_comm_hooks.default_hooks import mean
from mindtorch.distributed.groups import new_subgroups
from mindtorch.distributed.world import group_or_default
from mindtorch.futures import Future
from mindtorch.nn.parallel.buckets import GradBucket


class PostLocalSGDState:
    """Until `start_localSGD_iter` gradients are reduced in `process_group`, and then in `subgroup`, or not at all.

    Without a subgroup, the processes of each machine are one.
    """

    def __init__(
        self, process_group: Any, subgroup: Any, start_localSGD_iter: int, post_local_gradient_allreduce: bool = True
    ) -> None:
        self.process_group = process_group
        self.subgroup = subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count backward passes: the last bucket of one has come."""
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(state: PostLocalSGDState, bucket: GradBucket) -> Future:  # noqa: N802 - PyTorch's name
    """The mean over all processes at first, then that over the subgroup."""
    is_local = state.iter >= state.start_localSGD_iter
    state.maybe_increase_iter(bucket)
    if not is_local:
        return mean(group_or_default(state.process_group), bucket.buffer())
    if not state.post_local_gradient_allreduce:
        return noop_hook(state, bucket)
    if state.subgroup is None:
        state.subgroup, _ = new_subgroups()
    return mean(state.subgroup, bucket.buffer())


__all__ = ["PostLocalSGDState", "post_localSGD_hook"]
