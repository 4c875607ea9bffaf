"""A share of the runs of `random_faults`, in which one process goes wrong at a random moment."""

import os
import subprocess
import sys

import pytest

from tests.distributed.launch import needs_mpi

pytestmark = needs_mpi


@pytest.mark.parametrize(
    ("count", "options"),
    [
        (8, ["--first=0"]),
        (8, ["--first=8"]),
        (5, ["--moment=init", "--fault=kill_later"]),
        (2, ["--moment=init", "--fault=stop_later"]),
    ],
)
def test_faulty_runs(count, options):
    command = [sys.executable, "-m", "tests.distributed.random_faults", f"--count={count}", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{count} cases, 0 wrong" in ended.stdout
