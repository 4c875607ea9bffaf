"""Random programs do the same in mindtorch as in PyTorch, statement by statement.

MINDTORCH_RANDOM_PROGRAMS=9000 runs more of them, MINDTORCH_RANDOM_SEED=5000 others, MINDTORCH_RANDOM_WIDE=1 only wide
ones (transforms of functions, several outputs, more `out=`); `python -m tests.parity.random_programs FIRST COUNT`
shrinks those that differ.
"""

import os

import pytest

from tests.parity.random_programs import WIDE, failures

COUNT = int(os.environ.get("MINDTORCH_RANDOM_PROGRAMS", "5000"))
FIRST = int(os.environ.get("MINDTORCH_RANDOM_SEED", "0"))
WIDE_SHARE = 8  # one in so many is wide in a run of both
GROUP = 20


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, GROUP))
def test_random_programs(first):
    assert "\n".join(failures(first, GROUP)) == ""


@pytest.mark.skipif(WIDE, reason="all the programs are wide")
@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT // WIDE_SHARE, GROUP))
def test_wide_random_programs(first):
    assert "\n".join(failures(first, GROUP, wide=True)) == ""
