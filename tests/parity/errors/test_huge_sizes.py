"""Sizes beyond all memory end with torch's errors, type and text."""

import pytest
import torch

import mindtorch
from tests.huge_calls import CALLS, outcome


@pytest.mark.parametrize(("call", "n"), CALLS)
def test_same_error(call, n):
    assert outcome(mindtorch, call, n) == outcome(torch, call, n)
