"""What derivatives.yaml calls `refused`: PyTorch has no such derivative either."""

import re

import pytest
import torch

import mindtorch
from tests.harness import arguments_of, function_of, model, outcome, samples_of, tensors_in
from tests.parity.peer import runs_in_torch
from tests.samples import TensorSpec

DERIVATIVES = [
    each
    for each in model().derivatives.values()
    if each.op.derived_from is None and each.op.samples and runs_in_torch(each.op)
]
BACKWARD = [
    pytest.param(derivative.op, target, id=f"{derivative.op.name}-{target}")
    for derivative in DERIVATIVES
    for formula in derivative.backward
    for target in formula.targets
    if formula.kind == "not_implemented" and not derivative.op.schema.argument(target).type.is_list
]
FORWARD = [
    pytest.param(derivative.op, id=derivative.op.name)
    for derivative in DERIVATIVES
    if any(formula.kind == "not_implemented" for formula in derivative.forward)
]


def backward(T, op, sample, target):
    """The backward pass of a call of which only that argument requires grad."""
    args, kwargs = arguments_of(T, [list(sample.args), sample.kwargs])
    ({**named(op, args), **kwargs})[target].requires_grad_()
    results = tensors_in(T, function_of(T, op)(*args, **kwargs))
    sum(result.sum() for result in results).backward()


def named(op, args):
    """Positional arguments by name."""
    return dict(zip([argument.name for argument in op.schema.inputs], args))


def forward(T, op, sample):
    """A call with tangents of all that can have one."""
    args = arguments_of(T, list(sample.args))
    with T.autograd.forward_ad.dual_level():
        duals = [with_tangent(T, each) for each in args]
        function_of(T, op)(*duals, **arguments_of(T, sample.kwargs))


def with_tangent(T, value):
    if not (isinstance(value, T.Tensor) and value.is_floating_point()):
        return value
    return T.autograd.forward_ad.make_dual(value, T.ones_like(value))


# How torch calls the function or the argument is its own affair, and so is what it adds.
NAMES = re.compile(r"^the |'[^']*'|with [\w:]+|aten::\w+|( because|\.).*", re.DOTALL)
NO_SUCH_ARGUMENT = "is not differentiable with respect to argument"


def check_refused(function, *args):
    """torch refuses some arguments at the call; here it is always the derivative that is refused."""
    own, peer = (outcome(function, (T, *args), {}).error for T in (mindtorch, torch))
    assert peer is not None, "torch has this derivative"
    assert own is not None and isinstance(own, RuntimeError)
    assert NO_SUCH_ARGUMENT in str(peer) or NAMES.sub("", str(own)) == NAMES.sub("", str(peer))


@pytest.mark.parametrize("op, target", BACKWARD)
def test_backward(op, target):
    samples = [(each, {**named(op, each.args), **each.kwargs}.get(target)) for each in samples_of(op, "float64")]
    samples = [(each, spec) for each, spec in samples if isinstance(spec, TensorSpec) and not each.refusal]
    assert samples, f"no sample of {op.name} has a {target}"
    for sample, spec in samples:
        if spec.dtype == "float64" and spec.layout != "expanded":
            check_refused(backward, op, sample, target)


@pytest.mark.parametrize("op", FORWARD)
def test_forward(op):
    for sample in samples_of(op, "float64"):
        if any(isinstance(each, TensorSpec) and each.layout == "expanded" for each in sample.args):
            continue  # torch cannot give such a tensor a tangent
        check_refused(forward, op, sample)
