"""Every op of the table in forward mode: where tangents lie in memory, and what they and their dtypes are.

For each op the sample with the most dimensions, all of its fractions with tangents, in rows and the other way round;
other ops each day.
"""

import warnings

import pytest
import torch

import mindtorch
from tests.daily import some
from tests.harness import outcome, specs_in, tensor_of
from tests.parity.func.test_vmap_layouts import OPS, call_of, difference, sample_of
from tests.parity.ops.test_ops import weights_like
from tests.parity.support.programs import assert_same, sample

_TRIANGLE = "PyTorch's tangent is also that of the triangle of the matrix which the op does not read"
_PLACES = "PyTorch's kernel takes any strides for those of rows: its values are wrong"
_STEPS = "PyTorch takes the formula apart inside jvp, and its steps leave results in memory in another way"
_WINDOW = "the tangent of the pieces lies in memory as the window lets it"
_DTYPE = "PyTorch's tangent has the dtype of the input, and not that of the result"

DIFFERENT = {
    **dict.fromkeys(("cholesky_solve", "cholesky_inverse"), _TRIANGLE),
    **dict.fromkeys(
        ("fractional_max_pool2d_backward", "fractional_max_pool3d_backward", "adaptive_max_pool3d_backward"), _PLACES
    ),
    **dict.fromkeys(("_log_softmax_backward_data", "native_batch_norm_backward", "native_layer_norm_backward"), _STEPS),
    "stft": _WINDOW,
    "norm.ScalarOpt_dim_dtype": _DTYPE,
}


def reversed_in_memory(tensor):
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)


def is_fraction(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def tangents(T, op, given, is_reversed):
    """What `jvp` makes of an op, and of the tensors of a sample."""
    tensors = [tensor_of(T, spec) for spec in specs_in(given)]
    if is_reversed:
        tensors = list(map(reversed_in_memory, tensors))
    places = [place for place, tensor in enumerate(tensors) if is_fraction(tensor)]
    if not places:
        return ()

    def of_fractions(*duals):
        args = list(tensors)
        for place, dual in zip(places, duals, strict=True):
            args[place] = dual
        return call_of(T, op, given)(*args)

    primals = tuple([tensors[place] for place in places])
    results, found = T.func.jvp(of_fractions, primals, tuple([weights_like(T, each, 3) for each in primals]))
    return (*results, *found)


def first_difference(op):
    given = sample_of(op)
    for is_reversed in (False, True) if given is not None else ():
        expected, actual = (outcome(tangents, (T, op, given, is_reversed), {}) for T in (torch, mindtorch))
        if expected.error is not None:
            continue
        if actual.error is not None:
            return f"reversed: {is_reversed}: {actual}"
        for left, right in zip(actual.result, expected.result, strict=True):
            if text := difference(left, right):
                return f"reversed: {is_reversed}: {text}"
    return None


# Some each day, and all that are listed.
NAMES = {*some([op.name for op in OPS], 4), *DIFFERENT}
LOOKED_AT = [op for op in OPS if op.name in NAMES]


@pytest.mark.parametrize("op", LOOKED_AT, ids=[op.name for op in LOOKED_AT])
def test_tangents(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = first_difference(op)
    if op.name in DIFFERENT:
        assert found, f"{op.name} is listed as different, and is not any more"
    else:
        assert not found, found


@pytest.mark.parametrize("given", ["weight", "pos_weight", "both"])
def test_weights_of_a_loss(given):
    """They have a tangent, although they have no gradient."""

    def program(T):
        x, target = sample(T, 2, 3, requires_grad=False), sample(T, 2, 3, requires_grad=False, seed=1).sigmoid()
        names = ("weight", "pos_weight") if given == "both" else (given,)
        weights = tuple([sample(T, 3, requires_grad=False, seed=place).exp() for place in range(len(names))])
        loss = T.nn.functional.binary_cross_entropy_with_logits
        return [
            T.func.jvp(
                lambda *each, how=how: loss(x, target, reduction=how, **dict(zip(names, each, strict=True))),
                weights,
                tuple([each + 1 for each in weights]),
            )
            for how in ("none", "mean", "sum")
        ]

    assert_same(program)
