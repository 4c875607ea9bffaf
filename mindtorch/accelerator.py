"""There is no accelerator here; programs that ask get told so."""

from typing import Any, NoReturn


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """The device to use, of which there is none."""


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_index = set_device_index = synchronize = current_stream = _refuse
