"""Every module does what torch's does, for the inputs of torch's test suite. What a run looks at: `opinfo_choice`."""

import pytest

from tests.parity.moduleinfo import INFOS, KNOWN, PROGRAMS, refusals, refused, setups
from tests.parity.opinfo_choice import ALL, always_chosen, spread
from tests.parity.opinfo_shown import differs, outcome_and_warnings

COUNT = 40  # modules of a day
WAYS = 4  # programs of a module
SETUPS = 40 if ALL else 2  # of a module, a mode and a program


def differences(program, pairs, known):
    for number, (own, other) in enumerate(pairs):
        outcomes = [outcome_and_warnings(setup.T, program, setup) for setup in (own, other)]
        text = differs(*outcomes, known)
        if text:
            yield f"{program.__name__} #{number} {other.made_of.args} {other.made_of.kwargs}: {text}"


def known_of(info):
    return KNOWN.get(info.module_cls.__name__, "").split()


def modes(info):
    return (True, False) if info.train_and_eval_differ else (True,)


@pytest.mark.parametrize("info", always_chosen(INFOS, COUNT), ids=lambda info: info.module_cls.__name__)
def test_modules(info):
    found, known = [], known_of(info)
    for training in modes(info):
        for name in always_chosen([*PROGRAMS], WAYS):
            pairs = [] if name in known else spread(list(setups(info, "float64", training)), SETUPS)
            found += differences(PROGRAMS[name], pairs, known)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("info", INFOS, ids=lambda info: info.module_cls.__name__)
def test_refusals(info):
    found, known = [], known_of(info)
    for training in modes(info):
        found += [] if "refused" in known else differences(refused, refusals(info, "float32", training), known)
    assert not found, "\n".join(found)
