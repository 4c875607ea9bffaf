"""The older profiler: a block, without steps."""

from __future__ import annotations

from typing import Any

from mindtorch._core.device import accelerator
from mindtorch._support.unavailable import no_cuda
from mindtorch.profiler.events import EventList, FunctionEvent, FunctionEventAvg
from mindtorch.profiler.profile import ProfilerActivity, record_function
from mindtorch.profiler.profile import profile as _profile

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "emit_nvtx", "profile", "record_function"]


class profile(_profile):
    """A block whose calls are timed, if it is enabled."""

    def __init__(
        self, enabled: bool = True, *, record_shapes: bool = False, use_device: str | None = None, **ignored: Any
    ) -> None:
        activities = {ProfilerActivity.CPU}
        if use_device is not None and use_device in ("privateuseone", accelerator()):
            activities.add(ProfilerActivity.PrivateUse1)
        super().__init__(activities=activities, record_shapes=record_shapes)
        self.enabled = enabled

    def __enter__(self) -> profile | None:  # type: ignore[override]
        return super().__enter__() if self.enabled else None  # type: ignore[return-value]

    @property
    def function_events(self) -> EventList:
        return self.events()

    @property
    def self_cpu_time_total(self) -> float:
        """How long the ops took, in microseconds."""
        return self.events().self_cpu_time_total

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The calls as a text, one line for each."""
        return self.events().table(*args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        return self.events().total_average()

    def __str__(self) -> str:
        return str(self.events())


class emit_nvtx:
    """A block whose calls would be shown to the profiler of a device."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx | None:
        return no_cuda() if self.enabled else None

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was changed."""
