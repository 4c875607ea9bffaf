"""Modules of settings: what programs set is kept, and `patch` sets it for a block or a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._support.lazy import names_from


def settings_of(module: str) -> tuple[Callable[..., Any], Callable[[str], Any]]:
    """The `patch` of a module of settings, and its `__getattr__`, which has PyTorch's defaults of other settings."""

    @contextmanager
    def patched(changes: dict[str, Any]) -> Iterator[None]:
        settings = sys.modules[module]
        before = {name: getattr(settings, name, None) for name in changes}
        vars(settings).update(changes)
        try:
            yield
        finally:
            vars(settings).update(before)

    def patch(arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Any:
        """A context manager and decorator: `patch(name=value)`, `patch("name", value)` or `patch({"name": value})`."""
        return patched({arg1: arg2} if isinstance(arg1, str) else {**(arg1 or {}), **kwargs})

    return patch, names_from(module, {})
