"""Derivatives of every op of the table against finite differences: first and second, backward and forward mode."""

import re
from itertools import islice

import pytest

import mindtorch as torch
from mindtorch.autograd import forward_ad
from mindtorch.autograd.gradcheck import GradcheckError
from tests.daily import some
from tests.harness import (
    arguments_of,
    describe,
    differentiable_arguments,
    dtypes_of,
    function_in,
    is_refusal,
    model,
    outcome,
    sampled_ops,
    samples_of,
    tensors_in,
    without_overlap,
)

DOUBLE = (torch.float64, torch.complex128)
FEW_ELEMENTS = 6


def has_derivative(op, dtype):
    """Whether an op has formulas, or may be made of ops that have them, in a dtype exact enough for differences."""
    if dtype not in dtypes_of(op):
        return False
    derivative = model().derivatives.get(op.name)
    if derivative is None:
        return op.composite is not None
    refused = (dtype.startswith("complex") and derivative.refuses_complex) or all(
        formula.kind != "expression" or formula.source.startswith("no_backward_derivative(")
        for formula in derivative.backward
    )
    return bool(differentiable_arguments(op)) and not refused


DIFFERENTIABLE = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in sampled_ops()
    for dtype in ("float64", "complex128")
    if has_derivative(op, dtype)
]


def checkable(op, dtype):
    """Samples as (sample, function of the tensors that have gradients, those tensors)."""
    for sample in samples_of(op, dtype):
        args = arguments_of(torch, [without_overlap(arg) for arg in sample.args], True)
        kwargs = arguments_of(torch, sample.kwargs, True)
        inputs = [tensor for tensor in tensors_in(torch, [args, kwargs]) if tensor.requires_grad]
        if not inputs or any(tensor.numel() == 0 or tensor.dtype not in DOUBLE for tensor in inputs):
            continue
        function = function_in(torch, op, sample, args, kwargs, inputs)
        if not (sample.refusal or sample.no_differences) and is_regular(function, inputs):
            yield sample, function, inputs


def is_regular(function, inputs):
    """Whether results have gradients, and those that do are double precision and finite in a neighbourhood."""
    given = outcome(function, inputs, {})
    if is_refusal(given.error):
        return False
    assert given.error is None, given
    found = [each for each in given.result if each.requires_grad]
    if not found or not all(each.dtype in DOUBLE for each in found):
        return False
    steps = ([tensor.detach() + step for tensor in inputs] for step in (-1e-6, 0, 1e-6))
    return all(bool(result.isfinite().all()) for moved in steps for result in function(*moved))


# The ops without a forward-mode rule, here and in PyTorch, as the error names them.
WITHOUT_TANGENTS = {
    derivative.op.schema.base
    for derivative in model().derivatives.values()
    if any(formula.kind == "not_implemented" for formula in derivative.forward)
}


def has_forward_rule(function, inputs):
    """Whether there is one for the op, or all that it is made of. Only a refused one may be missing."""
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(tensor.detach(), torch.ones_like(tensor)) for tensor in inputs]
        try:
            function(*duals)
        except NotImplementedError as error:
            if any(f"with {name} that" in str(error) for name in WITHOUT_TANGENTS):
                return False
            raise
    return True


# The ops without any derivative, here and in PyTorch, as the error of a backward pass names them, and backward passes
# that are not differentiated again.
WITHOUT_GRADIENTS = {
    f"derivative for aten::{derivative.op.schema.base} is not implemented"
    for derivative in model().derivatives.values()
    if not any(formula.kind == "expression" for formula in derivative.backward)
} | {
    f"the derivative for '{derivative.op.schema.base}' is not implemented."
    for derivative in model().derivatives.values()
    if any("no_backward_derivative" in formula.helpers for formula in derivative.backward)
}


def check_derivatives(check, op, sample, function, inputs, **options):
    """Compare, and say of a failure which call it is and where the formulas are. Large inputs only along a line."""
    fast_mode = any(tensor.is_complex() for tensor in inputs) or sum(map(torch.numel, inputs)) > FEW_ELEMENTS
    error = outcome(check, (function, inputs), {"nondet_tol": 1e-10, "fast_mode": fast_mode, **options}).error
    if error is None or str(error) in WITHOUT_GRADIENTS:
        return
    text = f"{op.name}({describe(sample)}): {error}\n{input_text(op, sample, inputs, error)}{formulas_text(op)}"
    if isinstance(error, GradcheckError):
        pytest.fail(text, pytrace=False)
    raise AssertionError(text) from error


def input_text(op, sample, inputs, error):
    """Which argument an error about an input means, what it is, and where its formula is."""
    number = re.search(r"(?:respect to|and) input (\d+)", str(error))
    if number is None:
        return ""
    name = names_of_inputs(op, sample)[int(number[1])]
    derivative = model().derivatives.get(op.name)
    if "forward mode" in str(error):
        what, formula = "tangent for", next(iter(derivative.forward), None) if derivative else None
    else:
        what, formula = "gradient of", derivative.backward_of(name.partition("[")[0]) if derivative else None
    place = f"{formula.location}: " if formula else ""
    return f"{place}the {what} '{name}' is wrong (input {number[1]}): {name} = {inputs[int(number[1])]!r}\n"


def names_of_inputs(op, sample):
    """What the tensors of a sample that have gradients are called, in their order."""
    names = [argument.name for argument in op.schema.inputs]
    given = [*zip(names, sample.args), *sample.kwargs.items()]
    found = [(name, arguments_of(torch, value, True)) for name, value in given]
    return [name for name, value in found for name in tensor_names(name, value)]


def tensor_names(name, value):
    if isinstance(value, list):
        return [each for i, item in enumerate(value) for each in tensor_names(f"{name}[{i}]", item)]
    return [name] if isinstance(value, torch.Tensor) and value.requires_grad else []


def formulas_text(op):
    """The lines of derivatives.yaml that a wrong derivative of an op can come from."""
    derivative = model().derivatives.get(op.name)
    if derivative is None:
        return "It is made of other ops, whose formulas are to be looked at."
    lines = [formula_text(formula) for formula in (*derivative.backward, *derivative.forward)]
    return "\n".join(["Its formulas:", *lines])


def formula_text(formula):
    origin = " (made of the backward formula: right when that is)" if formula.kind == "auto_element_wise" else ""
    return f"{formula.location}: {', '.join(formula.targets)}: {formula.source}{origin}"


@pytest.mark.parametrize("op, dtype", DIFFERENTIABLE)
def test_gradient_matches_finite_differences(op, dtype):
    """First derivatives, backward and forward mode, against finite differences."""
    cases = list(checkable(op, dtype))
    for case in cases:
        check_derivatives(torch.autograd.gradcheck, op, *case, check_forward_ad=has_forward_rule(*case[1:]))
    assert (
        cases or op.composite
    ), f"no sample of {op.name} has a gradient to check: samples that are regular are missing"


@pytest.mark.parametrize("op, dtype", DIFFERENTIABLE)
def test_second_gradient_matches_finite_differences(op, dtype):
    """Second derivatives, backward and forward mode over backward, against finite differences of the first.

    Along a line, as the first ones are exact by the test above; gradients that are undefined are tested there, too. Of
    four samples two each day, others on other days.
    """
    options = {"fast_mode": True, "check_undefined_grad": False}
    cases = list(islice(checkable(op, dtype), 4))
    for case in [cases[number] for number in some(range(len(cases)), 2)]:
        forward = has_forward_rule(*case[1:])
        check_derivatives(torch.autograd.gradgradcheck, op, *case, check_fwd_over_rev=forward, **options)
