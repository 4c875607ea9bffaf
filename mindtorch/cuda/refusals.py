"""What is said of calls that need a device."""

from typing import Any


def refuse(*args: Any, **kwargs: Any) -> Any:  # NoReturn would hide what follows a call from type checkers
    raise AssertionError("Torch not compiled with CUDA enabled")
