"""Optimizers that share their state among processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.device import device as Device
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import enable_grad, no_grad
from mindtorch.dispatch import ops
from mindtorch.distributed.algorithms.local_sgd import PostLocalSGDOptimizer
from mindtorch.distributed.coalescing import _coalescing_manager
from mindtorch.distributed.collectives import broadcast
from mindtorch.distributed.objects import gather_object
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.world import default_group
from mindtorch.nn.parallel.joining import Join, Joinable, JoinHook
from mindtorch.optim import Optimizer

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """Each process keeps the state of some of the parameters, steps for these and sends them to the others.

    The gradients have to be the same in all processes, as `DistributedDataParallel` makes them. To save the state, all
    call `consolidate_state_dict`, and one of them `state_dict`, which is as that of an ordinary optimizer.
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type[Optimizer],
        process_group: ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer of mindtorch does not have overlap_with_ddp")
        self._is_made = False
        self._optimizer_class = optimizer_class
        self._defaults = defaults
        Optimizer.__init__(self, _checked(params), defaults)
        Joinable.__init__(self)
        self.process_group = process_group or default_group()
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._is_made = True
        self._spread()

    # -------------------- who has what --------------------

    def _spread(self) -> None:
        self._share_out()
        self._make_own()

    def _share_out(self) -> None:
        """Give each process about the same number of elements, the largest parameters of each group first."""
        self._parts: list[list[list[Tensor]]] = [[] for _ in range(self.world_size)]
        loads = [0] * self.world_size
        for group in self.param_groups:
            for part in self._parts:
                part.append([])
            for each in sorted(group["params"], key=lambda parameter: parameter.numel(), reverse=True):
                rank = loads.index(min(loads))
                self._parts[rank][-1].append(each)
                loads[rank] += each.numel()
        self._all_states: list[dict[str, Any]] = []
        self._sent = self._buffers() if self.parameters_as_bucket_view else self._parameters_by_rank()

    def _make_own(self) -> None:
        """The optimizer of the parameters of this process. (Optimizers don't take empty groups.)"""
        placeholder = ops.zeros(0)
        groups = [
            {**_options(group), "params": own or [placeholder]}
            for group, own in zip(self.param_groups, self._parts[self.rank], strict=True)
        ]
        self.optim = self._optimizer_class(groups, **self._defaults)
        self.state = self.optim.state
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            group.update({key: value for key, value in _options(own).items() if key not in group})

    def _parameters_by_rank(self) -> list[list[Tensor]]:
        return [[each for group in part for each in group] for part in self._parts]

    @no_grad()
    def _buffers(self) -> list[list[Tensor]]:
        """The parameters of each process in one tensor for each dtype, which they become views of."""
        return [self._joined(part) for part in self._parameters_by_rank()]

    def _joined(self, parameters: list[Tensor]) -> list[Tensor]:
        buffers = []
        for dtype in dict.fromkeys(each.dtype for each in parameters):
            same = [each for each in parameters if each.dtype is dtype]
            buffer = ops.cat([each.detach().reshape(-1) for each in same])
            for each, part in zip(same, buffer.split([each.numel() for each in same]), strict=True):
                each.data = part.view(each.shape)
            buffers.append(buffer)
        return buffers

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Take further parameters, which the processes share out; those that they have stay where they are."""
        if not self._is_made:
            Optimizer.add_param_group(self, param_group)
            return
        Optimizer.add_param_group(self, param_group)
        self._share_out()
        own = self._parts[self.rank][-1]
        self.optim.add_param_group({**_options(self.param_groups[-1]), "params": own or [ops.zeros(0)]})
        _copy_options(self.optim.param_groups, self.param_groups)

    # -------------------- steps --------------------

    def step(self, closure: Callable[[], float] | None = None, **kwargs: Any) -> Any:
        """Step for the own parameters, and take the others as their processes have made them."""
        Join.notify_join_context(self)
        _copy_options(self.param_groups, self.optim.param_groups)
        with enable_grad():
            loss = None if closure is None else closure()
        if self._sent[self.rank]:
            self.optim.step(**kwargs)
        _copy_options(self.optim.param_groups, self.param_groups)
        self._exchange()
        return loss

    def _exchange(self) -> None:
        with _coalescing_manager(self.process_group):
            for rank, tensors in enumerate(self._sent):
                for each in tensors:
                    broadcast(each.detach(), group=self.process_group, group_src=rank)

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A process that has no inputs left steps for its parameters."""
        return _Stepping(self)

    @property
    def join_device(self) -> Device:
        """Where the parameters are."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> ProcessGroup:
        """The processes."""
        return self.process_group

    # -------------------- states --------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the states of all processes in one; all of them call this."""
        _copy_options(self.param_groups, self.optim.param_groups)
        own = {self._index()[parameter]: state for parameter, state in self.state.items()}
        said: list[Any] | None = [None] * self.world_size if self.rank == to else None
        gather_object(own, said, group=self.process_group, group_dst=to)
        self._all_states = said or []

    def _index(self) -> dict[Tensor, int]:
        everything = [each for group in self.param_groups for each in group["params"]]
        return {each: place for place, each in enumerate(everything)}

    def state_dict(self) -> dict[str, Any]:
        """The states of all parameters, as an ordinary optimizer has them."""
        if not self._all_states:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the global "
                "state."
            )
        index = self._index()
        states = {place: state for part in self._all_states for place, state in part.items()}
        return {
            "state": dict(sorted(states.items())),
            "param_groups": [
                {**_options(group), "params": [index[each] for each in group["params"]]} for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the states of the own parameters."""
        saved = [len(group["params"]) for group in state_dict["param_groups"]]
        if saved != [len(group["params"]) for group in self.param_groups]:
            raise ValueError("loaded state dict has a different number of parameter groups, or of parameters in them")
        numbers = [number for group in state_dict["param_groups"] for number in group["params"]]
        index = self._index()
        own = self.optim.state_dict()
        for numbered, part, given in zip(
            own["param_groups"], self._parts[self.rank], state_dict["param_groups"], strict=True
        ):
            numbered.update(_options(given))
            for number, parameter in zip(numbered["params"], part, strict=False):
                own["state"].pop(number, None)
                if numbers[index[parameter]] in state_dict["state"]:
                    own["state"][number] = state_dict["state"][numbers[index[parameter]]]
        self.optim.load_state_dict(own)
        self.state = self.optim.state
        self._all_states = []
        _copy_options(self.optim.param_groups, self.param_groups)


def _checked(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {type(params).__name__}")
    given = list(params)
    if not given:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if not all(isinstance(each, (Tensor, dict)) for each in given):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    return given


class _Stepping(JoinHook):
    """Steps with the processes that still have inputs."""

    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self._optimizer = optimizer

    def main_hook(self) -> None:
        self._optimizer.step()


def _options(group: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if key != "params"}


def _copy_options(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
    for given, group in zip(source, target, strict=True):
        group.update(_options(given))


__all__ = ["PostLocalSGDOptimizer", "ZeroRedundancyOptimizer"]
