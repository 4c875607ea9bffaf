"""What is said of calls that need a device."""

from typing import Any, NoReturn


def refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")
