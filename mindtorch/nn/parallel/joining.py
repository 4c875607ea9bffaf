"""`Join`: processes whose inputs have ended take part in the collectives of those that have some left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops

dist: Any = lazy("mindtorch.distributed")

_MUCH = 1000  # iterations that a process waits for others before it warns


class JoinHook:
    """What a process does that has no inputs left."""

    def main_hook(self) -> None:
        """Take part in the collectives of one iteration of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when all inputs have ended."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


class Joinable(ABC):
    """Something whose collectives the `Join` statement can match."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _DISABLED

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What a process does that has no inputs left."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """The device of the collectives."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The group of the collectives."""


_DISABLED = _JoinConfig(enable=False, throw_on_early_termination=False, is_first_joinable=False)


class Join:
    """A `with` statement for a loop over inputs of which some processes have more than others.

    A process that leaves the loop matches the collectives of the others until they have no inputs left either. With
    `throw_on_early_termination=True` all raise an error as soon as one has none. Other arguments go to `join_hook`.
    """

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._hooks = [each.join_hook(**kwargs) for each in joinables]
        self._enable = enable
        self._throws = throw_on_early_termination
        for place, each in enumerate(joinables):
            each._join_config = _JoinConfig(enable, throw_on_early_termination, place == 0)
        self._group, self._device = self._shared()

    def _shared(self) -> tuple[Any, Any]:
        groups = [each.join_process_group for each in self._joinables]
        if any(each is not groups[0] for each in groups):
            raise ValueError("Using join context manager with multiple process groups")
        return groups[0], self._joinables[0].join_device

    def __enter__(self) -> None:
        """Begin the loop."""

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._enable or type:
            return
        is_last = self._match_others()
        for hook in self._hooks:
            hook.post_hook(is_last)
        for each in self._joinables:
            each._join_config = _DISABLED

    def _match_others(self) -> bool:
        """Whether no other process had inputs left when this one came."""
        rounds = 0
        while self._active():
            if self._throws:
                self._stop_others()
            for hook in self._hooks:
                hook.main_hook()
            rounds += 1
            if rounds == _MUCH:
                rank = dist.get_rank(self._group)
                warn(
                    f"Detected uneven input skew of greater than {_MUCH}. This means that rank {rank} has at least "
                    f"{_MUCH} fewer inputs than other currently-active ranks. This level of skew could lead to "
                    "performance degradation during training."
                )
        return rounds == 0

    def _active(self) -> int:
        count = ops.zeros(1, device=self._device)
        dist.all_reduce(count, group=self._group)
        return int(count.item())

    def _stop_others(self) -> None:
        dist.all_reduce(ops.ones(1, device=self._device), group=self._group)
        raise RuntimeError(f"Rank {dist.get_rank(self._group)} exhausted all inputs.")

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """Say that this process has inputs; a `Work` whose result is how many do, or None outside of `Join`."""
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        work = dist.all_reduce(ops.ones(1, device=device), group=group, async_op=True)
        if config.throw_on_early_termination:
            stops = ops.zeros(1, device=device)
            dist.all_reduce(stops, group=group)
            if stops.item():
                raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work
