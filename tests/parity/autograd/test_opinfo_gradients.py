"""Every derivative of torch's own samples of its operators is torch's: see `opinfo_derivatives` for the ways.

What a run looks at says `opinfo_choice`, what is known to differ `opinfo_differences`.
"""

import itertools
import warnings

import pytest
import torch

import mindtorch
from tests.parity.autograd.opinfo_differences import TABLE
from tests.parity.support import opinfo
from tests.parity.support.known import FREE, OURS, Cause, Known, Table
from tests.parity.support.opinfo_choice import chosen, spread
from tests.parity.support.opinfo_derivatives import CHECKS, DTYPES, WIDE, cases, nudged, widened
from tests.parity.support.opinfo_shown import difference, is_more, movement, outcome, visible, without_strides

COUNT = 60  # operators of a day
SAMPLES = 5  # of an operator and a dtype: these have numbers
OF_A_DAY = 3  # of these
DIFFERENTIABLE = [info for info in opinfo.OPS if info.supports_autograd]


def samples(info, dtype):
    """Some of an operator's samples, always the same. The libraries and the makers of samples warn about themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spread(list(itertools.islice(opinfo.samples(info, dtype, requires_grad=True), 400)), SAMPLES)


def dtypes_of(info, check):
    return [each for each in DTYPES.get(check, WIDE) if opinfo.takes(info, each)]


def differences_in(info, check, sample):
    """How the libraries differ in the check, and in strides, which is a check of its own where all else agrees."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both = cases(info, sample)
        own, other = (outcome(case.T, CHECKS[check], case) for case in both)
    except opinfo.NoCounterpart as error:
        return {check: f"mindtorch has no {error}"}
    if is_more(own, other):
        return {check: None}
    text, tolerance = difference(without_strides(own), without_strides(other)), 0.0
    if text and ": values" in text:
        tolerance = rounding(check, both[1], own, other)
        text = difference(without_strides(own), without_strides(other), tolerance)
    return {check: text} if text else {check: None, f"{check} strides": difference(own, other, tolerance)}


def rounding(check, case, own, other):
    """How far apart results may be that are rounded on the way: as far as torch's own moves, or any distance if
    mindtorch is about as near to what torch computes in double precision as torch is."""
    truth = outcome(case.T, CHECKS[check], widened(case))
    if 0 < movement(truth, own) <= 2 * movement(truth, other):
        return 1e9
    return unsteadiness(check, case, other)


def unsteadiness(check, case, result):
    """How far torch's own result moves when only the last digits of the inputs do, if that is not far."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moved = [outcome(case.T, CHECKS[check], nudged(case, number)) for number in range(3)]
    distance = 4 * max(movement(result, each) for each in moved)
    return distance if distance < 0.05 else 0.0


def verdicts(info, check, dtype):
    given = samples(info, dtype)
    yield TABLE.beyond(info.formatted_name, check, dtype, len(given))
    for number, sample in chosen(list(enumerate(given)), OF_A_DAY):
        for name, text in differences_in(info, check, sample).items():
            yield TABLE.verdict(info.formatted_name, name, dtype, number, text)


@pytest.mark.parametrize("info", chosen(DIFFERENTIABLE, COUNT), ids=lambda info: info.formatted_name)
def test_derivatives(info):
    found = [text for check in CHECKS for dtype in dtypes_of(info, check) for text in verdicts(info, check, dtype)]
    found = list(filter(None, found))
    assert not found, "\n".join(found)


# -------------------- the comparison and the table themselves --------------------


@pytest.mark.parametrize("T", (mindtorch, torch), ids=lambda T: T.__name__)
def test_a_wrong_gradient_is_seen(T):
    """A gradient that is off by one in a thousand, or has other strides, differs."""
    x = T.arange(6.0).reshape(2, 3)
    first, second, third = (visible(value, T) for value in (x, x * 1.001, x.t().contiguous().t()))
    assert difference(first, first) is None
    assert "values" in difference(first, second)
    assert "strides" in difference(first, third)
    assert difference(without_strides(first), without_strides(third)) is None


def test_what_is_expected_to_differ_has_to():
    table = Table(Known("sin", "gradient", Cause(FREE, "for the test"), dtypes="float64", samples="0 2-3"))
    assert table.verdict("sin", "gradient", "float64", 2, "values") is None
    assert "agrees" in table.verdict("sin", "gradient", "float64", 2, None)
    for others in (("cos", "gradient", "float64", 2), ("sin", "tangent", "float64", 2), ("sin", "gradient", "bool", 2)):
        assert "values" in table.verdict(*others, "values")
        assert table.verdict(*others, None) is None
    assert "values" in table.verdict("sin", "gradient", "float64", 1, "values")
    assert "3 samples" in table.beyond("sin", "gradient", "float64", 3)
    assert table.beyond("sin", "gradient", "float64", 4) is None
    with pytest.raises(AssertionError, match="what it takes"):
        Cause(OURS, "for the test")


@pytest.mark.parametrize("known", TABLE.entries, ids=lambda known: f"{known.operator}-{known.check}")
def test_an_entry_is_about_something(known):
    """Nothing in the table is about what no run looks at."""
    info = next(each for each in DIFFERENTIABLE if each.formatted_name == known.operator)
    for check in known.checks():
        dtypes = dtypes_of(info, check.removesuffix(" strides"))
        assert dtypes and set(known.dtypes.split()) <= set(dtypes)
