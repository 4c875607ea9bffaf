"""The modules of torch's test suite, and which of its samples a run looks at: some, others each day, or all of them.

MINDTORCH_SAMPLES=all takes all. MINDTORCH_SAMPLES_SEED=20260131 makes the choice of another day; the head of a run
tells which it was.
"""

import random
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
import torch

from tests.daily import ALL, SEED

REASON = "the samples are in torch's test suite, which needs the package expecttest"


def torch_tests(name: str) -> Any:
    """A module of torch's test suite. Importing it must not forbid all programs to set the flags of cuDNN."""
    with patch.object(torch.backends, "disable_global_flags"):
        return pytest.importorskip(f"torch.testing._internal.{name}", reason=REASON, exc_type=ImportError)


def chosen(things: Sequence, count: int) -> list:
    """Some of the things, in their order."""
    if ALL or count >= len(things):
        return list(things)
    return [things[place] for place in sorted(random.Random(SEED).sample(range(len(things)), count))]


def spread(things: list[Any], count: int) -> list[Any]:
    """So many things, from the first to the last."""
    return things if len(things) <= count else [things[place * len(things) // count] for place in range(count)]
