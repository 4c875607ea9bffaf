"""Starts a program as several processes, with a hard limit of time; nothing is left running."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"

_REQUIRED = os.environ.get("MINDTORCH_REQUIRE_MPI") == "1"

needs_mpi = pytest.mark.skipif(
    find_spec("mpi4py") is None and not _REQUIRED, reason="several processes need MPI: pip install mindtorch[mpi]"
)


def run(program: str, ranks: int, *arguments: str, seconds: float = 120, code: int = 0) -> str:
    """What the processes print; the test fails with it if they end in another way than with the exit code."""
    command = [sys.executable, "-m", "mindtorch.distributed.run", "--keep-going", "--nproc-per-node", str(ranks)]
    whole = [*command, str(PROGRAMS / program), *arguments]
    started = subprocess.Popen(
        whole,
        env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        printed, _ = started.communicate()
        pytest.fail(f"{program} did not end within {seconds} s; it printed:\n{printed}")
    assert (started.returncode == 0) == (code == 0), f"{program} ended with {started.returncode}:\n{printed}"
    return printed
