"""Stores: keys and values that processes share, and wait for."""

from __future__ import annotations

import fcntl
import json
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from xmlrpc.client import ServerProxy
from xmlrpc.server import SimpleXMLRPCServer

from mindtorch.distributed.errors import DistNetworkError, DistStoreError, QueueEmptyError

_DEFAULT_TIMEOUT = timedelta(seconds=300)
_PAUSE = 0.01

Entries = dict[str, Any]  # bytes, or lists of bytes for queues


class Store:
    """The base of all stores: values are bytes, given as text or bytes."""

    def __init__(self) -> None:
        self.timeout = _DEFAULT_TIMEOUT

    def _change(self, name: str, *arguments: Any) -> Any:
        """Do something with the entries while no other process can."""
        raise NotImplementedError

    def set_timeout(self, timeout: timedelta) -> None:
        """How long `get` and `wait` wait for a key."""
        self.timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Give a key a value."""
        self._change("set", key, _bytes(value))

    def get(self, key: str) -> bytes:
        """The value of a key, as soon as there is one."""
        return self._wait_for(
            lambda: self._change("get", key), f"wait timeout after {self._milliseconds()}ms, keys: /{key}"
        )

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
        limit = timeout or self.timeout
        text = f"wait timeout after {int(1000 * limit.total_seconds())}ms, keys: {', '.join('/' + key for key in keys)}"
        self._wait_for(lambda: self.check(keys) or None, text, limit)

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
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Give several keys values."""
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
        return self._wait_for(
            lambda: self._change("pop", key), f"wait timeout after {self._milliseconds()}ms, keys: /{key}"
        )

    def queue_len(self, key: str) -> int:
        """The number of values in a queue."""
        return self._change("queue_length", key)

    def has_extended_api(self) -> bool:
        """Whether `append`, `multi_get` and `multi_set` exist."""
        return True

    def _milliseconds(self) -> int:
        return int(1000 * self.timeout.total_seconds())

    def _wait_for(self, ask: Callable[[], Any], text: str, timeout: timedelta | None = None) -> Any:
        deadline = time.monotonic() + (timeout or self.timeout).total_seconds()
        while (found := ask()) is None:
            if time.monotonic() > deadline:
                raise DistStoreError(text)
            time.sleep(_PAUSE)
        return found


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


# -------------------- what is done with the entries --------------------


def _set(entries: Entries, key: str, value: bytes) -> None:
    entries[key] = value


def _get(entries: Entries, key: str) -> Any:
    return entries.get(key)


def _add(entries: Entries, key: str, amount: int) -> int:
    total = int(entries.get(key, b"0")) + amount
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
_CHANGES: dict[str, Callable[..., Any]] = {
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
            return _CHANGES[name](self._entries, *arguments)

    def clone(self) -> Store:
        return self


class FileStore(Store):
    """A store in a file that all processes can reach; it is locked while one of them uses it."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = str(file_name)

    def _change(self, name: str, *arguments: Any) -> Any:
        with Path(self.path).open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            entries = _decoded(file.read())
            before = dict(entries)
            result = _CHANGES[name](entries, *arguments)
            if entries != before:
                file.truncate(0)
                file.write(_encoded(entries))
            return result

    def clone(self) -> Store:
        return FileStore(self.path)


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


class TCPStore(Store):
    """A store in one process, which the others reach by host name and port."""

    def __init__(
        self,
        host_name: str,
        port: int | None = None,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = _DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        self.host = host_name
        self.timeout = timeout
        self._entries: HashStore | None = None
        self.port = self._serve(port or 0) if is_master else int(port or 0)
        if not is_master:
            self._connect()
        if wait_for_workers and world_size is not None:
            self._meet(world_size)

    def _serve(self, port: int) -> int:
        self._entries = entries = HashStore()
        try:
            server = SimpleXMLRPCServer(("", port), logRequests=False, allow_none=True, use_builtin_types=True)
        except OSError as error:
            raise DistNetworkError(
                f"The server socket has failed to listen on any local network address. port: {port}: {error}"
            ) from None
        for name in _CHANGES:
            server.register_function(partial(entries._change, name), name)
        threading.Thread(target=server.serve_forever, name="TCPStore", daemon=True).start()
        return server.server_address[1]

    def _connect(self) -> None:
        self._remote = ServerProxy(f"http://{self.host}:{self.port}", allow_none=True, use_builtin_types=True)
        deadline = time.monotonic() + self.timeout.total_seconds()
        while True:
            try:
                self._remote.get("")
                return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise DistNetworkError(
                        f"The client socket has timed out after {self._milliseconds()}ms while trying to connect to "
                        f"({self.host}, {self.port}): {error}"
                    ) from None
                time.sleep(_PAUSE)

    def _meet(self, world_size: int) -> None:
        self.add("init/", 1)
        self._wait_for(
            lambda: int(self.get("init/")) >= world_size or None,
            f"Timed out after {int(self.timeout.total_seconds())} seconds waiting for clients.",
        )

    def _change(self, name: str, *arguments: Any) -> Any:
        if self._entries is not None:
            return self._entries._change(name, *arguments)
        try:
            return getattr(self._remote, name)(*arguments)
        except OSError as error:
            raise DistNetworkError(f"the store at ({self.host}, {self.port}) is gone: {error}") from None

    def clone(self) -> Store:
        return self


class PrefixStore(Store):
    """A store whose keys are those of another store that begin with a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.prefix = prefix
        self.underlying_store = store
        self.timeout = store.timeout

    def _change(self, name: str, key: str, *arguments: Any) -> Any:
        return self.underlying_store._change(name, f"{self.prefix}/{key}", *arguments)

    def clone(self) -> Store:
        return PrefixStore(self.prefix, self.underlying_store.clone())
