"""What programs with `torch.fx` show: names of nodes, code, errors, values. PyTorch is the oracle."""

import pytest
import torch

import mindtorch
from tests.parity.fx.harness import FOLDER, outcome, programs

CASES = [
    pytest.param(name, source, id=f"{path.stem.removesuffix('_programs')}-{name}")
    for path in sorted(FOLDER.glob("*_programs.py"))
    for name, source in programs(path.name)
]


@pytest.mark.parametrize(("name", "source"), CASES)
def test_program(name, source):
    expected = outcome(name, source, torch)
    assert expected.strip(), "a program that shows nothing compares nothing"
    assert outcome(name, source, mindtorch) == expected
