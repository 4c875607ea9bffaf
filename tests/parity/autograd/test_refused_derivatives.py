"""What derivatives.yaml calls `refused`: PyTorch has no such derivative either. And what it calls `constant`: PyTorch
refuses at the call what requires grad, and nothing else."""

import re

import pytest
import torch

import mindtorch
from codegen.keys import POINTWISE
from tests.harness import arguments_of, error_difference, function_of, model, outcome, samples_of, tensors_in
from tests.parity.support.peer import runs_in_torch
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


# Statistics that the forward pass hands to the backward one without a graph: torch refuses their derivatives later.
REFUSED_LATER = {
    "native_batch_norm_backward": ["save_mean", "save_invstd"],
    "native_layer_norm_backward": ["mean", "rstd"],
}
WITHOUT_FORMULAS = [
    pytest.param(derivative.op, target, id=f"{derivative.op.name}-{target}")
    for derivative in DERIVATIVES
    for formula in derivative.backward
    for target in formula.targets
    if formula.kind != "expression" and target not in REFUSED_LATER.get(derivative.op.name, ())
]


def called(T, op, sample, target):
    """The call alone, with what of that argument can require grad."""
    args, kwargs = arguments_of(T, [list(sample.args), sample.kwargs])
    for each in tensors_in(T, [{**named(op, args), **kwargs}.get(target)]):
        each.requires_grad_(each.is_floating_point())
    function_of(T, op)(*args, **kwargs)


def may_require_grad(op, sample, target):
    """Whether a sample has that argument, which most do without."""
    given = {**named(op, sample.args), **sample.kwargs}.get(target)
    return isinstance(given, TensorSpec) and given.dtype.startswith(("float", "complex"))


@pytest.mark.parametrize("op, target", WITHOUT_FORMULAS)
def test_refused_at_the_call(op, target):
    samples = [each for each in samples_of(op, "float64") if not each.refusal]
    sample = next((each for each in samples if may_require_grad(op, each, target)), samples[0])
    own, peer = (outcome(called, (T, op, sample, target), {}).error for T in (mindtorch, torch))
    assert own is peer is None or error_difference(own, peer) is None


IN_PLACE = [
    op
    for op in model().ops.values()
    if op.kind == "inplace" and op.family in POINTWISE and [each.name for each in op.schema.inputs] == ["self"]
]


def written_backward(T, op):
    x = T.tensor([0.5, 0.25], dtype=T.float64, requires_grad=True)
    function_of(T, op)(x * 1).sum().backward()
    return x.grad


@pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in IN_PLACE if runs_in_torch(op)])
def test_in_place(op):
    own, peer = (outcome(written_backward, (T, op), {}) for T in (mindtorch, torch))
    assert own.error is peer.error is None or error_difference(own.error, peer.error) is None


def grid_histogram(T, bins, range, part):
    points = T.tensor([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]], requires_grad=True)
    hist, edges = T.histogramdd(points, bins, range)
    result = (hist, *edges)[part]
    flags = result.requires_grad, result.is_leaf, [each.requires_grad for each in edges]
    return flags, outcome(result.sum().backward, (), {}).error


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("limits", [None, [0.0, 3.0, 0.0, 4.0]])
@pytest.mark.parametrize("bins", [2, [2, 3]])
def test_grid_histogram(bins, limits, part):
    (own, error), (peer, other) = (grid_histogram(T, bins, limits, part) for T in (mindtorch, torch))
    assert own == peer
    assert error_difference(error, other) is None


@pytest.mark.parametrize("op", FORWARD)
def test_forward(op):
    for sample in samples_of(op, "float64"):
        if any(isinstance(each, TensorSpec) and each.layout == "expanded" for each in sample.args):
            continue  # torch cannot give such a tensor a tangent
        check_refused(forward, op, sample)
