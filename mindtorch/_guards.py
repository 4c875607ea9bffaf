"""What programs ask of a compilation: there is none, so that no context of one is ever there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch._support.lazy import lazy
from mindtorch._support.pytree import tree_leaves

fake_tensor: Any = lazy("mindtorch._subclasses.fake_tensor")


class TracingContext:
    """What a compiler knows of the program that it traces."""

    @staticmethod
    def try_get() -> None:
        """The one of this thread: None."""

    @staticmethod
    def get() -> Any:
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")


class CompileContext:
    """What is compiled."""

    @staticmethod
    def try_get() -> None:
        """The one of this thread: None."""

    @staticmethod
    def current_compile_id() -> None:
        """The number of the compilation: None."""


@contextmanager
def tracing(context: Any) -> Iterator[Any]:
    """A block in which a context is the current one; the one that is given is None, as there is no other."""
    yield context


def active_fake_mode() -> Any:
    """The innermost `FakeTensorMode` that is active, or None."""
    return next((mode for mode, _ in _active_fake_modes()), None)


def detect_fake_mode(inputs: Any = None) -> Any:
    """The `FakeTensorMode` that is active, and that fake tensors among the inputs belong to; None if there is none.

    Raises `AssertionError` if there are several.
    """
    found = list(_active_fake_modes())
    for number, each in enumerate(tree_leaves(inputs)):
        mode = fake_tensor.maybe_get_fake_mode(each) if isinstance(each, Tensor) else None
        if mode is not None:
            found.append((mode, f"fake tensor input {number}"))
    for mode, place in found[1:]:
        if mode is not found[0][0]:
            raise AssertionError(
                f"fake mode ({found[0][0]}) from {found[0][1]} doesn't match mode ({mode}) from {place}"
            )
    return found[0][0] if found else None


def _active_fake_modes() -> Iterator[tuple[Any, str]]:
    """From the innermost on, with what errors say of each."""
    for number, mode in enumerate(reversed(state.thread.dispatch_modes)):
        if isinstance(mode, fake_tensor.FakeTensorMode):
            yield mode, f"active fake mode {number}"
