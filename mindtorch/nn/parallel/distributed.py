"""`DistributedDataParallel`: processes that train one model, each on its part of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindtorch.autograd.execution import queue_callback
from mindtorch.autograd.grad_mode import is_grad_enabled
from mindtorch.dispatch import ops
from mindtorch.futures import Future
from mindtorch.lazy import lazy
from mindtorch.nn.modules.module import Module
from mindtorch.pytree import tree_leaves
from mindtorch.tensor import Tensor

dist: Any = lazy("mindtorch.distributed")  # most programs that import `nn` are one process

_FIRST_BUCKET = 1 << 20  # bytes; the first is small, so that communication begins early


class GradBucket:
    """Gradients that are reduced together, as communication hooks see them."""

    def __init__(self, index: int, parameters: Sequence[Tensor]) -> None:
        self._index = index
        self._parameters = list(parameters)
        self._is_last = False
        self._buffer = ops.zeros(sum(each.numel() for each in parameters), dtype=parameters[0].dtype)
        self._views = self._split(self._buffer)
        self.waiting = 0
        self.future: Future | None = None

    def _split(self, buffer: Tensor) -> list[Tensor]:
        parts = buffer.split([each.numel() for each in self._parameters])
        return [part.view(each.shape) for part, each in zip(parts, self._parameters, strict=True)]

    def index(self) -> int:
        """The place of the bucket; the first is reduced first."""
        return self._index

    def buffer(self) -> Tensor:
        """The gradients, flat, one after the other."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Take another tensor for the gradients."""
        self._buffer = buffer
        self._views = self._split(buffer)

    def gradients(self) -> list[Tensor]:
        """The parts of the buffer, in the shapes of the parameters."""
        return list(self._views)

    def parameters(self) -> list[Tensor]:
        """The parameters."""
        return list(self._parameters)

    def is_last(self) -> bool:
        """Whether it is reduced last."""
        return self._is_last

    def fill(self) -> None:
        """Copy the gradients into the buffer, zeros for those that are missing."""
        for parameter, view in zip(self._parameters, self._views, strict=True):
            if parameter.grad is None:
                view.zero_()
            elif parameter.grad is not view:
                view.copy_(parameter.grad)


def buckets_of(parameters: Sequence[Tensor], cap: int) -> list[GradBucket]:
    """The parameters in buckets of one dtype and at most `cap` bytes; those whose gradients come first are first."""
    groups: list[list[Tensor]] = []
    for each in reversed(parameters):
        limit = min(_FIRST_BUCKET, cap) if len(groups) <= 1 else cap
        fits = groups and groups[-1][0].dtype is each.dtype and sum(p.nbytes for p in groups[-1]) + each.nbytes <= limit
        if fits:
            groups[-1].append(each)
        else:
            groups.append([each])
    made = [GradBucket(index, group) for index, group in enumerate(groups)]
    made[-1]._is_last = True
    return made


class DistributedDataParallel(Module):
    """Wraps a module so that after each backward pass its gradients are the means over all processes.

    Parameters and buffers begin as those of rank 0. Gradients are reduced in buckets of `bucket_cap_mb` MiB while the
    backward pass goes on. `find_unused_parameters=True` lets parameters take part that the outputs don't depend on;
    otherwise such a parameter is an error of the next forward pass. `gradient_as_bucket_view=True` makes gradients
    views of the buckets, which saves their memory.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        super().__init__()
        if not dist.is_initialized():
            raise ValueError(
                "Default process group has not been initialized, please make sure to call init_process_group."
            )
        self.process_group = process_group or dist.group.WORLD
        self.module = module
        parameters = [each for each in module.parameters() if each.requires_grad]
        if not parameters:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that require a "
                "gradient."
            )
        if device_ids not in (None, []):
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with single-device/"
                f"multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, output_device "
                f"{output_device}, and module parameters {({each.device for each in parameters})}."
            )
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters or static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True
        self._parameters_to_reduce = parameters
        if init_sync:
            self._check_shapes()
            self._synchronize()
        self._reducer = Reducer(self, buckets_of(parameters, int((bucket_cap_mb or 25) * 2**20)))

    def _check_shapes(self) -> None:
        own = [(tuple(each.shape), str(each.dtype)) for each in self._parameters_to_reduce]
        said: list[Any] = [None] * self.process_group.size()
        dist.all_gather_object(said, own, self.process_group)
        rank = self.process_group.rank()
        if len(said[0]) != len(own):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {rank} has {len(own)} params, while rank 0 has "
                f"inconsistent {len(said[0])} params."
            )
        for place, (mine, first) in enumerate(zip(own, said[0], strict=True)):
            if mine != first:
                raise RuntimeError(
                    f"[{rank}]: params[{place}] in this process with sizes {list(mine[0])} appears not to match sizes "
                    "of the same param in process 0."
                )

    def _synchronize(self) -> None:
        for each in [*self.module.parameters(), *self.module.buffers()]:
            dist.broadcast(each.detach(), group=self.process_group, group_src=0)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Backward passes of forward passes inside the `with` statement add to the gradients of this process only."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Future]) -> None:
        """Reduce buckets by `hook(state, bucket)`, which gives a future of the reduced buffer."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        self._reducer.hook = lambda bucket: hook(state, bucket)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        reduces = is_grad_enabled() and self.require_backward_grad_sync
        if reduces:
            self._reducer.begin()
        if self.broadcast_buffers and self.training and self.require_backward_grad_sync:
            for each in self.module.buffers():
                dist.broadcast(each.detach(), group=self.process_group, group_src=0)
        output = self.module(*inputs, **kwargs)
        if reduces:
            self._reducer.expect(output)
        return output


class Reducer:
    """Reduces buckets in the order that all processes share, as their gradients become complete."""

    def __init__(self, owner: DistributedDataParallel, buckets: list[GradBucket]) -> None:
        self._owner = owner
        self._group = owner.process_group
        self._buckets = buckets
        self._bucket_of = {parameter: bucket for bucket in buckets for parameter in bucket.parameters()}
        self._used: set[Tensor] = set()
        self._unused: set[Tensor] = set()
        self._next = len(buckets)
        self._is_expecting = False
        self.hook: Callable[[GradBucket], Future] = self._mean
        for parameter in self._bucket_of:
            parameter.register_post_accumulate_grad_hook(self._accumulated)

    def begin(self) -> None:
        """A forward pass begins; the one before must have been reduced."""
        if self._is_expecting and 0 < len(self._used) and self._next < len(self._buckets):
            missing = [place for place, each in enumerate(self._owner._parameters_to_reduce) if each not in self._used]
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration before starting a new one. This error "
                "indicates that your module has parameters that were not used in producing loss. You can enable unused "
                "parameter detection by passing the keyword argument `find_unused_parameters=True` to "
                "`torch.nn.parallel.DistributedDataParallel`, and by making sure all `forward` function outputs "
                "participate in calculating loss.\nParameter indices which did not receive grad for rank "
                f"{self._group.rank()}: {' '.join(str(place) for place in missing)}"
            )

    def expect(self, output: Any) -> None:
        """The gradients of these outputs are to be reduced."""
        self._is_expecting = True
        self._used = set()
        self._unused = set()
        self._next = 0
        for bucket in self._buckets:
            bucket.waiting = len(bucket.parameters())
            bucket.future = None
        if self._owner.find_unused_parameters:
            reached = _leaves_below(output)
            self._unused = {each for each in self._bucket_of if each not in reached}

    def _accumulated(self, parameter: Tensor) -> None:
        if not self._is_expecting or not self._owner.require_backward_grad_sync:
            return
        if parameter in self._used:
            raise RuntimeError(
                "Expected to mark a variable ready only once. This error is caused by a parameter that takes part in "
                "several backward passes, or by one that is shared by several checkpoints."
            )
        if not self._used:
            queue_callback(self._finish)
            for each in self._unused:
                self._bucket_of[each].waiting -= 1
        self._used.add(parameter)
        self._bucket_of[parameter].waiting -= 1
        self._reduce_complete()

    def _reduce_complete(self) -> None:
        while self._next < len(self._buckets) and self._buckets[self._next].waiting == 0:
            bucket = self._buckets[self._next]
            bucket.fill()
            bucket.future = self.hook(bucket)
            self._next += 1

    def _mean(self, bucket: GradBucket) -> Future:
        buffer = bucket.buffer().div_(self._group.size())
        work = dist.all_reduce(buffer, group=self._group, async_op=True)
        return work.get_future().then(lambda future: future.value()[0])  # type: ignore[union-attr]

    def _finish(self) -> None:
        """The backward pass has ended: hand out what was reduced."""
        if self._next < len(self._buckets):
            return  # parameters without a gradient: the next forward pass says which
        used = self._used_by_any() if self._owner.find_unused_parameters else None
        for bucket in self._buckets:
            self._hand_out(bucket, used)
        self._is_expecting = False

    def _used_by_any(self) -> set[Tensor]:
        everything = self._owner._parameters_to_reduce
        said: list[Any] = [None] * self._group.size()
        dist.all_gather_object(
            said, [place for place, each in enumerate(everything) if each in self._used], self._group
        )
        return {everything[place] for each in said for place in each}

    def _hand_out(self, bucket: GradBucket, used: set[Tensor] | None) -> None:
        reduced = bucket.future.wait()  # type: ignore[union-attr]
        reduced = reduced[0] if isinstance(reduced, list) else reduced
        if reduced is not bucket.buffer():
            bucket.buffer().copy_(reduced)
        for parameter, view in zip(bucket.parameters(), bucket.gradients(), strict=True):
            if used is not None and parameter not in used:
                continue  # no process has used it: its gradient stays as it is
            if self._owner.gradient_as_bucket_view:
                parameter.grad = view
            elif parameter.grad is None:
                parameter.grad = view.clone()
            else:
                parameter.grad.detach().copy_(view)


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
