"""`DistributedDataParallel`: processes that train one model, each on its part of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mindtorch._core.device import device as Device
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch._support.pytree import tree_map
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import is_grad_enabled, no_grad
from mindtorch.dispatch import ops
from mindtorch.futures import Future
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parallel.buckets import GradBucket, buckets_of
from mindtorch.nn.parallel.joining import Join, Joinable, JoinHook
from mindtorch.nn.parallel.reducer import Reducer
from mindtorch.nn.utils.stateless import call_with

dist: Any = lazy("mindtorch.distributed")  # most programs that import `nn` are one process


@dataclass
class _MixedPrecision:
    """The dtypes in which a model computes, reduces gradients and keeps its buffers; parameters stay as they are."""

    param_dtype: Dtype | None = None
    reduce_dtype: Dtype | None = None
    buffer_dtype: Dtype | None = None


class DistributedDataParallel(Module, Joinable):
    """Wraps a module so that after each backward pass its gradients are the means over all processes.

    Parameters and buffers begin as those of rank 0. Gradients are reduced in buckets of `bucket_cap_mb` MiB while the
    backward pass goes on. `find_unused_parameters=True` lets parameters take part that the outputs don't depend on;
    otherwise such a parameter is an error of the next forward pass. `static_graph=True` finds out in the first pass
    which parameters are used, and how often. `gradient_as_bucket_view=True` makes gradients views of the buckets, which
    saves their memory.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: _MixedPrecision | None = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: Any = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        super().__init__()
        Joinable.__init__(self)
        _refuse_given(
            delay_all_reduce_named_params=delay_all_reduce_named_params,
            param_to_hook_all_reduce=param_to_hook_all_reduce,
            bucket_cap_mb_list=bucket_cap_mb_list,
        )
        self.process_group = _group(process_group, device_mesh)
        self.module = module
        self.device_mesh = device_mesh
        parameters = _parameters_of(module, device_ids, output_device)
        self.dim = dim
        self.mixed_precision = mixed_precision
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_forward_param_sync = True
        self._divides_by_all = True
        self._parameters_to_reduce = parameters
        sends_buffers = _sends_buffers(broadcast_buffers, forward_sync_buffers)
        self.forward_sync_buffers = bool(sends_buffers)
        if init_sync:
            self._check_shapes()
            self._send([*module.parameters(), *(module.buffers() if sends_buffers is not False else ())], 0)
        self._reducer = Reducer(
            parameters,
            buckets_of(parameters, int((bucket_cap_mb or 25) * 2**20), _reduced_in(mixed_precision)),
            self.process_group,
            find_unused_parameters,
            gradient_as_bucket_view,
            static_graph,
        )
        if mixed_precision is not None and mixed_precision.buffer_dtype is not None:
            _convert_buffers(module, mixed_precision.buffer_dtype)

    def _check_shapes(self) -> None:
        own = [(tuple(each.shape), str(each.dtype)) for each in self._parameters_to_reduce]
        said: list[Any] = [None] * self.process_group.size()
        dist.all_gather_object(said, own, self.process_group)
        # All processes find the same difference: none goes on and waits for the others.
        for rank, theirs in enumerate(said):
            if len(theirs) != len(said[0]):
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but Rank {rank} has {len(theirs)} params, while rank 0 "
                    f"has inconsistent {len(said[0])} params."
                )
            for place, (mine, first) in enumerate(zip(theirs, said[0], strict=True)):
                if mine != first:
                    raise RuntimeError(
                        f"[{rank}]: params[{place}] in this process with sizes {list(mine[0])} appears not to match "
                        "sizes of the same param in process 0."
                    )

    def _send(self, tensors: Sequence[Tensor], rank: int) -> None:
        with dist._coalescing_manager(self.process_group):
            for each in tensors:
                dist.broadcast(each.detach(), group=self.process_group, group_src=rank)

    @property
    def broadcast_buffers(self) -> bool:
        """Whether forward passes begin with the buffers of one process."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    @property
    def require_backward_grad_sync(self) -> bool:
        """Whether gradients are reduced."""
        return self._reducer.is_syncing

    @require_backward_grad_sync.setter
    def require_backward_grad_sync(self, value: bool) -> None:
        self._reducer.is_syncing = value

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
        if self._reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._reducer.hook = lambda bucket: hook(state, bucket)

    # -------------------- forward --------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if syncs:
            self._reducer.begin()
        self._say_that_there_are_inputs()
        self._send_buffers()
        if self._join_config.enable:
            self._any_syncs(self.require_backward_grad_sync)
        output = self._computed(inputs, kwargs)
        self.require_forward_param_sync = syncs
        if syncs:
            self._reducer.expect(output)
        return output

    def _computed(self, inputs: tuple, kwargs: dict[str, Any]) -> Any:
        dtype = None if self.mixed_precision is None else self.mixed_precision.param_dtype
        if dtype is None:
            return self.module(*inputs, **kwargs)

        def converted(value: Any) -> Any:
            return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value

        parameters = {name: converted(each) for name, each in self.module.named_parameters()}
        inputs, kwargs = tree_map(converted, (inputs, kwargs))
        return call_with(self.module, parameters, inputs, kwargs, tie_weights=True, strict=False)

    def _send_buffers(self) -> None:
        buffers = list(self.module.buffers())
        if buffers and self.forward_sync_buffers and self.training and self.require_forward_param_sync:
            self._send(buffers, self._common_rank(True) if self._join_config.enable else 0)

    # -------------------- uneven inputs --------------------

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """A `with` statement for a loop over inputs of which some processes have more than others.

        Gradients are divided by the number of all processes, or with `divide_by_initial_world_size=False` by that of
        the processes that had an input.
        """
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process does that has no inputs left."""
        self._divides_by_all = kwargs.get("divide_by_initial_world_size", True)
        return _Shadow(self)

    @property
    def join_device(self) -> Device:
        """Where the parameters are."""
        return self._parameters_to_reduce[0].device

    @property
    def join_process_group(self) -> Any:
        """The processes."""
        return self.process_group

    def _say_that_there_are_inputs(self) -> None:
        work = Join.notify_join_context(self)
        if work is not None and not self._divides_by_all:
            work.wait()
            self._reducer.divisor = int(work.result()[0].item())
        elif not self._join_config.enable:
            self._reducer.divisor = self.process_group.size()

    def _any_syncs(self, own: bool) -> bool:
        """Whether the processes that have inputs reduce the gradients of this iteration."""
        count = ops.ones(1) if own else ops.zeros(1)
        dist.all_reduce(count, group=self.process_group)
        return bool(count.item())

    def _common_rank(self, is_candidate: bool) -> int:
        """The highest rank among the candidates."""
        rank = ops.full((1,), self.process_group.rank() if is_candidate else -1)
        dist.all_reduce(rank, dist.ReduceOp.MAX, group=self.process_group)
        return int(rank.item())


class _Shadow(JoinHook):
    """Matches the collectives of processes that still have inputs."""

    def __init__(self, model: DistributedDataParallel) -> None:
        self._model = model

    def main_hook(self) -> None:
        model = self._model
        if model.forward_sync_buffers and model.training and model.require_forward_param_sync:
            buffers = list(model.module.buffers())
            if buffers:
                model._send(buffers, model._common_rank(False))
        model.require_forward_param_sync = model._any_syncs(False)
        if model.require_forward_param_sync:
            model._reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        model = self._model
        model._send([*model.module.parameters(), *model.module.buffers()], model._common_rank(is_last_joiner))


# -------------------- arguments --------------------


def _refuse_given(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value:
            raise NotImplementedError(f"DistributedDataParallel of mindtorch does not have the argument {name}")


def _group(process_group: Any, device_mesh: Any) -> Any:
    if process_group is not None and device_mesh is not None:
        raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
    if device_mesh is not None:
        if device_mesh.ndim != 1:
            raise RuntimeError(f"Only 1D device mesh is supported, but got {device_mesh}.")
        return device_mesh.get_group(mesh_dim=0)
    if not dist.is_initialized():
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return process_group or dist.group.WORLD


def _parameters_of(module: Module, device_ids: Any, output_device: Any) -> list[Tensor]:
    parameters: list[Tensor] = [each for each in module.parameters() if each.requires_grad]
    if not parameters:
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
        )
    if device_ids not in (None, []):
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with single-device/"
            f"multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, output_device "
            f"{output_device}, and module parameters {({each.device for each in parameters})}."
        )
    return parameters


def _sends_buffers(broadcast_buffers: bool | None, forward_sync_buffers: bool | None) -> bool | None:
    """Whether forward passes send buffers; None if they don't, but the constructor does."""
    if broadcast_buffers is not None:
        if forward_sync_buffers is not None:
            warn(
                "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated "
                "and its value is ignored when `forward_sync_buffers` is provided.",
                FutureWarning,
            )
        else:
            warn(
                "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
                "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you rely on "
                "buffers NOT being synced at init (e.g. rank-local buffers), keep using `broadcast_buffers=False` "
                "until `init_sync_buffers` is available.",
                FutureWarning,
            )
    if forward_sync_buffers is None:
        return broadcast_buffers is not False
    return True if forward_sync_buffers else None


def _reduced_in(precision: _MixedPrecision | None) -> Dtype | None:
    return None if precision is None else precision.reduce_dtype or precision.param_dtype


@no_grad()
def _convert_buffers(module: Module, dtype: Dtype) -> None:
    for each in module.buffers():
        if each.is_floating_point():
            each.data = each.to(dtype)
