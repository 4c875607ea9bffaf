"""What torch refuses is refused: wrong sizes, dtypes, indices and numbers for the ops of the op table."""

import os

import pytest

from tests.daily import some
from tests.harness import sampled_ops
from tests.parity.known import FREE, OURS, Cause, Known, Table
from tests.parity.peer import runs_in_torch
from tests.parity.wrong_inputs import ACCEPTED, differences

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="calls run in a process of their own")

OPS = [op for op in sampled_ops() if runs_in_torch(op)]

# What PyTorch says of calls that it does not look at before it hands them to oneDNN, and of states that it takes for
# impossible: its answer depends on how it was built.
_OF_TORCH = ("create a primitive descriptor", "itensor_view_from_dense", "INTERNAL ASSERT FAILED")

_HIDDEN = Cause(
    OURS,
    "the weights and hidden states of recurrent layers are not looked at before they are used, and NumPy promotes and "
    "broadcasts: other dtypes, a state or a list of parameters too many",
    takes="checks of dtypes and counts in `composite/recurrent.py`",
)
_PAIRS = Cause(
    OURS,
    "NumPy broadcasts the distances between points where torch compares sizes",
    takes="a check of the sizes in the integrals",
)
_SIZES = Cause(OURS, "sizes or dtypes that do not fit together are not compared", takes="checks in the composite")
_WRITTEN_TWICE = Cause(
    OURS, "a view in which elements share memory is written without complaint", takes="the check that copy_ makes"
)
_TEXTLESS = Cause(FREE, "of a call with no dimension to speak of, torch refuses to slice a list of sizes")

KNOWN = Table(
    *[
        Known(operator, ACCEPTED, _HIDDEN)
        for kind in ("gru", "rnn_tanh", "rnn_relu")
        for operator in (f"{kind}.input", f"{kind}.data", f"{kind}_cell")
    ],
    *[Known(operator, ACCEPTED, _HIDDEN) for operator in ("lstm.data", "lstm_cell")],
    *[Known(operator, ACCEPTED, _PAIRS) for operator in ("trapezoid.x", "cumulative_trapezoid.x", "trapz.x")],
    *[
        Known(operator, ACCEPTED, _SIZES)
        for operator in (
            "affine_grid_generator", "max_pool1d_with_indices",
            "unfold_backward", "lu_unpack", "linalg_norm.ord_str", "_fft_c2r",
        )
    ],
    Known("as_strided_scatter", ACCEPTED, _WRITTEN_TWICE),
    Known("linalg_tensorinv", ACCEPTED, _TEXTLESS),
)  # fmt: skip


def accepted(op):
    """The first call of an op that mindtorch takes and torch refuses."""
    found = (f"{what}: {text}" for what, kind, text in differences(op, 1) if kind == ACCEPTED)
    return next((text for text in found if not any(words in text for words in _OF_TORCH)), None)


@pytest.mark.parametrize("op", some(range(len(OPS)), 24), ids=lambda number: OPS[number].name)
def test_refused(op):
    assert KNOWN.verdict(OPS[op].name, ACCEPTED, "", 0, accepted(OPS[op])) is None
