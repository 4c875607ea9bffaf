"""`--family conv` leaves the table-driven tests of the ops of that family."""

import subprocess
import sys
from pathlib import Path

import pytest

from codegen.keys import FAMILIES
from tests.harness import model

ROOT = Path(__file__).parents[3]


def collected(family):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "--family", family]
    tests = ["tests/ops/test_complete.py", "tests/unit/tools/test_order.py"]
    return subprocess.run([*command, *tests], cwd=ROOT, text=True, capture_output=True)


@pytest.mark.parametrize("family", ["conv", "padding"])
def test_the_ops_of_a_family_are_left(family):
    found = {line.partition("[")[2].rstrip("]") for line in collected(family).stdout.splitlines() if "::" in line}
    assert found == {op.name for op in model().families[family] if op.derived_from is None}


def test_an_unknown_family_is_an_error_that_names_the_known_ones():
    done = collected("convolution")
    assert done.returncode != 0 and "invalid choice: 'convolution'" in done.stderr
    assert all(family in done.stderr for family in FAMILIES)
