"""`profile`: a block in which the time of every call of an op is taken."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from enum import Enum
from typing import Any

from mindtorch._core import state
from mindtorch._core.device import accelerator
from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch._support.op_names import qualified
from mindtorch.profiler.events import EventList, FunctionEvent, Kernel

_thread = state.thread


class ProfilerActivity(Enum):
    """What can be watched: the CPU, whatever is asked for, and as `PrivateUse1` the accelerator."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a profiler does during a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    return {ProfilerActivity.CPU} | ({ProfilerActivity.PrivateUse1} if accelerator() in _KERNEL_WATCHES else set())


# What notes the kernels of a type of devices.
_KERNEL_WATCHES: dict[str | None, Any] = {"npu": lazy("mindtorch.npu.profiling")}


class Watch:
    """Takes the times of the calls of a thread."""

    def __init__(self, record_shapes: bool, device: str | None = None) -> None:
        self.record_shapes = record_shapes
        self.events: list[FunctionEvent] = []
        self._running: FunctionEvent | None = None
        self._device = device
        self._kernels = None if device is None else _KERNEL_WATCHES[device].KernelWatch(lambda: self._running)

    def switch(self, on: bool) -> None:
        """Note the kernels of the device from now on, or no longer; then they are among the events."""
        if self._kernels is None or self._device is None:
            return
        if on:
            self._kernels.start()
            return
        self._kernels.stop()
        for launch in self._kernels.launches():
            if launch.caller is not None:
                launch.caller.kernels.append(Kernel(launch.name, launch.device_index, launch.duration))
            event = FunctionEvent(launch.name, launch.start, [], None, end=launch.start + launch.duration)
            event.device_type, event.device_index, event.stream = self._device, launch.device_index, launch.stream
            self.events.append(event)

    def timed(self, run: Callable, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Make a call of an op."""
        shown = args if self.record_shapes else ()
        shapes = [list(value.shape) if isinstance(value, Tensor) else [] for value in shown]
        event = self.begin(qualified(function.op.base), shapes)  # type: ignore[attr-defined]
        try:
            return run(function, args, kwargs)
        finally:
            self.end(event)

    def begin(self, name: str, shapes: list, is_user_annotation: bool = False) -> FunctionEvent:
        event = FunctionEvent(name, 0.0, shapes, self._running, is_user_annotation)
        if self._running is not None:
            self._running.cpu_children.append(event)
        self._running = event
        self.events.append(event)
        event.start = _now()
        return event

    def end(self, event: FunctionEvent) -> None:
        event.end = _now()
        self._running = event.cpu_parent


def _now() -> float:
    return time.perf_counter_ns() / 1e3


class record_function(ContextDecorator):
    """A block, or a decorated function, that has a name in the profile."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._event: tuple[Watch, FunctionEvent] | None = None

    def __enter__(self) -> record_function:
        watch = _thread.profiler
        if watch is not None:
            self._event = watch, watch.begin(self.name, [], is_user_annotation=True)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._event is not None:
            watch, event = self._event
            watch.end(event)


class profile:
    """A block whose calls are timed; with a schedule, some of the steps in it."""

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
    ) -> None:
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._device = self._device_of(activities)
        self._watch = Watch(record_shapes, self._device)
        self._is_on = False

    @staticmethod
    def _device_of(activities: Iterable[ProfilerActivity] | None) -> str | None:
        """The type of device whose kernels are watched; there may be none of it."""
        wanted = supported_activities() if activities is None else set(activities)
        return accelerator() if ProfilerActivity.PrivateUse1 in wanted & supported_activities() else None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def start(self) -> None:
        self._act()

    def stop(self) -> None:
        was_recording = self._is_on
        self._switch(False)
        if was_recording and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """Say that the next step begins."""
        ready = self.current_action is ProfilerAction.RECORD_AND_SAVE
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if ready:
            self._switch(False)
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)
        self._act()

    def _act(self) -> None:
        records = self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if records and not self._is_on:
            self._watch = Watch(self.record_shapes, self._device)
        self._switch(records)

    def _switch(self, on: bool) -> None:
        if on != self._is_on:
            _thread.profiler = self._watch if on else None
            state.count_thread_mode(1 if on else -1)
            self._watch.switch(on)
            self._is_on = on

    # -------------------- what was seen --------------------

    def events(self) -> EventList:
        return EventList(self._watch.events)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """One entry for each op, or for each op and shapes of its inputs."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str) -> None:
        """Write the calls as a file that chrome://tracing shows."""
        self.events().export_chrome_trace(path)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Steps to wait, to warm up and to record, again and again or `repeat` times."""

    def action_of(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        length = wait + warmup + active
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action_of


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """A function for `on_trace_ready` that writes each trace to a file of its own in a folder."""

    def write(profiler: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        path = os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json")
        profiler.export_chrome_trace(f"{path}.gz" if use_gzip else path)

    return write
