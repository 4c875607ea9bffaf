"""Two threads that go back through one graph, for every op that has a derivative: each gets what it gets alone.

MINDTORCH_REPEATS=1000 looks for rarer faults.
"""

import os

import pytest

import mindtorch as torch
from tests.concurrent import run_together
from tests.harness import (
    arguments_of,
    differentiable_arguments,
    dtypes_of,
    function_in,
    model,
    outcome,
    sampled_ops,
    samples_of,
    tensors_in,
    to_numpy,
)

REPEATS = int(os.environ.get("MINDTORCH_REPEATS", "8"))


def has_gradients(op):
    if op.name in model().derivatives:
        return bool(differentiable_arguments(op))
    return op.composite is not None


OPS = [pytest.param(op, id=op.name) for op in sampled_ops() if "float64" in dtypes_of(op) and has_gradients(op)]


def graph_of(op):
    """Of the op's samples, that with the most inputs: the results that have a gradient, and the inputs."""
    best = [], []
    for sample in samples_of(op, "float64"):
        args, kwargs = arguments_of(torch, [list(sample.args), sample.kwargs], True)
        inputs = [tensor for tensor in tensors_in(torch, [args, kwargs]) if tensor.requires_grad]
        if len(inputs) <= len(best[1]) or sample.refusal or not all(tensor.numel() for tensor in inputs):
            continue
        given = outcome(function_in(torch, op, sample, args, kwargs, inputs), inputs, {})
        results = [] if given.error else [result for result in given.result if result.requires_grad]
        if results:
            best = results, inputs
    return best


def shares_of(inputs):
    """What the two threads ask for: of several inputs every other one, of one both the same."""
    return (inputs[::2], inputs[1::2]) if len(inputs) > 1 else (inputs, inputs)


def pass_for(results, inputs):
    """A function that runs a backward pass, and gives all bytes of what comes out, or says what has no derivative."""
    starts = [torch.ones_like(result) for result in results]

    def run():
        try:
            found = torch.autograd.grad(results, inputs, starts, retain_graph=True, allow_unused=True)
        except NotImplementedError as error:
            return str(error)
        return [None if grad is None else to_numpy(grad.to_dense()).tobytes() for grad in found]

    return run


@pytest.mark.parametrize("op", OPS)
def test_passes_for_different_inputs(op):
    results, inputs = graph_of(op)
    if not results:
        pytest.skip("no sample gives a gradient")
    passes = [pass_for(results, share) for share in shares_of(inputs)]
    expected = [run() for run in passes]
    for alone, together in zip(expected, run_together(*passes, repeats=REPEATS), strict=True):
        wrong = sum(found != alone for found in together)
        assert not wrong, f"{wrong} of {REPEATS} passes gave something else"
