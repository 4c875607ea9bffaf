"""Stores: keys and values that processes share, and wait for."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

from mindtorch.distributed.errors import DistStoreError, QueueEmptyError

_DEFAULT_TIMEOUT = timedelta(seconds=300)
_PAUSES = 0.0005, 0.01  # between two looks: short at first, as most waits are

Entries = dict[str, Any]  # bytes, or lists of bytes for queues


class Store:
    """The base of all stores: values are bytes, given as text or bytes."""

    def __init__(self) -> None:
        self.timeout = _DEFAULT_TIMEOUT

    def _change(self, name: str, *arguments: Any) -> Any:
        """Do something with the entries while no other process can."""
        raise NotImplementedError

    def clone(self) -> Store:
        """The same store, for another thread."""
        raise NotImplementedError

    def set_timeout(self, timeout: timedelta) -> None:
        """How long `get` and `wait` wait for a key."""
        self.timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Give a key a value."""
        self._change("set", key, _bytes(value))

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as there is one."""
        return self._wait_for(lambda: self._change("get", key), [key], self.timeout)

    def add(self, key: str, amount: int) -> int:
        """Add to the number of a key, which is 0 at first, and return the sum."""
        return self._change("add", key, amount)

    def append(self, key: str, value: str | bytes) -> None:
        """Add to the end of a key's value."""
        self._change("append", key, _bytes(value))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Give a key a value if it has the expected one, or has none and none is expected; the value afterwards."""
        return self._change("compare_set", key, _bytes(expected_value), _bytes(desired_value))

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all of the keys have values."""
        return all(self._change("get", key) is not None for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all of the keys have values."""
        self._wait_for(lambda: self.check(keys) or None, keys, timeout or self.timeout)

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it had a value."""
        return self._change("delete", key)

    def num_keys(self) -> int:
        """The number of keys."""
        return len(self.list_keys())

    def list_keys(self) -> list[str]:
        """All keys."""
        return self._change("keys", "")

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of several keys."""
        self.wait(keys)
        return [self._change("get", key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Give several keys values."""
        if len(keys) != len(values):
            raise ValueError(f"multi_set takes as many values as keys, but got {len(keys)} and {len(values)}")
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Add a value to a queue."""
        self._change("push", key, _bytes(value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """The first value of a queue, which leaves it."""
        if not block:
            value = self._change("pop", key)
            if value is None:
                raise QueueEmptyError("queue is empty")
            return value
        return self._wait_for(lambda: self._change("pop", key), [key], self.timeout)

    def queue_len(self, key: str) -> int:
        """The number of values in a queue."""
        return self._change("queue_length", key)

    def has_extended_api(self) -> bool:
        """Whether `append`, `multi_get` and `multi_set` exist."""
        return True

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Wait until so many processes have come to this call with the key."""
        if self.add(key, 1) == world_size:
            self.set(f"{key}/last", "1")
        self.wait([f"{key}/last"], timeout)

    def _wait_for(self, ask: Callable[[], Any], keys: Sequence[str], limit: timedelta) -> Any:
        pause, longest = _PAUSES
        deadline = time.monotonic() + limit.total_seconds()
        while (found := ask()) is None:
            if time.monotonic() > deadline:
                raise self._timed_out(keys, int(1000 * limit.total_seconds()))
            time.sleep(pause)
            pause = min(2 * pause, longest)
        return found

    def _timed_out(self, keys: Sequence[str], milliseconds: int) -> RuntimeError:
        return DistStoreError("Wait timeout")


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


# -------------------- what is done with the entries --------------------


def _set(entries: Entries, key: str, value: bytes) -> None:
    entries[key] = value


def _get(entries: Entries, key: str) -> Any:
    return entries.get(key)


def _add(entries: Entries, key: str, amount: int) -> int:
    before = entries.get(key, b"0")
    try:
        total = int(before) + amount
    except ValueError:
        raise ValueError(f"add: the value of {key!r} is no number: {before!r}") from None
    entries[key] = str(total).encode()
    return total


def _append(entries: Entries, key: str, value: bytes) -> None:
    entries[key] = entries.get(key, b"") + value


def _compare_set(entries: Entries, key: str, expected: bytes, desired: bytes) -> bytes:
    if key not in entries:
        if expected:
            return expected
        entries[key] = desired
    elif entries[key] == expected:
        entries[key] = desired
    return entries[key]


def _delete(entries: Entries, key: str) -> bool:
    return entries.pop(key, None) is not None


def _push(entries: Entries, key: str, value: bytes) -> None:
    entries[key] = [*entries.get(key, ()), value]


def _pop(entries: Entries, key: str) -> bytes | None:
    waiting = entries.get(key)
    if not waiting:
        return None
    first, *entries[key] = waiting
    return first


def _queue_length(entries: Entries, key: str) -> int:
    return len(entries.get(key, ()))


def _keys(entries: Entries, prefix: str) -> list[str]:
    return [key for key in entries if key.startswith(prefix)]


# By name, so that they can be asked of another process. The first argument is a key, or what keys begin with.
CHANGES: dict[str, Callable[..., Any]] = {
    "set": _set,
    "get": _get,
    "add": _add,
    "append": _append,
    "compare_set": _compare_set,
    "delete": _delete,
    "push": _push,
    "pop": _pop,
    "queue_length": _queue_length,
    "keys": _keys,
}


# -------------------- the stores --------------------


class HashStore(Store):
    """A store for the threads of one process."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: Entries = {}
        self._lock = threading.Lock()

    def _change(self, name: str, *arguments: Any) -> Any:
        with self._lock:
            return CHANGES[name](self._entries, *arguments)

    def clone(self) -> Store:
        return self


class FileStore(Store):
    """A store in a file that all processes can reach; it is locked while one of them uses it."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = str(file_name)
        self._is_stuck = False  # another process had the file when the time-out was over

    def _change(self, name: str, *arguments: Any) -> Any:
        with self._locked():
            file = Path(self.path)
            content = file.read_bytes() if file.exists() else b""
            entries = _decoded(content)
            before = dict(entries)
            result = CHANGES[name](entries, *arguments)
            if entries != before:
                _replace(file, _encoded(entries))
            return result

    def _locked(self) -> Any:
        """The file of the lock. Once it has been waited for in vain, it has to be free at once: an error is not to be
        followed by another time-out, for want of a file in which the others could be told of it."""
        lock = Path(f"{self.path}.lock").open("ab")  # noqa: SIM115 - the caller closes it
        deadline = time.monotonic() + (0.0 if self._is_stuck else self.timeout.total_seconds())
        while not _is_locked(lock):
            if time.monotonic() > deadline:
                lock.close()
                self._is_stuck = True
                raise DistStoreError(f"Wait timeout: another process has stopped while it used {self.path}")
            time.sleep(_PAUSES[0])
        self._is_stuck = False
        return lock

    def _timed_out(self, keys: Sequence[str], milliseconds: int) -> RuntimeError:
        text = f"Timeout waiting for key: {keys[0]} after {milliseconds} ms" if len(keys) == 1 else "Wait timeout"
        return RuntimeError(text)

    def clone(self) -> Store:
        return FileStore(self.path)


def _is_locked(lock: BinaryIO) -> bool:
    """Try to lock a file, which no process has to itself for longer than it needs to read and write it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _replace(file: Path, content: bytes) -> None:
    """Write a file whole or not at all: a process that is killed in between leaves the old one."""
    draft = file.with_name(f"{file.name}.draft")
    draft.write_bytes(content)
    os.replace(draft, file)


def _encoded(entries: Entries) -> bytes:
    """Entries as JSON, which reads nothing but data."""
    text = {
        key: each.decode("latin-1") if isinstance(each, bytes) else [part.decode("latin-1") for part in each]
        for key, each in entries.items()
    }
    return json.dumps(text).encode()


def _decoded(content: bytes) -> Entries:
    text = json.loads(content) if content else {}
    return {
        key: each.encode("latin-1") if isinstance(each, str) else [part.encode("latin-1") for part in each]
        for key, each in text.items()
    }


class PrefixStore(Store):
    """A store whose keys are those of another store that begin with a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.prefix = prefix
        self.underlying_store = store

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait for a key; it belongs to the store underneath."""
        return self.underlying_store.timeout

    @timeout.setter
    def timeout(self, timeout: timedelta) -> None:
        if hasattr(self, "underlying_store"):
            self.underlying_store.timeout = timeout

    @property
    def _underlying_non_prefix_store(self) -> Store:
        store = self.underlying_store
        return store._underlying_non_prefix_store if isinstance(store, PrefixStore) else store

    def num_keys(self) -> int:
        """The number of keys of the store underneath, which counts those of other prefixes as well."""
        return self.underlying_store.num_keys()

    def list_keys(self) -> list[str]:
        """The keys with the prefix, without it."""
        return [key.removeprefix(f"{self.prefix}/") for key in self._change("keys", "")]

    def _change(self, name: str, key: str, *arguments: Any) -> Any:
        return self.underlying_store._change(name, f"{self.prefix}/{key}", *arguments)

    def _timed_out(self, keys: Sequence[str], milliseconds: int) -> RuntimeError:
        return self.underlying_store._timed_out([f"{self.prefix}/{key}" for key in keys], milliseconds)

    def clone(self) -> Store:
        return PrefixStore(self.prefix, self.underlying_store.clone())
