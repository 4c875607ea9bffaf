"""Whole programs print the same figures with either library."""

import pytest
import torch

import mindtorch
from tests.whole_programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_figures(name):
    assert PROGRAMS[name](mindtorch) == pytest.approx(PROGRAMS[name](torch), rel=1e-4, abs=1e-5)
