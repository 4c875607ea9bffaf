"""Fake implementations: what an op does to tensors without data, that is `meta` tensors."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Running(threading.local):
    """What `get_ctx` gives on this thread, and the sizes that stand for those which depend on data."""

    context: Callable[[], Any] | None = None
    sizes: Iterator[int] | None = None


_running = _Running()


class FakeImplCtx:
    """What `get_ctx()` gives to a fake implementation whose result has a shape that depends on the data."""

    def __init__(self, sizes: Iterator[int]) -> None:
        self._sizes = sizes

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """A data-dependent size."""
        if min < 0:
            raise ValueError(
                f"ctx.new_dynamic_size(min={min}, ...): expected min to be greater than or equal to 0: this API can "
                "only create non-negative sizes."
            )
        size = min + next(self._sizes)
        return size if max is None or size < max else max


def get_ctx() -> Any:
    """The context of the fake implementation that is running; None outside of one."""
    return None if _running.context is None else _running.context()


@contextmanager
def dynamic_sizes(sizes: Iterator[int]) -> Iterator[None]:
    """In this block fake implementations get these sizes from `new_dynamic_size`, instead of an error."""
    before, _running.sizes = _running.sizes, sizes
    try:
        yield
    finally:
        _running.sizes = before


def meta_kernel(op: str, function: Callable, place: str) -> Callable:
    """The kernel for `meta` tensors that runs a fake implementation, which was registered at a place."""

    def context() -> FakeImplCtx:
        if _running.sizes is None:
            raise RuntimeError(_NO_CONTEXT.format(op, place))
        return FakeImplCtx(_running.sizes)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        before, _running.context = _running.context, context
        try:
            return function(*args, **kwargs)
        finally:
            _running.context = before

    kernel.place = place  # type: ignore[attr-defined]
    return kernel


def caller_place() -> str:
    """File and line of the innermost code that is not part of `mindtorch.library`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("mindtorch.library"):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


_NO_CONTEXT = (
    "{} ({}): You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but this operator may "
    "return an output Tensor with data-dependent shape. Meta Tensors don't support operators with outputs that have "
    "data-dependent shapes but FakeTensors do. If your operator does not return an output with data-dependent shape, "
    "make sure the FakeTensor and/or meta kernel does not call torch.library.get_ctx(). Otherwise, please use "
    "FakeTensors."
)
