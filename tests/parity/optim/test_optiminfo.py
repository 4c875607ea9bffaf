"""Every optimizer takes torch's steps, for the options of torch's test suite. What a run looks at: `opinfo_choice`."""

import pytest
import torch

import mindtorch
from tests.parity.optim.optiminfo import INFOS, PROGRAMS, TOLERANCES, errors, refused, setups
from tests.parity.support.opinfo_choice import chosen
from tests.parity.support.opinfo_shown import difference, outcome_and_warnings

COUNT = 12  # programs of a day
CASES = [(info, program) for info in INFOS for program in PROGRAMS]


@pytest.mark.parametrize(("info", "program"), chosen(CASES, COUNT), ids=lambda each: getattr(each, "name", each))
def test_optimizers(info, program):
    run, found = PROGRAMS[program], []
    for own, other in zip(setups(mindtorch, info), setups(torch, info), strict=True):
        outcomes = (outcome_and_warnings(setup.T, run, setup) for setup in (own, other))
        text = difference(*outcomes, TOLERANCES.get(info.name, 0.0))
        found += [f"{other.dtype} {other.kwargs}: {text}"] if text else []
    assert not found, "\n".join(found)


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.name)
def test_refusals(info):
    found = []
    for error in errors(info):
        text = difference(*(outcome_and_warnings(T, refused, T, info, error) for T in (mindtorch, torch)))
        found += [f"{error.optimizer_error_input.desc}: {text}"] if text else []
    assert not found, "\n".join(found)
