"""Several processes with a device each, which are in one communicator of the simulated HCCL."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np

from tests.npu.client import Client, Failed
from tests.npu.helpers import ROOT, p
from tests.npu_simulator import build
from tests.npu_simulator.device import Device

CODES = {
    name: code
    for code, name in enumerate("i1 i2 i4 f2 f4 i8 u8 u1 u2 u4 f8".split())
}  # fmt: skip
SUM, PROD, MAX, MIN = range(4)
u64, u32 = ctypes.c_uint64, ctypes.c_uint32


class Rank:
    """One of the processes."""

    def __init__(self, rank: int, ranks: int, folder: Path) -> None:
        self.rank, self.ranks, self.folder = rank, ranks, folder
        self.device = Device(build.build())
        self.client = Client(self.device)
        self.client.libraries.append(self.device.library("libhccl.so"))
        self.client.function("HcclGetErrorString").restype = ctypes.c_char_p
        self.client.start(rank % 2)
        self.comm = self.joined()

    def info(self) -> ctypes.Array:
        """What the processes find each other by: rank 0 has it from the library, the others from a file."""
        found = ctypes.create_string_buffer(4108)
        path = self.folder / "info"
        if self.rank == 0:
            self.client.call("HcclGetRootInfo", found)
            (self.folder / "part").write_bytes(found.raw)
            (self.folder / "part").rename(path)
        deadline = time.monotonic() + 20
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        found.raw = path.read_bytes()
        return found

    def joined(self) -> ctypes.c_void_p:
        """The communicator of all."""
        comm = ctypes.c_void_p()
        self.client.call("HcclCommInitRootInfo", u32(self.ranks), self.info(), u32(self.rank), ctypes.byref(comm))
        return comm

    def code(self, name: str, *arguments) -> int:
        """A call of the library."""
        return self.client.code(name, *arguments)

    def run(self, name: str, arrays: list[np.ndarray], *arguments) -> None:
        """A collective of arrays, which stand first among the arguments, on the default stream."""
        addresses = [self.client.upload(each) for each in arrays]
        try:
            taken = [p(addresses[each.place]) if isinstance(each, At) else each for each in arguments]
            self.client.call(name, *taken, self.comm, None)
            self.client.call("aclrtSynchronizeStream", None)
            for address, array in zip(addresses, arrays, strict=True):
                self.client.download(address, array)
        finally:
            for each in addresses:
                self.client.free(each)

    def stop(self) -> None:
        """Leave nothing behind."""
        self.client.call("HcclCommDestroy", self.comm)
        self.client.stop(self.rank % 2)
        assert not self.device.leaks(), self.device.leaks()
        assert not self.device.violations()


class At:
    """The place of an array among those of a call."""

    def __init__(self, place: int) -> None:
        self.place = place


PRELUDE = """
import sys, os, signal, time, ctypes
from pathlib import Path
import numpy as np
from tests.npu.ranks import *
here = Rank(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
rank, ranks = here.rank, here.ranks
"""


def start(folder: Path, ranks: int, code: str, **environment: str) -> list[subprocess.Popen]:
    """Processes that run code, in which `here` is their `Rank`."""
    own = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    program = PRELUDE + textwrap.dedent(code)
    return [
        subprocess.Popen(
            [sys.executable, "-c", program, str(rank), str(ranks), str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=own, cwd=ROOT,
        )
        for rank in range(ranks)
    ]  # fmt: skip


def outputs(processes: list[subprocess.Popen], seconds: float = 60) -> list[str]:
    """What they print until they end, all of them well."""
    try:
        said = [each.communicate(timeout=seconds)[0] for each in processes]
    finally:
        for each in processes:
            each.kill()
    for each, text in zip(processes, said, strict=True):
        assert each.returncode == 0, text
    return said


__all__ = ["CODES", "MAX", "MIN", "PROD", "SUM", "At", "Failed", "Rank", "np", "p", "u32", "u64"]
