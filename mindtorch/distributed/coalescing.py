"""Several collectives as one."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from mindtorch.distributed.work import Work
from mindtorch.distributed.world import group_or_default


class _coalescing_manager:  # noqa: N801 - PyTorch's name
    """Collectives inside the `with` statement run at its end, as one: they share a sequence number.

    With `async_ops=True`, `wait()` of the object that the statement gives waits for all of them.
    """

    def __init__(self, group: Any = None, device: Any = None, async_ops: bool = False) -> None:
        self._group = group_or_default(group)
        self._async = async_ops
        self.works: list[Work] = []

    def __enter__(self) -> _coalescing_manager:
        if self._group.coalesced is not None:
            raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
        self._group.coalesced = []
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, traceback: TracebackType | None) -> None:
        calls, self._group.coalesced = self._group.coalesced, None
        if kind is None and calls:
            work = self._group.coalesced_collectives(calls, self._async)
            if work is not None:
                self.works.append(work)

    def append(self, work: Work | None) -> None:
        """Wait for this work as well."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all."""
        for work in self.works:
            work.wait()
