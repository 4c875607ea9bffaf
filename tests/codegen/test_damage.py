"""Damaged entries, 250 of 10,000 each day: refused with a place and a remedy in at most 2 KB, or accepted and run.

``python -m tests.codegen.damage.measure 10000`` does all of it, and prints the figures.
"""

import pytest

from codegen.errors import InvalidInput
from tests import daily
from tests.codegen.damage.kinds import NONSENSE
from tests.codegen.damage.measure import MOST, Measure
from tests.codegen.damage.project import DERIVATIVES, OPS

CASES = 10_000
SHARE = 40  # one of so many each day
RUNS = 10  # and of these, one of so many runs if it is accepted
CHUNKS = 5
_FORMULA = "sigmoid_backward(grad, result)"
# What a person may well write, right or wrong: the tests of the op tell.
POSSIBLE = (
    *(
        "-{f}",
        "2 * {f}",
        "{f} + 1",
        "{f} * 0",
        "grad",
        "zeros_like(grad)",
        "({f})",
        "((({f})))",
        "{f}   ",
        "self * {f}",
    ),
    *("grad.T", "grad if 1 else None", "grad[None:None:None]", "{f} * (1, 2)", "{f} * " + "(" * 90 + "1" + ")" * 90),
    *("grad.sum", "grad.shape()", "{f}.sum(dims=0)"),  # a package's generator sees no class Tensor
)


@pytest.fixture(scope="module")
def measure(tmp_path_factory):
    return Measure(tmp_path_factory.mktemp("damage"))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damaged_files(chunk, measure):
    for place, number in enumerate(daily.some(range(chunk, CASES, CHUNKS), SHARE)):
        outcome = measure.outcome(number, runs=place % RUNS == 0)
        assert not outcome.is_fault, outcome


@pytest.mark.parametrize("nonsense", [each for each in NONSENSE if each not in POSSIBLE], ids=lambda text: text[:30])
def test_nonsense_is_refused(nonsense, measure):
    formula = nonsense.format(f=_FORMULA).replace('"', "'")
    with pytest.raises(InvalidInput) as refused:
        measure.model(OPS, DERIVATIVES.replace(_FORMULA, f'"{formula}"'))
    for found in refused.value.diagnostics:
        assert found.location.line == 4 or found.code == "E068", found  # another formula depends on this one
        assert found.hint and len(str(found).encode()) <= MOST


@pytest.mark.parametrize("possible", [each for each in POSSIBLE if each in NONSENSE], ids=lambda text: text[:30])
def test_what_may_be_meant_is_accepted(possible, measure):
    measure.model(OPS, DERIVATIVES.replace(_FORMULA, f'"{possible.format(f=_FORMULA)}"'))


def test_the_project_itself_is_right(measure):
    outcome = measure.outcome_of(0, (OPS, DERIVATIVES), runs=True)
    assert outcome.kind == "accepted", outcome


@pytest.mark.parametrize(
    ("wrong", "names"),
    [("grad * out", "'result'"), ("grad * sel", "'self'"), ("grad * zzz", "grad, grad_result, result, result0, self;")],
)
def test_the_names_that_there_are_are_told(wrong, names, measure):
    with pytest.raises(InvalidInput) as refused:
        measure.model(OPS, DERIVATIVES.replace(_FORMULA, wrong))
    assert names in refused.value.diagnostics[0].hint


@pytest.mark.parametrize("filling", ["x", "é", "名", " and y", "\t"])
def test_a_line_without_end_is_not_echoed(filling, measure):
    for ops, derivatives in ((OPS.replace("int_to_float", "int" + filling * 70_000), DERIVATIVES),
                             (OPS, DERIVATIVES.replace("auto_linear", "auto" + filling * 70_000))):  # fmt: skip
        with pytest.raises(InvalidInput) as refused:
            measure.model(ops, derivatives)
        assert all(len(str(found).encode()) <= MOST for found in refused.value.diagnostics)
