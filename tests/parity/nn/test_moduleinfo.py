"""Every module does what torch's does, for the inputs of torch's test suite. What a run looks at: `opinfo_choice`."""

import pytest
import torch

from tests.parity.nn.moduleinfo import EXACT, INFOS, PROGRAMS, refusals, refused, setups
from tests.parity.nn.moduleinfo_differences import TABLE
from tests.parity.support.opinfo_choice import chosen
from tests.parity.support.opinfo_shown import (
    difference,
    is_as_near,
    is_more,
    movement,
    outcome,
    outcome_and_warnings,
    without_strides,
)

COUNT = 40  # modules of a day
WAYS = 10  # programs of a module
SETUPS = 3  # of a module and a program


def modes(info):
    return (True, False) if info.train_and_eval_differ else (True,)


def differences_in(name, program, pair):
    """How the libraries differ in a program, and in strides, which is a check of its own where all else agrees."""
    own, other = (outcome_and_warnings(setup.T, program, setup) for setup in pair)
    if is_more(own, other):
        return {name: None}
    text, tolerance = difference(without_strides(own), without_strides(other)), 0.0
    if text and ": values" in text and is_rounding(name, pair, own, other):
        tolerance = 1e9
        text = difference(without_strides(own), without_strides(other), tolerance)
    return {name: text} if text else {name: None, f"{name} strides": difference(own, other, tolerance)}


def is_rounding(name, pair, own, other):
    """Whether results in 16 bits are about as near to what torch computes in double precision as torch's are.

    Rounding also decides the sign of a sum near 0, with which relu changes some of the gradients altogether.
    """
    theirs = pair[1]
    truth = outcome(theirs.T, EXACT[name], theirs) if name in EXACT else None
    if not isinstance(truth, list) or not is_as_near(truth[1], own[0][1], other[0][1], _step(name)):
        return False
    bound = 4 * movement(truth[2], other[0][2])
    return sum(movement(*each) > bound for each in zip(truth[2], own[0][2], strict=True)) <= len(truth[2]) // 4


def _step(name):
    """Two steps between neighbouring numbers: a result that is one off on either side of the exact one is near."""
    return 2 * torch.finfo(getattr(torch, name.split()[-1])).eps


def verdicts(info, name, program, pairs):
    operator = info.module_cls.__name__
    yield TABLE.beyond(operator, name, "", len(pairs))
    yield TABLE.beyond(operator, f"{name} strides", "", len(pairs))
    for number, pair in chosen(list(enumerate(pairs)), SETUPS):
        for check, text in differences_in(name, program, pair).items():
            found = TABLE.verdict(operator, check, "", number, text)
            yield found and f"{found} {pair[1].made_of.args} {pair[1].made_of.kwargs}"


@pytest.mark.parametrize("info", chosen(INFOS, COUNT), ids=lambda info: info.module_cls.__name__)
def test_modules(info):
    pairs = [pair for training in modes(info) for pair in setups(info, "float64", training)]
    found = [text for name in chosen([*PROGRAMS], WAYS) for text in verdicts(info, name, PROGRAMS[name], pairs)]
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.module_cls.__name__)
def test_refusals(info):
    pairs = [pair for training in modes(info) for pair in refusals(info, "float32", training)]
    found = [text for text in verdicts(info, "refused", refused, pairs) if text]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("known", TABLE.entries, ids=lambda known: f"{known.operator}-{known.check}")
def test_an_entry_is_about_something(known):
    """Nothing in the table is about what no run looks at."""
    assert known.operator in {info.module_cls.__name__ for info in INFOS}
    assert {check.removesuffix(" strides") for check in known.checks()} <= {*PROGRAMS, "refused"}
    assert not known.dtypes
