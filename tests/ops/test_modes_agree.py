"""The second derivative along a direction is the same in all modes, whatever an op has saved for its formulas.

What an op gives besides its result, such as a workspace, has no derivatives: a formula that reads it may do so only
where nothing is differentiated any further, by a graph or by another level of forward mode.
"""

from itertools import islice

import numpy as np
import pytest

import mindtorch as torch
from tests.harness import arguments_of, dtypes_of, function_in, is_refusal, outcome, sampled_ops, samples_of, tensors_in

grad, jvp = torch.func.grad, torch.func.jvp
MADE_OF_CELLS = {"gru.input", "gru.data", "lstm.input", "lstm.data", "gru_cell", "lstm_cell"}
WITH_A_WORKSPACE = MADE_OF_CELLS | {"scaled_dot_product_attention"}


def has_more_outputs(op):
    return len(op.schema.returns) > 1 and not op.composite


OPS = [
    op for op in sampled_ops() if "float64" in dtypes_of(op) and (has_more_outputs(op) or op.name in WITH_A_WORKSPACE)
]


def like(tensor, seed):
    return torch.tensor(np.random.RandomState(seed).randn(tensor.numel()), dtype=torch.float64).reshape(tensor.shape)


def number_of(function):
    """A function of which no derivative vanishes."""

    def number(*inputs):
        results = [each.abs() if each.is_complex() else each for each in function(*inputs)]
        weights = [like(each, place) for place, each in enumerate(results)]
        return sum(((each * each / 3 + each) * weight).sum() for each, weight in zip(results, weights, strict=True))

    return number


def second_derivatives(number, inputs, directions):
    """In the four ways that two modes can be nested."""
    places = tuple(range(len(inputs)))

    def along(gradients):
        return sum((each * direction).sum() for each, direction in zip(gradients, directions, strict=True))

    def by_reverse(function):
        return lambda *given: along(grad(function, argnums=places)(*given))

    def by_forward(function):
        return lambda *given: jvp(function, given, directions)[1]

    for outer in (by_reverse, by_forward):
        for inner in (by_reverse, by_forward):
            yield outcome(outer(inner(number)), inputs, {})


def calls(op):
    for sample in islice(samples_of(op, "float64"), 2 if op.name in WITH_A_WORKSPACE else 1):
        args, kwargs = arguments_of(torch, [list(sample.args), sample.kwargs], True)
        inputs = [tensor for tensor in tensors_in(torch, [args, kwargs]) if tensor.requires_grad]
        if inputs:
            yield function_in(torch, op, sample, args, kwargs, inputs), [each.detach() for each in inputs]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_modes_agree(op):
    for function, inputs in calls(op):
        directions = tuple(like(each, 7) for each in inputs)
        found = [each for each in second_derivatives(number_of(function), tuple(inputs), directions)]
        numbers = [float(each.result) for each in found if each.error is None]
        refusals = [each for each in found if each.error is not None]
        assert all(is_refusal(each.error) or isinstance(each.error, RuntimeError) for each in refusals), refusals
        assert np.allclose(numbers, numbers[:1], 1e-7, 1e-9, equal_nan=True), list(map(str, found))
        assert len(numbers) == 4 or op.name not in WITH_A_WORKSPACE, list(map(str, found))
