"""A share of the runs of `random_faults`, in which one process goes wrong at a random moment."""

import os
import subprocess
import sys

import pytest

from tests.distributed.launch import needs_mpi

pytestmark = needs_mpi


@pytest.mark.parametrize("first", [0, 8])
def test_faulty_runs(first):
    command = [sys.executable, "-m", "tests.distributed.random_faults", "--first", str(first), "--count", "8"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "8 cases, 0 wrong" in ended.stdout
