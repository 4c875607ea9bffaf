"""`Future`: a result that may not be there yet, for programs that wait for one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.device import accelerator, as_device
from mindtorch._support.errors import no_accelerator


class Future:
    """A value or an exception that is set once; others wait for it, or leave a function to be called then."""

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        for each in devices or ():
            if isinstance(each, int) and accelerator() is None:
                raise no_accelerator()
            if as_device(each).index is None:
                raise ValueError(f"Expected devices to have indices, got {each}")
        self._completed = threading.Event()
        self._lock = threading.Lock()
        self._result: Any = None
        self._exception: BaseException | None = None
        self._callbacks: list[Callable[[Future], Any]] = []

    def __class_getitem__(cls, item: Any) -> type[Future]:
        return cls

    def done(self) -> bool:
        """Whether there is a result or an exception."""
        return self._completed.is_set()

    def wait(self) -> Any:
        """The result, as soon as there is one; an exception is raised."""
        self._completed.wait()
        return self.value()

    def value(self) -> Any:
        """The result of a future that is done."""
        if not self.done():
            raise RuntimeError("the Future has no value yet; call wait()")
        if self._exception is not None:
            raise self._exception
        return self._result

    def set_result(self, result: Any) -> None:
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._complete(None, result)

    def _complete(self, result: Any, exception: BaseException | None) -> None:
        with self._lock:
            if self.done():
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked "
                    "completed once."
                )
            self._result, self._exception = result, exception
            self._completed.set()
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Have a function called with this future when it is done, now if it is."""
        with self._lock:
            is_late = self.done()
            if not is_late:
                self._callbacks.append(callback)
        if is_late:
            callback(self)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """The future result of a function that is called with this future when it is done."""
        following = Future()

        def follow(future: Future) -> None:
            try:
                result = callback(future)
            except BaseException as error:  # noqa: BLE001 - whatever it is, those who wait for the result get it
                text = f"Got the following error when running the callback: {type(error).__name__}: {error}"
                following.set_exception(RuntimeError(text))
            else:
                following.set_result(result)

        self.add_done_callback(follow)
        return following


def collect_all(futures: Sequence[Future]) -> Future:
    """A future that is done when all of them are; its result is the list of them."""
    collected = Future()
    left, lock = [len(futures)], threading.Lock()

    def count(future: Future) -> None:
        with lock:
            left[0] -= 1
            is_last = left[0] == 0
        if is_last:
            _finish(collected, futures)

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        collected.set_result([])
    return collected


def _finish(collected: Future, futures: Sequence[Future]) -> None:
    failed = next((future._exception for future in futures if future._exception is not None), None)
    if failed is None:
        collected.set_result(list(futures))
    else:
        collected._complete(None, failed)


def wait_all(futures: Sequence[Future]) -> list:
    """The results of all of them."""
    return [future.wait() for future in collect_all(futures).wait()]
