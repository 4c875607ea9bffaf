"""No op, under no transform, gives a gradient from changed data.

For each op of the table, a call is made under each transform; then one of its inputs or outputs is written in place,
and the backward pass runs. It either raises, or gives exactly the gradient that it gives without the write.

A run takes some ops, others each day, as the head of a run tells; MINDTORCH_SAMPLES=all takes all, and
MINDTORCH_OPS=a,b takes those.
"""

import os
from itertools import islice
from random import Random

import pytest

import mindtorch as torch
from mindtorch import func
from mindtorch.utils.checkpoint import checkpoint
from tests.daily import ALL, SEED
from tests.harness import (
    arguments_of,
    describe,
    dtypes_of,
    function_of,
    outcome,
    sampled_ops,
    samples_of,
    tensors_in,
    without_overlap,
)

OPS_IN_A_RUN = 60
SAMPLES_OF_AN_OP = 2
MODIFIED = "modified by an inplace operation"


def chosen():
    ops = [op for op in sampled_ops() if "float64" in dtypes_of(op)]
    if named := os.environ.get("MINDTORCH_OPS"):
        return [op for op in ops if op.name in named.split(",")]
    if ALL:
        return ops
    return Random(SEED).sample(ops, OPS_IN_A_RUN)


# -------------------- calls --------------------


def calls_of(op, dtype):
    """Calls as (what it is, function of the tensors that have gradients, their values)."""
    for sample in islice(samples_of(op, dtype), SAMPLES_OF_AN_OP):
        args = arguments_of(torch, [without_overlap(arg) for arg in sample.args], True)
        kwargs = arguments_of(torch, sample.kwargs, True)
        inputs = [tensor for tensor in tensors_in(torch, [args, kwargs]) if tensor.requires_grad]
        if inputs and not sample.refusal:
            yield describe(sample), with_inputs(op, args, kwargs, inputs), [each.detach() for each in inputs]


def with_inputs(op, args, kwargs, inputs):
    """The call as a function of these tensors, which gives a list of what has a gradient."""
    function = function_of(torch, op)

    def run(*tensors):
        given = {id(old): new for old, new in zip(inputs, tensors, strict=True)}

        def build(value):
            if isinstance(value, (list, tuple)):
                return type(value)(map(build, value))
            return given.get(id(value), value)

        torch.manual_seed(0)
        result = function(*map(build, args), **{name: build(value) for name, value in kwargs.items()})
        return [each for each in tensors_in(torch, [result]) if each.is_floating_point() or each.is_complex()]

    return run


def total(results):
    """A number to which each element of the results counts with another weight."""
    parts = [each.abs() if each.is_complex() else each for each in results]
    return sum((part * torch.linspace(1, 2, part.numel(), dtype=part.dtype).view(part.shape)).sum() for part in parts)


# -------------------- transforms --------------------


def plain(run, inputs):
    return run(*inputs)


def over_all(run, inputs):
    return list(func.vmap(run, randomness="same")(*[torch.stack([each, each]) for each in inputs]))


def over_given(run, inputs):
    """Over the first dimension of samples that are there already: the inputs themselves enter the level."""
    return list(func.vmap(run, -1, -1, randomness="same")(*inputs))


def gradients_of_samples(run, inputs):
    each = func.grad(lambda *tensors: total(run(*tensors)), tuple(range(len(inputs))))
    return list(func.vmap(each, randomness="same")(*inputs))


def gradient_of_vmap(run, inputs):
    def sum_of(*tensors):
        return total(func.vmap(run, randomness="same")(*tensors))

    return list(func.grad(sum_of, tuple(range(len(inputs))))(*inputs))


def pulled_back(run, inputs):
    results, products = func.vjp(run, *inputs)
    return [*results, *products([torch.ones_like(each) for each in results])]


def tangents(run, inputs):
    results, found = func.jvp(run, tuple(inputs), tuple(torch.ones_like(each) for each in inputs))
    return [*results, *found]


def tangents_of_samples(run, inputs):
    def pushed(*samples):
        return func.jvp(run, samples, tuple(map(torch.ones_like, samples)))

    results, found = func.vmap(pushed, randomness="same")(*inputs)
    return [*results, *found]


def custom_function(run, inputs):
    return list(as_function(run, False).apply(*inputs))


def custom_function_of_samples(run, inputs):
    return list(func.vmap(as_function(run, True).apply, randomness="same")(*inputs))


def as_function(run, rule):
    class Wrapped(torch.autograd.Function):
        generate_vmap_rule = rule

        @staticmethod
        def forward(*tensors):
            return tuple(run(*tensors))

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, *output)
            ctx.count = len(inputs)

        @staticmethod
        def backward(ctx, *grads):
            inputs = ctx.saved_tensors[: ctx.count]
            return func.vjp(lambda *tensors: tuple(run(*tensors)), *inputs)[1](grads)

    return Wrapped


def checkpointed(run, inputs):
    return checkpoint(run, *inputs, use_reentrant=False)


def checkpointed_vmap(run, inputs):
    return list(checkpoint(func.vmap(run, randomness="same"), *inputs, use_reentrant=False))


def in_half_precision(run, inputs):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return run(*inputs)


TRANSFORMS = (
    *(plain, over_all, over_given, gradients_of_samples, gradient_of_vmap, pulled_back, tangents),
    *(tangents_of_samples, custom_function, custom_function_of_samples, checkpointed, checkpointed_vmap),
    in_half_precision,
)
OF_SAMPLES = (
    *(over_given, gradients_of_samples, gradient_of_vmap, tangents_of_samples),
    *(custom_function_of_samples, checkpointed_vmap),
)


# -------------------- writes --------------------


def attempt(run, values, transform, write):
    """The gradients after the write, or the error; `write` gets the inputs and the results."""
    leaves = [value.clone().requires_grad_() for value in values]
    inputs = [leaf * 1 for leaf in leaves]
    results = transform(run, inputs)
    with torch.no_grad():
        write(inputs, results)
    used = [each for each in results if each.requires_grad]
    ones = [torch.ones_like(each) for each in used]
    return torch.autograd.grad(used, leaves, ones, allow_unused=True) if used else []


def writes_to(inputs, results):
    """What may be written: every input, and every result that is memory of its own."""
    yield from (("input", place) for place in range(inputs))
    yield from (("result", place) for place in range(results))


def nothing(inputs, results):
    pass


def check(run, values, transform):
    counts = []
    expected = outcome(attempt, (run, values, transform, lambda *both: counts.extend(map(len, both))), {})
    if expected.error is not None:
        return []
    return [fault for target in writes_to(*counts) if (fault := fault_of(run, values, transform, target, expected))]


def fault_of(run, values, transform, target, expected):
    def write(inputs, results):
        tensor = (inputs if target[0] == "input" else results)[target[1]]
        tensor.copy_(tensor * 3 + 1)

    found = outcome(attempt, (run, values, transform, write), {})
    if found.error is not None:
        return None if is_allowed(found.error) else f"after a write to {target}: {found.error!r}"
    for own, other in zip(found.result, expected.result, strict=True):
        if (own is None) != (other is None) or (own is not None and not are_close(own, other)):
            return f"after a write to {target} the gradient is {own}, without {other}"
    return None


def are_close(own, other):
    """The same but for the order of additions, which where an array lies in memory decides."""
    tolerance = 1e-9 if own.dtype in (torch.float64, torch.complex128) else 1e-4
    return torch.allclose(own, other, tolerance, tolerance, equal_nan=True)


def is_allowed(error):
    """A write that is refused or noticed; one element of memory may stand for several."""
    texts = (MODIFIED, "single memory location", "is a view", "read-only", "inplace", "in-place")
    return any(text in str(error) for text in texts)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in chosen()])
def test_changed_data(op):
    faults = []
    for transform in TRANSFORMS:
        dtype = "float32" if transform is in_half_precision else "float64"
        for text, run, values in calls_of(op, dtype) if dtype in dtypes_of(op) else ():
            if transform in OF_SAMPLES:
                values = [torch.stack([value, value], -1 if transform is over_given else 0) for value in values]
            faults += [f"{transform.__name__}({op.name}({text})): {fault}" for fault in check(run, values, transform)]
    assert not faults, "\n".join(faults)
