"""The tests of devices say which variable they need."""

import os
import subprocess
import sys

import pytest

from tests.harness import ROOT


def test_a_missing_variable_is_named():
    variables = {name: value for name, value in os.environ.items() if name != "MINDTORCH_DEVICE"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "tests/device/test_table.py::test_an_op",
    ]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "MINDTORCH_DEVICE=npu python -m pytest" in done.stderr
