"""What ACLNN is given for the arguments of ops."""

import pytest

from mindtorch.backends.npu.values import Codes, dims_of, sized


@pytest.mark.parametrize(
    ("dim", "ndim", "expected"),
    [
        (None, 3, (0, 1, 2)),
        ((), 2, (0, 1)),
        ([], 0, ()),
        (-1, 2, (-1,)),
        (0, 0, ()),
        ([1, 0], 3, (1, 0)),
        ((0,), 0, ()),
    ],
)
def test_every_dimension_is_named(dim, ndim, expected):
    assert dims_of(dim, ndim) == expected


def test_one_number_stands_for_all():
    assert sized([2], 3) == (2, 2, 2) and sized((1, 2), 2) == (1, 2)


def test_words_have_codes_and_others_are_refused():
    codes = Codes("approximate", {None: 0, "none": 0, "tanh": 1})
    assert codes["tanh"] == 1 and codes[None] == 0
    with pytest.raises(RuntimeError, match="^approximate argument must be either none or tanh.$"):
        codes["exact"]
