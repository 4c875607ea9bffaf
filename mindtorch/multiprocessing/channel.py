"""A two-way connection between two processes that sends objects, and with them the files that their tensors lie in.

Nothing of the sender is needed when a message is unpickled, unlike with Python's queues: it may have ended by then.
"""

from __future__ import annotations

import pickle
import socket
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from mindtorch._core.shared_memory import Mapping
from mindtorch.multiprocessing import reductions
from mindtorch.multiprocessing.reductions import OUT_OF_FILES, descriptor_of, message, received

_FILES_AT_ONCE = 250  # Linux sends no more than 253
_COUNT_BYTES = 4


class Parcel:
    """A message as it travels: the pickle, and the files that it mentions."""

    def __init__(self, content: Any, files: list[Mapping]) -> None:
        self.content = content
        self.files = files

    def unpacked(self) -> Any:
        outer, message.incoming = message.incoming, self.files
        try:
            return pickle.loads(self.content)
        finally:
            message.incoming = outer


def packed(value: Any) -> Parcel:
    """A message for `Channel.send`. Tensors move to shared memory."""
    outer, message.outgoing = message.outgoing, []
    try:
        return Parcel(ForkingPickler.dumps(value), message.outgoing)
    finally:
        message.outgoing = outer


class Channel:
    """One end. Two threads may use it, one that sends and one that receives."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.fileno = connection.fileno
        self.close = connection.close

    def __reduce__(self) -> tuple:
        return Channel, (self._connection,)

    def send(self, parcel: Parcel) -> None:
        content = bytearray(len(parcel.files).to_bytes(_COUNT_BYTES, "little"))
        content += parcel.content
        self._connection.send_bytes(content)
        if parcel.files:
            descriptors = [descriptor_of(mapping) for mapping in parcel.files]
            with self._socket() as files:
                for start in range(0, len(descriptors), _FILES_AT_ONCE):
                    socket.send_fds(files, [b"F"], descriptors[start : start + _FILES_AT_ONCE])

    def receive(self) -> Parcel:
        """The next message; EOFError or OSError if the other end is closed and there is none."""
        content = memoryview(self._connection.recv_bytes())
        count = int.from_bytes(content[:_COUNT_BYTES], "little")
        files: list[Mapping] = []
        if count:
            with self._socket() as sender:
                while len(files) < count:
                    files += _next_files(sender, min(count - len(files), _FILES_AT_ONCE))
        return Parcel(content[_COUNT_BYTES:], files)

    def end(self) -> None:
        """Close the connection, whichever processes have copies of this end."""
        with suppress(OSError), self._socket() as both:  # the other end may be gone
            both.shutdown(socket.SHUT_RDWR)
        self.close()

    def _socket(self) -> socket.socket:
        return socket.fromfd(self.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)


def _next_files(sender: socket.socket, count: int) -> list[Mapping]:
    letter, descriptors, *_ = socket.recv_fds(sender, 1, count)
    if not letter:
        raise EOFError
    files = [received(descriptor) for descriptor in descriptors]
    if len(files) < count:
        raise RuntimeError(OUT_OF_FILES)
    return files


def channel(context: Any) -> tuple[Channel, Channel]:
    """The two ends of a new connection."""
    first, second = context.Pipe(duplex=True)
    return Channel(first), Channel(second)


reductions.init_reductions()
