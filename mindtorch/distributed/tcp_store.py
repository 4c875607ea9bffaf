"""`TCPStore`: the entries are in one process, which the others reach by host name and port.

A question and its answer are one line of JSON each, which carries nothing but data.
"""

from __future__ import annotations

import errno
import json
import socket
import socketserver
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from mindtorch.distributed.errors import DistNetworkError, DistStoreError
from mindtorch.distributed.stores import HashStore, Store

_DEFAULT_TIMEOUT = timedelta(seconds=300)
_PAUSE = 0.01
_CLOSED = "Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?"


class TCPStore(Store):
    """A store in one process, which the others reach by host name and port."""

    libuvBackend = False  # noqa: N815 - PyTorch's name

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
        self._server: _Server | None = None
        self._lock = threading.Lock()
        self._connection: _Connection | None = None
        self.port = self._serve(port or 0, master_listen_fd) if is_master else int(port or 0)
        if not is_master:
            self._connection = self._connect()
        if wait_for_workers and world_size is not None and world_size > 0:
            self._meet(world_size)

    def _serve(self, port: int, descriptor: int | None) -> int:
        try:
            self._server = _Server(port, descriptor)
        except OSError as error:
            raise DistNetworkError(
                "The server socket has failed to listen on any local network address. "
                f"port: {port}, useIpv6: false, code: -{error.errno}, name: {errno.errorcode.get(error.errno or 0)}, "
                f"message: {(error.strerror or '').lower()}"
            ) from None
        threading.Thread(target=self._server.serve_forever, name="TCPStore", daemon=True).start()
        return self._server.server_address[1]

    def _connect(self) -> _Connection:
        seconds = self.timeout.total_seconds()
        deadline = time.monotonic() + seconds
        while True:
            try:
                return _Connection(self.host, self.port, max(_PAUSE, deadline - time.monotonic()))
            except OSError:
                if time.monotonic() > deadline:
                    raise DistNetworkError(
                        f"The client socket has timed out after {int(1000 * seconds)}ms while trying to connect to "
                        f"({self.host}, {self.port})."
                    ) from None
                time.sleep(_PAUSE)

    def _meet(self, world_size: int) -> None:
        self.add("init/", 1)
        since = time.monotonic()
        while self._server is not None and int(self.get("init/")) < world_size:
            seconds = time.monotonic() - since
            if seconds > self.timeout.total_seconds():
                raise DistStoreError(
                    f"Timed out after {int(seconds) + 1} seconds waiting for clients. "
                    f"{int(self.get('init/'))}/{world_size} clients joined."
                )
            time.sleep(_PAUSE / 2)

    def _change(self, name: str, *arguments: Any) -> Any:
        if self._server is not None:
            return self._server.entries._change(name, *arguments)
        assert self._connection is not None
        with self._lock:
            return self._connection.ask(name, arguments)

    def _timed_out(self, keys: Sequence[str], milliseconds: int) -> RuntimeError:
        return DistStoreError(f"wait timeout after {milliseconds}ms, keys: {', '.join('/' + key for key in keys)}")

    def clone(self) -> Store:
        return TCPStore(self.host, self.port, timeout=self.timeout, wait_for_workers=False)

    def __del__(self) -> None:
        for each in (getattr(self, "_server", None), getattr(self, "_connection", None)):
            if each is not None:
                each.close()


class _Connection:
    """What a client has of the server."""

    def __init__(self, host: str, port: int, seconds: float) -> None:
        self._socket = socket.create_connection((host, port), seconds)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(None)
        self._answers = self._socket.makefile("rb")

    def ask(self, name: str, arguments: Sequence[Any]) -> Any:
        try:
            self._socket.sendall(_line([name, *arguments]))
            answer = self._answers.readline()
        except ConnectionResetError:
            raise DistNetworkError(_CLOSED) from None
        except OSError as error:
            raise DistNetworkError((error.strerror or str(error)).capitalize()) from None
        if not answer.endswith(b"\n"):
            raise DistNetworkError(_CLOSED)
        found, said = _read(answer)
        if said is not None:
            raise ValueError(said)
        return found

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


class _Server(socketserver.ThreadingTCPServer):
    """Answers each client in a thread of its own, so that one which has stopped delays no other."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024

    def __init__(self, port: int, descriptor: int | None) -> None:
        self.entries = HashStore()
        self._clients: set[socket.socket] = set()
        super().__init__(("", port), _Answering, bind_and_activate=descriptor is None)
        if descriptor is not None:
            self.socket.close()
            self.socket = socket.socket(fileno=descriptor)
            self.server_address = self.socket.getsockname()
            self.server_activate()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._clients.add(request)
        super().process_request(request, client_address)

    def close(self) -> None:
        """Stop, and hang up on the clients."""
        threading.Thread(target=self.shutdown, daemon=True).start()
        self.socket.close()
        for each in self._clients:
            with suppress(OSError):  # it has hung up already
                each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that ends in the middle of a question is no error of the server."""


class _Answering(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self) -> None:
        for line in self.rfile:
            name, *arguments = _read(line)
            try:
                answer = [self.server.entries._change(name, *arguments), None]  # type: ignore[attr-defined]
            except (KeyError, TypeError, ValueError) as error:
                answer = [None, str(error)]
            self.wfile.write(_line(answer))


def _line(value: Any) -> bytes:
    return json.dumps(value, default=_as_text).encode() + b"\n"


def _as_text(value: bytes) -> dict[str, str]:
    return {"bytes": value.decode("latin-1")}


def _read(line: bytes) -> Any:
    return json.loads(line, object_hook=lambda found: found["bytes"].encode("latin-1"))
