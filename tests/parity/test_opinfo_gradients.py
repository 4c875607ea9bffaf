"""Every derivative of torch's own samples of its operators is torch's: see `opinfo_derivatives` for the ways.

What a run looks at says `opinfo_choice`.
"""

import itertools
import warnings

import pytest
import torch

import mindtorch
from tests.parity import opinfo
from tests.parity.opinfo_choice import ALL, chosen, spread
from tests.parity.opinfo_derivatives import CHECKS, DTYPES, WIDE, cases
from tests.parity.opinfo_differences import KNOWN
from tests.parity.opinfo_shown import difference, differs, outcome, visible

COUNT = 60  # operators of a day
SAMPLES = 5 if ALL else 3  # of an operator, a dtype and a check
DIFFERENTIABLE = [info for info in opinfo.OPS if info.supports_autograd]


def samples(info, dtype):
    """Some of an operator's samples. The libraries and the makers of samples warn about themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spread(list(itertools.islice(opinfo.samples(info, dtype, requires_grad=True), 400)), SAMPLES)


def dtypes_of(info, check):
    known = KNOWN.get(info.formatted_name, "").split()
    return [each for each in (WIDE if "narrow" in known else DTYPES.get(check, WIDE)) if opinfo.takes(info, each)]


def difference_in(info, check, sample):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both = cases(info, sample)
        own, other = (outcome(case.T, CHECKS[check], case) for case in both)
    except opinfo.NoCounterpart as error:
        pytest.skip(f"mindtorch has no {error}")
    return differs(own, other, KNOWN.get(info.formatted_name, "").split())


@pytest.mark.parametrize("info", chosen(DIFFERENTIABLE, COUNT), ids=lambda info: info.formatted_name)
def test_derivatives(info):
    found = []
    for check in CHECKS.keys() - KNOWN.get(info.formatted_name, "").split():
        for dtype in dtypes_of(info, check):
            for number, sample in enumerate(samples(info, dtype)):
                text = difference_in(info, check, sample)
                found += [f"{check} {dtype} #{number} {text}"] if text else []
    assert not found, "\n".join(found)


@pytest.mark.parametrize("T", (mindtorch, torch), ids=lambda T: T.__name__)
def test_a_wrong_gradient_is_seen(T):
    """The comparison itself: a gradient that is off by one in a thousand, or has other strides, differs."""
    x = T.arange(6.0).reshape(2, 3)
    first, second, third = (visible(value, T) for value in (x, x * 1.001, x.t().contiguous().t()))
    assert difference(first, first) is None
    assert "values" in difference(first, second)
    assert "strides" in difference(first, third)
