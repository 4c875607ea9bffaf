"""Streams and events of NPUs, under torch's names."""

from typing import Any

from mindtorch._core import streams
from mindtorch.backends.npu.array import numbered
from mindtorch.backends.npu.runtime import device as runtime
from mindtorch.backends.npu.runtime import stream as orders
from mindtorch.npu.devices import index_of


class Stream(streams.Stream):
    """An order of work on a device: what is launched on one stream is done one after the other."""

    torch_name = "torch_npu.npu.Stream"

    def __init__(self, device: Any = None, priority: int = 0, *, runtime_stream: orders.Stream | None = None) -> None:
        self._order = runtime_stream or orders.new(runtime.checked(index_of(device)))
        self.device = numbered(self._order.device)

    @property
    def stream_id(self) -> int:  # type: ignore[override]
        return self._order.number

    @property
    def device_index(self) -> int:  # type: ignore[override]
        return self._order.device

    @property
    def npu_stream(self) -> int:
        """The handle of the runtime."""
        return self._order.handle or 0

    @property
    def device_type(self) -> int:  # type: ignore[override]
        """The number that torch has for this type of device."""
        return 20

    @property
    def priority(self) -> int:
        """All streams have the same one."""
        return 0

    def is_capturing(self) -> bool:
        """Whether a graph is being captured: there are no graphs."""
        return False

    def query(self) -> bool:
        """Whether everything on the stream is done."""
        return self._order.is_done()

    def synchronize(self) -> None:
        """Wait until everything on the stream is done."""
        self._order.synchronize()

    def wait_event(self, event: "Event") -> None:  # type: ignore[override]
        """Do nothing more on the stream before an event has happened; does not block."""
        event.wait(self)

    def wait_stream(self, stream: "Stream") -> None:  # type: ignore[override]
        """Do nothing more on the stream before another one has done what it was given so far; does not block."""
        self.wait_event(stream.record_event())

    def record_event(self, event: "Event | None" = None) -> "Event":  # type: ignore[override]
        """An event that happens when the stream has done what it was given so far."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other._order is self._order

    def __hash__(self) -> int:
        return hash((self.npu_stream, self.device))

    def __enter__(self) -> "Stream":
        self._block = StreamContext(self)
        self._block.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._block.__exit__(*exc_info)

    def __repr__(self) -> str:
        return f"<torch_npu.npu.Stream device={self.device} npu_stream={self.npu_stream:#x}>"


class ExternalStream(Stream):
    """A stream that another library has made and will destroy."""

    torch_name = "torch_npu.npu.ExternalStream"

    def __init__(self, stream_ptr: int, device: Any = None) -> None:
        super().__init__(runtime_stream=orders.Stream(index_of(device), stream_ptr, stream_ptr))


class Event(streams.Event):
    """A moment on a stream; to be waited for, or measured."""

    torch_name = "torch_npu.npu.Event"

    def __init__(
        self, device: Any = None, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        if isinstance(device, bool):  # torch_npu has `enable_timing` in the first place
            device, enable_timing = None, device
        if interprocess:
            raise NotImplementedError("events of NPUs cannot be sent to other processes")
        self._enable_timing = enable_timing
        self._moment = orders.Event(enable_timing)

    @property
    def device(self) -> Any:  # type: ignore[override]
        return None if self._moment.handle is None else numbered(self._moment.device)

    @property
    def npu_event(self) -> int:
        """The handle of the runtime."""
        return self._moment.handle or 0

    def record(self, stream: Stream | None = None) -> None:  # type: ignore[override]
        """Happen when the stream (the current one, by default) has done what it was given so far."""
        self._moment.record((current_stream() if stream is None else stream)._order)

    def wait(self, stream: Stream | None = None) -> None:  # type: ignore[override]
        """Have a stream (the current one, by default) do nothing more before the event has happened."""
        (current_stream() if stream is None else stream)._order.wait_for(self._moment)

    def query(self) -> bool:
        """Whether the event has happened."""
        return self._moment.is_done()

    def synchronize(self) -> None:
        """Wait until the event has happened."""
        self._moment.synchronize()

    def elapsed_time(self, end_event: "Event") -> float:  # type: ignore[override]
        """The milliseconds from this event to a later one."""
        if not (self._enable_timing and end_event._enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._moment.handle is None or end_event._moment.handle is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return self._moment.milliseconds_until(end_event._moment)

    def __repr__(self) -> str:
        if self.npu_event:
            return f"<torch_npu.npu.Event {self.npu_event:#x}>"
        return "<torch_npu.npu.Event uninitialized>"


# -------------------- the current stream --------------------


def current_stream(device: Any = None) -> Stream:
    """The stream on which this thread launches."""
    return Stream(runtime_stream=orders.current(_checked(device)))


def default_stream(device: Any = None) -> Stream:
    """The stream that a device has from the start."""
    return Stream(runtime_stream=orders.default(_checked(device)))


def _checked(device: Any) -> int:
    return runtime.checked(index_of(device))


def set_stream(stream: Stream | None) -> None:
    """Launch on a stream from now on, and on its device."""
    if stream is not None:
        runtime.choose(stream.device_index)
        orders.set_current(stream._order)


class StreamContext:
    """A block in which this thread launches on a stream."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self._device = runtime.current()
            self._before = orders.current(self.stream.device_index)
            set_stream(self.stream)

    def __exit__(self, *exc_info: object) -> None:
        if self.stream is not None:
            orders.set_current(self._before)
            runtime.choose(self._device)


def stream(stream: Stream | None) -> StreamContext:
    """A block in which this thread launches on a stream."""
    return StreamContext(stream)


def is_current_stream_capturing() -> bool:
    """Whether a graph is being captured: there are no graphs."""
    return False
