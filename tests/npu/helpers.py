"""What the tests of the simulated device share."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.npu.client import Failed

ROOT = Path(__file__).parent.parent.parent
p = ctypes.c_void_p
size_t = ctypes.c_size_t


def fails(code, function, *arguments):
    """The call fails with that code; its message."""
    with pytest.raises(Failed) as caught:
        function(*arguments)
    assert caught.value.code == code, caught.value
    return caught.value.message


@contextmanager
def streams(client, count):
    """Streams that are destroyed at the end."""
    made = [client.made("aclrtCreateStream") for _ in range(count)]
    try:
        yield made
    finally:
        for stream in made:
            client.call("aclrtDestroyStream", p(stream))


@contextmanager
def event(client, flags=9):
    """An event: by default one to wait for (1) that has a time (8)."""
    made = client.made("aclrtCreateEventExWithFlag", flags)
    try:
        yield p(made)
    finally:
        client.call("aclrtDestroyEvent", p(made))


class Value:
    """Four float32 in device memory with a descriptor: ops on them show in which order they ran."""

    def __init__(self, client, value=0.0):
        self.client = client
        self.address = client.upload(np.full(4, value, "f4"))
        self.handle = client.tensor((4,), (1,), "f4", self.address, 0, 4)

    def set(self, value, stream=None):
        """By aclrtMemsetAsync: each byte."""
        self.client.call("aclrtMemsetAsync", p(self.address), size_t(16), value, size_t(16), p(stream))

    def bytes(self):
        return self.client.device.peek(self.address, 16)

    def close(self):
        self.client.call("aclDestroyTensor", p(self.handle))
        self.client.free(self.address)


def synchronize(client, stream=None):
    client.call("aclrtSynchronizeStream", p(stream))


def in_a_process(code, **environment):
    """Runs code after imports that it needs; libraries can be loaded once in a process."""
    prelude = "import ctypes, os, sys\nimport numpy as np\nfrom tests.npu_simulator import build\n"
    prelude += "from tests.npu_simulator.device import Device\nfrom tests.npu.client import Client, Failed\n"
    own = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-c", prelude + textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=own, cwd=ROOT)
