"""Random programs do the same in mindtorch as in PyTorch, statement by statement.

MINDTORCH_RANDOM_PROGRAMS=9000 runs more of them, MINDTORCH_RANDOM_SEED=5000 others, MINDTORCH_RANDOM_WIDE=1 those with
further statements (transforms of functions, several outputs, more `out=`), of which some still differ;
`python -m tests.parity.random_programs FIRST COUNT` shrinks those that differ.
"""

import os

import pytest

from tests.parity.random_programs import failures

COUNT = int(os.environ.get("MINDTORCH_RANDOM_PROGRAMS", "5000"))
FIRST = int(os.environ.get("MINDTORCH_RANDOM_SEED", "0"))
GROUP = 20


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, GROUP))
def test_random_programs(first):
    assert "\n".join(failures(first, GROUP)) == ""
