"""Steps that all processes take together: an error of one is an error of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.distributed.objects import all_gather_object, broadcast_object_list
from mindtorch.distributed.process_group import ProcessGroup
from mindtorch.distributed.world import default_group, is_initialized


class CheckpointException(BaseException):
    """Some processes have failed; `failures` has their errors by rank."""

    def __init__(self, msg: str, failures: dict[int, BaseException]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, BaseException]:
        """The errors, by the rank of the process."""
        return self._failures

    def __str__(self) -> str:
        said = "\n".join(f"rank {rank}: {type(error).__name__}: {error}" for rank, error in self._failures.items())
        return f"CheckpointException ranks:{self._failures.keys()}\n{said}"


class Together:
    """The processes that save or load a checkpoint; this one alone if there is no group."""

    def __init__(self, group: ProcessGroup | None, no_dist: bool) -> None:
        alone = no_dist or not is_initialized()
        self.group = None if alone else group or default_group()
        self.rank = 0 if self.group is None else self.group.rank()

    def everywhere(self, name: str, step: Callable[[], Any]) -> list[Any]:
        """Run a step in all processes; its results, by rank."""
        said = self._gathered(_outcome(step))
        failures = {rank: outcome for rank, (is_well, outcome) in enumerate(said) if not is_well}
        if failures:
            raise CheckpointException(name, failures)
        return [outcome for _, outcome in said]

    def by_first(self, name: str, step: Callable[[], Any]) -> Any:
        """Run a step in the process of rank 0; all get its result."""
        said = [_outcome(step) if self.rank == 0 else None]
        if self.group is not None:
            broadcast_object_list(said, group=self.group, group_src=0)
        is_well, outcome = said[0]  # type: ignore[misc]
        if not is_well:
            raise CheckpointException(name, {0: outcome})
        return outcome

    def _gathered(self, value: Any) -> list[Any]:
        if self.group is None:
            return [value]
        said: list[Any] = [None] * self.group.size()
        all_gather_object(said, value, self.group)
        return said


def _outcome(step: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, step()
    except Exception as error:  # noqa: BLE001 (whatever it is, all processes get it)
        return False, error
