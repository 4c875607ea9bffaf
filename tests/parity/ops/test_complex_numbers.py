"""Complex numbers where an op takes a number: the value, and the derivatives, which conjugate it or do not."""

from dataclasses import replace
from itertools import islice

import pytest
import torch

import mindtorch
from tests.harness import describe, dtypes_of, outcome, samples_of
from tests.parity.ops.test_ops import WRONG_IN_TORCH, gradients, knows_more, names, outcome_difference, report, tangents
from tests.parity.support.peer import torch_ops

NUMBER = 0.75 - 1.25j


def numbers_of(op):
    """The names of the arguments that are numbers."""
    return {argument.name for argument in op.schema.inputs if str(argument.type) in ("Scalar", "Scalar?")}


def with_complex_numbers(op, sample):
    """The same call with a complex number for every number, those that were left out and are keywords included."""
    numbers = numbers_of(op)
    args = [
        NUMBER if argument.name in numbers and value is not None else value
        for argument, value in zip(op.schema.inputs, sample.args, strict=False)
    ]
    keywords = {argument.name for argument in op.schema.inputs[len(args) :] if argument.name in numbers}
    return replace(sample, args=tuple(args), kwargs={**sample.kwargs, **dict.fromkeys(keywords, NUMBER)})


OPS = [op for op in torch_ops() if numbers_of(op) and "complex128" in dtypes_of(op)]


def first_gradients(T, op, sample):
    return gradients(T, op, sample, 1)


@pytest.mark.parametrize("compute", [first_gradients, tangents], ids=["backward", "forward"])
@pytest.mark.parametrize("op", OPS, ids=names(OPS))
def test_derivatives(op, compute):
    if op.name in WRONG_IN_TORCH or op.name == "index_add":
        pytest.skip("torch's derivatives are not to be compared")  # it does not conjugate the alpha of index_add
    problems = []
    for sample in islice(samples_of(op, "complex128"), 4):
        call = with_complex_numbers(op, sample)
        results = [outcome(compute, (T, op, call), {}) for T in (mindtorch, torch)]
        if not knows_more(*results) and (text := outcome_difference(*results, tolerance=10, strides=False)):
            problems.append(f"  ({describe(call)}): {text}")
    report(op, problems)
