"""Whether compiled loops are used: MINDTORCH_JIT is 0 (never), 1 (always) or auto, and llvmlite is installed or not."""

import os
from functools import cache
from importlib import import_module

_VARIABLE = "MINDTORCH_JIT"
_MODES = ("0", "1", "auto")


@cache
def mode() -> str:
    """What the variable says when it is first asked for; auto without it."""
    found = os.environ.get(_VARIABLE, "auto")
    if found not in _MODES:
        raise RuntimeError(f"{_VARIABLE} is {found!r}; it must be 0, 1 or auto")
    return found


@cache
def is_installed() -> bool:
    """Whether llvmlite can be imported: its package may be there, and the library that it needs not."""
    try:
        import_module("llvmlite.binding")
    except (ImportError, OSError):
        return False
    return True


@cache
def is_on() -> bool:
    """Whether an op may have compiled loops; refuses a wish that cannot be fulfilled."""
    if mode() == "1" and not is_installed():
        raise ImportError(f"{_VARIABLE}=1 needs llvmlite, which is not installed: pip install 'mindtorch[jit]'")
    return mode() != "0" and is_installed()
