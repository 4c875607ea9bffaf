"""Numbers for which a dtype has no room, or that change in it: taken or refused as in PyTorch, with its results."""

import warnings

import pytest
import torch

import mindtorch
from tests.daily import some
from tests.harness import (
    Outcome,
    arguments_of,
    error_difference,
    function_of,
    outcome,
    result_difference,
    sampled_ops,
    tensors_in,
)
from tests.parity.support.peer import runs_in_torch
from tests.unusual import Call, has_numbers, with_other_numbers

HUGE, LARGE = 2**70, 2**63
OPS = [op for op in sampled_ops() if has_numbers(op) and runs_in_torch(op)]
# Calls that differ.
_FIRST_OF_TWO = "the first of two errors"
_TAKEN = "PyTorch refuses such integers before it looks at the op; here they are floating-point numbers"
KNOWN = {
    **dict.fromkeys(("add_.Scalar bool alpha=0.5", "add_.Scalar bool alpha=1j"), _FIRST_OF_TWO),
    f"arange.start_step int64 start={LARGE}": _FIRST_OF_TWO,
    **dict.fromkeys(
        [f"{name} int64 {each}={LARGE}" for name in ("clamp", "clamp_", "clip", "clip_") for each in ("min", "max")],
        _FIRST_OF_TWO,
    ),
    **dict.fromkeys([f"where.Scalar int64 {each}={LARGE}" for each in ("self", "other")], _FIRST_OF_TWO),
    f"float_power.Scalar int8 self={HUGE}": _TAKEN,
    f"float_power.Tensor_Scalar int8 exponent={HUGE}": _TAKEN,
    **dict.fromkeys([f"linspace int8 {each}={HUGE}" for each in ("start", "end")], _TAKEN),
}


def outcome_in(T, call: Call) -> Outcome:
    _, form, given, named = call
    args, kwargs = arguments_of(T, [list(given), dict(named)])
    T.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(function_of(T, form), args, kwargs)


def is_of_half_complex_numbers(found: Outcome) -> bool:
    """Of a dtype that only PyTorch has."""
    return "ComplexHalf" in str(found.error) or any(
        each.dtype is torch.complex32 for each in tensors_in(torch, found.result)
    )


def difference(call: Call) -> str | None:
    own, peer = outcome_in(mindtorch, call), outcome_in(torch, call)
    if is_of_half_complex_numbers(peer):
        return None
    if own.error or peer.error:
        return error_difference(own.error, peer.error)
    return result_difference(mindtorch, torch, own.result, peer.result, strides=False)


@pytest.mark.parametrize("number", some(range(len(OPS)), 6), ids=lambda number: OPS[number].name)
def test_numbers(number):
    found = {}
    for call in with_other_numbers(OPS[number]):
        name = f"{call[1].name} {call[0]}"
        text = difference(call)
        if (text is None) == (name in KNOWN):
            found[name] = text
    assert found == {}
