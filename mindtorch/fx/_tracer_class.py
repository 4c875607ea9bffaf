"""The tracer that graphs of pickles are made with, if they name none."""

from typing import Any

_classes: list[Any] = []


def register_default_tracer(cls: Any) -> Any:
    """A decorator: `Tracer` is defined in terms of `GraphModule`, which needs it for pickles."""
    _classes.append(cls)
    return cls


def default_tracer_class() -> Any:
    return _classes[0]
