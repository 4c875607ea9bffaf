"""`Reducer`: reduces the gradients of `DistributedDataParallel` while the backward pass goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.dtype import int32
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import tensor
from mindtorch._support.lazy import lazy
from mindtorch._support.pytree import tree_leaves
from mindtorch.autograd._engine.execution import queue_callback
from mindtorch.futures import Future
from mindtorch.nn.parallel.buckets import Bucket, GradBucket

dist: Any = lazy("mindtorch.distributed")

_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss. You can enable unused parameter detection by "
    "passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by "
    "making sure all `forward` function outputs participate in calculating loss.\nParameter indices which did not "
    "receive grad for rank"
)
_READY_TWICE = (
    "Expected to mark a variable ready only once. This error is caused by a parameter that takes part in several "
    "backward passes, or by one that is shared by several checkpoints. With `static_graph=True` both work."
)
_CHANGED = (
    "Your training graph has changed in this iteration, e.g., one parameter is {} in first iteration, but then got {} "
    "in the second iteration. this is not compatible with static_graph set to True."
)


class Reducer:
    """Reduces buckets in the order that all processes share, as their gradients become complete."""

    def __init__(
        self,
        parameters: Sequence[Tensor],
        buckets: list[Bucket],
        group: Any,
        find_unused: bool,
        as_views: bool,
        is_static: bool,
    ) -> None:
        self._parameters = parameters
        self._buckets = buckets
        self._group = group
        self._find_unused = find_unused
        self._as_views = as_views
        self._is_static = is_static
        self._bucket_of = {parameter: bucket for bucket in buckets for parameter in bucket.parameters}
        self._uses: Counter[Tensor] = Counter()  # the gradients that have come in this pass
        self._unused: set[Tensor] = set()
        self._first_uses: Counter[Tensor] | None = None  # those of the first pass of a static graph
        self._used_somewhere: set[Tensor] | None = None  # of a static graph: by which process ever
        self._next = len(buckets)
        self._is_expecting = self._is_queued = False
        self.is_syncing = True  # False in `no_sync`
        self.divisor = group.size()
        self.hook: Callable[[GradBucket], Future] | None = None
        for parameter in self._bucket_of:
            parameter.register_post_accumulate_grad_hook(self._accumulated)

    # -------------------- forward --------------------

    def begin(self) -> None:
        """A forward pass begins; the one before must have been reduced."""
        if self._is_expecting and self._uses and self._next < len(self._buckets):
            if self._is_static:
                raise RuntimeError(_CHANGED.format("used", "unused"))
            missing = [place for place, each in enumerate(self._parameters) if each not in self._uses]
            raise RuntimeError(f"{_UNFINISHED} {self._group.rank()}: {' '.join(str(place) for place in missing)}")

    def expect(self, output: Any) -> None:
        """The gradients of these outputs are to be reduced."""
        self._is_expecting, self._is_queued = True, False
        self._uses = Counter()
        self._next = 0
        for bucket in self._buckets:
            bucket.waiting = self._awaited(bucket)
            bucket.future = None
        if self._is_static:
            _at_beginning(output, self._queue_end)
        elif self._find_unused:
            self._expect_some(output)

    def _awaited(self, bucket: Bucket) -> int:
        if self._first_uses is None:
            return len(bucket.parameters)
        return sum(self._first_uses[each] for each in bucket.parameters)

    def _expect_some(self, output: Any) -> None:
        reached = _leaves_below(output)
        self._unused = {each for each in self._bucket_of if each not in reached}
        for each in self._unused:
            self._bucket_of[each].waiting -= 1
        if len(self._unused) == len(self._bucket_of):  # no gradient will come that would begin it
            self._reduce_complete()
            self._end()

    # -------------------- backward --------------------

    def _queue_end(self) -> None:
        if not self._is_queued:
            self._is_queued = True
            queue_callback(self._end)

    def _accumulated(self, parameter: Tensor) -> None:
        if not self._is_expecting or not self.is_syncing:
            return
        self._uses[parameter] += 1
        self._bucket_of[parameter].waiting -= 1
        if self._is_static:
            if self._first_uses is None:
                return  # which gradients will come is known at the end
            if self._uses[parameter] > self._first_uses[parameter]:
                raise RuntimeError(_CHANGED.format("unused", "used"))
        else:
            if self._uses[parameter] > 1:
                raise RuntimeError(_READY_TWICE)
            self._queue_end()
        self._reduce_complete()

    def _reduce_complete(self) -> None:
        while self._next < len(self._buckets) and self._buckets[self._next].waiting == 0:
            bucket = self._buckets[self._next]
            bucket.fill()
            self._reduce(bucket)
            self._next += 1

    def _reduce(self, bucket: Bucket) -> None:
        bucket.future = self._mean(bucket) if self.hook is None else self.hook(bucket.for_hooks())

    def _mean(self, bucket: Bucket) -> Future:
        work = dist.all_reduce(bucket.buffer.div_(self.divisor), group=self._group, async_op=True)
        return work.get_future().then(_first)

    def _end(self) -> None:
        """The backward pass has ended: hand out what was reduced."""
        if self._is_static and self._first_uses is None:
            self._first_uses = self._uses
            for bucket in self._buckets:
                bucket.waiting = 0
            self._reduce_complete()
        if self._next < len(self._buckets):
            return  # parameters without a gradient: the next forward pass says which
        used = self._used_by_any()
        for bucket in self._buckets:
            self._hand_out(bucket, used)
        self._is_expecting = False

    def _used_by_any(self) -> set[Tensor] | None:
        """The parameters that a process has used; None if all have to be."""
        if self._used_somewhere is not None or not (self._find_unused or self._is_static):
            return self._used_somewhere
        used = self._all_used([each in self._uses for each in self._parameters])
        if self._is_static:
            self._used_somewhere = used
        return used

    def _all_used(self, own: list[bool]) -> set[Tensor]:
        counts = tensor(own, dtype=int32)
        dist.all_reduce(counts, group=self._group)
        return {each for each, count in zip(self._parameters, counts.tolist(), strict=True) if count}

    def _hand_out(self, bucket: Bucket, used: set[Tensor] | None) -> None:
        bucket.take()
        for parameter, view in zip(bucket.parameters, bucket.views, strict=True):
            if used is not None and parameter not in used:
                continue  # no process has used it: its gradient stays as it is
            if self._as_views and view.dtype is parameter.dtype:
                parameter.grad = view
            elif parameter.grad is None:
                parameter.grad = view.to(parameter.dtype, copy=True)
            else:
                parameter.grad.detach().copy_(view)

    # -------------------- for the others --------------------

    def shadow(self) -> None:
        """Take part in a backward pass of the other processes, with gradients of zeros.

        Their mean is handed out here as well: an optimizer whose state is spread steps for the others.
        """
        for bucket in self._buckets:
            bucket.buffer.zero_()
            self._reduce(bucket)
        self._uses = Counter()
        used = self._used_by_any()
        for bucket in self._buckets:
            self._hand_out(bucket, used)


def _first(future: Future) -> Tensor:
    return future.value()[0]


def _at_beginning(output: Any, action: Callable[[], None]) -> None:
    """Call something when the backward pass comes to one of the outputs: in that pass, not in one inside it."""
    for each in tree_leaves(output):
        if isinstance(each, Tensor) and each.requires_grad:
            each.register_hook(lambda grad: action())


def _leaves_below(output: Any) -> set[Tensor]:
    """The leaves that the tensors of an output depend on."""
    waiting = [each.grad_fn for each in tree_leaves(output) if isinstance(each, Tensor) and each.grad_fn is not None]
    seen = set(waiting)
    found = {each for each in tree_leaves(output) if isinstance(each, Tensor)}
    while waiting:
        node = waiting.pop()
        if hasattr(node, "variable"):
            found.add(node.variable)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return found
