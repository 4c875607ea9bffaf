"""Random programs do the same in mindtorch as in PyTorch, statement by statement.

MINDTORCH_RANDOM_PROGRAMS=5000 runs more of them; `python -m tests.parity.random_programs FIRST COUNT` shrinks failures.
"""

import os

import pytest

from tests.parity.random_programs import failures

COUNT = int(os.environ.get("MINDTORCH_RANDOM_PROGRAMS", "300"))
GROUP = 20


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_random_programs(first):
    assert "\n".join(failures(first, GROUP)) == ""
