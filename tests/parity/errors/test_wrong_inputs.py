"""What torch refuses is refused: wrong sizes, dtypes, indices and numbers for the ops of the op table."""

import os

import pytest

from tests.daily import some
from tests.harness import sampled_ops
from tests.parity.errors.wrong_inputs import ACCEPTED, differences
from tests.parity.support.peer import runs_in_torch

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="calls run in a process of their own")

OPS = [op for op in sampled_ops() if runs_in_torch(op)]

# What PyTorch says of calls that it does not look at before it hands them to oneDNN, and of states that it takes for
# impossible: its answer depends on how it was built.
_OF_TORCH = ("create a primitive descriptor", "itensor_view_from_dense", "INTERNAL ASSERT FAILED")


def accepted(op):
    """The first call of an op that mindtorch takes and torch refuses."""
    found = (f"{what}: {text}" for what, kind, text in differences(op, 1) if kind == ACCEPTED)
    return next((text for text in found if not any(words in text for words in _OF_TORCH)), None)


@pytest.mark.parametrize("op", some(range(len(OPS)), 24), ids=lambda number: OPS[number].name)
def test_refused(op):
    assert accepted(OPS[op]) is None
