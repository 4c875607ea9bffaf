"""`Stream` and `Event` of any device. The CPU has one stream, on which everything is done in order."""

from typing import Any

from mindtorch._core.device import accelerator, accelerators, as_device
from mindtorch._core.device import device as Device
from mindtorch._support.lazy import lazy

_modules: dict[str, Any] = {"npu": lazy("mindtorch.npu")}  # of devices that have streams
_NO_EVENTS = "cpu backend doesn't support events."


def _on(device: Any) -> Device:
    """The device that is meant; that of the accelerator, or the CPU, if none is given."""
    wanted = as_device((accelerator() or "cpu") if device is None else device)
    if wanted.type != "cpu" and (wanted.type not in accelerators or not accelerators[wanted.type]()):
        raise RuntimeError(f"PyTorch is not linked with support for {wanted.type} devices")
    return wanted


class Stream:
    """The one order in which everything is computed."""

    __module__ = "mindtorch"

    torch_name = "torch.Stream"
    stream_id, device_index, device_type = 0, -1, 0

    def __new__(cls, device: Any = None, *args: Any, **kwargs: Any) -> "Stream":
        if cls is Stream and (kind := _on(device).type) != "cpu":
            cls = _modules[kind].Stream
        return super().__new__(cls)

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _on(device)

    def query(self) -> bool:
        """Everything before is computed already."""
        return True

    def is_capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_event(self, event: "Event") -> None:
        """Nothing to wait for."""

    def wait_stream(self, stream: "Stream") -> None:
        raise RuntimeError(_NO_EVENTS)

    def record_event(self, event: "Event | None" = None) -> "Event":
        raise RuntimeError(_NO_EVENTS)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was changed."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return self.stream_id

    def __repr__(self) -> str:
        return "torch.Stream device_type=cpu, device_index=-1, stream_id=0"


class Event:
    """A moment in the order in which everything is computed; on the CPU it cannot be recorded."""

    __module__ = "mindtorch"

    torch_name = "torch.Event"
    event_id = 0

    def __new__(cls, device: Any = None, *args: Any, **kwargs: Any) -> "Event":
        if cls is Event and (kind := _on(device).type) != "cpu":
            cls = _modules[kind].Event
        return super().__new__(cls)

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.device = _on(device)
        self._enable_timing = enable_timing

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing to wait for."""

    def record(self, stream: Stream | None = None) -> None:
        raise RuntimeError(_NO_EVENTS)

    def elapsed_time(self, end_event: "Event") -> float:
        if not (self._enable_timing and end_event._enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def __repr__(self) -> str:
        flag = int(self._enable_timing)
        return f"torch.Event device_type=cpu, device_index=-1, event_flag={flag}, event_id=0"
