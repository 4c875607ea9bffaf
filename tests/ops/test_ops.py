"""Every op of the table against itself: variants agree, layouts do not matter, derivatives match finite differences."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import mindtorch as torch
from mindtorch.autograd import forward_ad
from mindtorch.autograd.gradcheck import GradcheckError
from tests.harness import (
    arguments_of,
    describe,
    differentiable_arguments,
    dtypes_of,
    function_of,
    inplace_samples,
    model,
    outcome,
    result_difference,
    sampled_ops,
    samples_of,
    specs_in,
    tensors_in,
    variant,
)
from tests.samples import Sample, TensorSpec

OPS = sampled_ops()


def names(ops):
    return [op.name for op in ops]


def usual_dtype(op):
    return "float32" if "float32" in dtypes_of(op) else dtypes_of(op)[-1]


def run(op, sample):
    args, kwargs = arguments_of(torch, list(sample.args)), arguments_of(torch, sample.kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return outcome(function_of(torch, op), args, kwargs), args


def plain(value):
    """The same values in row-major order."""
    if isinstance(value, TensorSpec):
        data = np.broadcast_to(value.data[:1], value.data.shape) if value.layout == "expanded" else value.data
        return replace(value, data=np.array(data), layout="plain")
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {name: plain(item) for name, item in value.items()} if isinstance(value, dict) else value


# What torch refuses, too, among the samples: parts of the texts, of any op and of one.
REFUSALS = ("\" not implemented for '", "Subtraction, the `-` operator, with a bool tensor is not supported")
REFUSALS_OF = {
    "inner": "inner() the last dimension must match on both input tensors",
    "sum_to_size": "is not expandable to size",
    "linspace": "value cannot be converted to type uint8_t without overflow",
    "addr": "2D tensor expected, got 1D tensor for input",
    "binary_cross_entropy_with_logits": "doesn't match the broadcast shape",
}
# Why an input cannot be written in place although the op can be computed.
INPLACE_REFUSALS = (
    *REFUSALS,
    "doesn't match the broadcast shape",
    "can't be cast to the desired output type",
    "operation's result requires dtype",
    "more than one element of the written-to tensor refers to a single memory location",
    "Can't detach views in-place",
    "Bad in-place call",
    "2D tensor expected, got 1D tensor for input",
)


def check_error(op, sample, error, expected):
    """Any other error than those that torch raises is one of the kernel."""
    if error is not None and not (isinstance(error, RuntimeError) and any(text in str(error) for text in expected)):
        raise AssertionError(f"{op.name}({describe(sample)}): {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("op", OPS, ids=names(OPS))
def test_every_dtype_computes(op):
    """The op runs on every dtype that its entry claims, for all samples but those that torch refuses."""
    refusals = (*REFUSALS, REFUSALS_OF[op.name]) if op.name in REFUSALS_OF else REFUSALS
    for dtype in dtypes_of(op):
        ran = [(sample, run(op, sample)[0]) for sample in samples_of(op, dtype)]
        for sample, each in ran:
            check_error(op, sample, each.error, refusals)
            for tensor in tensors_in(torch, each.result):
                assert not isinstance(tensor._array, np.generic), f"{op.name}({describe(sample)}): return an array"
        assert any(
            each.error is None for _, each in ran
        ), f"{op.name} computes nothing in {dtype}: {ran[0][1].error} (`dtypes` in ops.yaml says which dtypes it takes)"


@pytest.mark.parametrize("op", OPS, ids=names(OPS))
def test_layout_does_not_matter(op):
    """Strided, permuted and expanded inputs give the values that row-major ones give."""
    for sample in samples_of(op, usual_dtype(op)):
        if not any(spec.layout != "plain" for spec in specs_in(sample)) or op.name in ("as_strided",):
            continue
        strided, _ = run(op, sample)
        reference, _ = run(op, Sample(tuple(plain(arg) for arg in sample.args), plain(sample.kwargs)))
        if reference.error is None:
            assert strided.error is None, f"{describe(sample)}: {strided.error}"
            text = result_difference(torch, torch, strided.result, reference.result, strides=False)
            assert text is None, f"{describe(sample)}: {text}"


INPLACE = [op for op in OPS if variant(op, "inplace")]


@pytest.mark.parametrize("op", INPLACE, ids=names(INPLACE))
def test_inplace_agrees(op):
    """Where an input can be written, it gets what the functional form returns, and the version is bumped once."""
    form = variant(op, "inplace")
    ran = 0
    for sample, inplace in zip(samples_of(op, usual_dtype(op)), inplace_samples(form, usual_dtype(op)), strict=True):
        written, args = run(form, inplace)
        check_error(form, inplace, written.error, INPLACE_REFUSALS)
        returned, _ = run(op, sample)
        if written.error is not None or returned.error is not None:
            continue
        ran += 1
        assert written.result is args[0]
        before = arguments_of(torch, inplace.args[0])
        assert args[0]._version == 1 or torch.equal(args[0], before), "written to, and the version is the old one"
        expected = [tensor.to(args[0].dtype) for tensor in tensors_in(torch, returned.result)]
        text = result_difference(torch, torch, tensors_in(torch, args[0]), expected, strides=False)
        assert text is None, f"{describe(sample)}: {text}"
    assert ran, f"no sample of {op.name} runs in place"


OUT = [op for op in OPS if variant(op, "out")]


def into_new_memory(tensor):
    """An `out` that has to be resized, and a function of what the call leaves in it."""
    out = torch.empty(0, dtype=tensor.dtype)
    return out, lambda: out


def into_a_view(tensor):
    """An `out` that has the shape, every other element of a tensor, and a function of what that tensor has there."""
    base = torch.ones(*tensor.shape, 2, dtype=tensor.dtype)

    def written():
        assert bool((base[..., 0] == 1).all()), "wrote beside `out`"
        return base[..., 1]

    return base[..., 1], written


# The ops that give an `out` of the right shape other strides, or refuse one with gaps, as they do in torch.
LAID_OUT_ANEW = {"adaptive_avg_pool2d", "nll_loss2d_backward"}


@pytest.mark.parametrize("make_out", [into_new_memory, into_a_view], ids=["empty", "view"])
@pytest.mark.parametrize("op", OUT, ids=names(OUT))
def test_out_agrees(op, make_out):
    """out= gets the functional result, in its own memory if it has the shape, and is what the call returns."""
    if op.name in LAID_OUT_ANEW and make_out is into_a_view:
        return
    form = variant(op, "out")
    for sample in samples_of(op, usual_dtype(op)):
        returned, _ = run(op, sample)
        if returned.error is not None:
            continue
        expected = tensors_in(torch, returned.result)
        outs, written = zip(*map(make_out, expected), strict=True)
        named = dict(zip([argument.name for argument in form.schema.out_arguments], outs, strict=True))
        kwargs = {name: value for name, value in sample.kwargs.items() if name not in ("dtype", "device")}
        given, _ = run(form, Sample(sample.args, {**kwargs, **named}))
        check_error(form, sample, given.error, ())
        assert all(a is b for a, b in zip(tensors_in(torch, given.result), outs, strict=True)), "returns another tensor"
        text = result_difference(torch, torch, [each() for each in written], expected, strides=False)
        assert text is None, f"{form.name}({describe(sample)}): {text}"


META = [op for op in OPS if op.shape not in (None, "dynamic") and not op.factory]


def on_meta(value):
    """The same tensors without data, gaps in memory included, which `to("meta")` would close."""
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(tuple(value.shape), value.stride(), dtype=value.dtype, device="meta")
    return [on_meta(item) for item in value] if isinstance(value, list) else value


def has_mask(args):
    """A list with a boolean index: how many elements it chooses depends on data."""
    return any(t.dtype is torch.bool for each in args if isinstance(each, list) for t in tensors_in(torch, each))


def geometry_of(result):
    return [(t.dtype, t.shape, t.stride()) for t in tensors_in(torch, result) if t.numel()]


@pytest.mark.parametrize("op", META, ids=names(META))
def test_meta_agrees(op):
    """The meta kernel gives the dtype, shape and strides that the CPU kernel gives."""
    for sample in samples_of(op, usual_dtype(op)):
        real, _ = run(op, sample)
        args = arguments_of(torch, list(sample.args))
        if real.error is not None or has_mask(args):
            continue
        kwargs = {name: on_meta(arguments_of(torch, value)) for name, value in sample.kwargs.items()}
        meta = function_of(torch, op)(*on_meta(args), **kwargs)
        assert geometry_of(meta) == geometry_of(real.result), describe(sample)
        assert all(tensor.device.type == "meta" for tensor in tensors_in(torch, meta))


def is_refused(op, dtype):
    """Whether derivatives.yaml says that complex tensors have no gradient, as in torch."""
    derivative = model().derivatives.get(op.name)
    return dtype.startswith("complex") and derivative is not None and derivative.refuses_complex


# They read one triangle of a symmetric matrix; their gradients are symmetric. See tests/unit/test_linalg.py.
SYMMETRIC = {"linalg_cholesky_ex", "linalg_cholesky", "cholesky", "linalg_eigvalsh"}
# Each op that has formulas, or is made of such ops, with the dtypes in which finite differences are exact enough.
DIFFERENTIABLE = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in OPS
    if op.name not in SYMMETRIC
    for dtype in ("float64", "complex128")
    if dtype in dtypes_of(op) and (op.composite or differentiable_arguments(op)) and not is_refused(op, dtype)
]

DOUBLE = (torch.float64, torch.complex128)
FEW_ELEMENTS = 6


def without_overlap(value):
    """Elements in one place of memory cannot change one by one, as finite differences want it."""
    if isinstance(value, TensorSpec):
        return replace(value, layout="plain") if value.layout == "expanded" else value
    return [without_overlap(item) for item in value] if isinstance(value, list) else value


def function_in(op, args, kwargs, inputs):
    """The op as a function of the tensors that have gradients. What is written in place is a copy."""

    def function(*replacements):
        places = {id(old): new for old, new in zip(inputs, replacements, strict=True)}

        def swap(value):
            if isinstance(value, torch.Tensor):
                return places.get(id(value), value)
            return [swap(item) for item in value] if isinstance(value, list) else value

        given = [swap(value) for value in args]
        if op.kind == "inplace":
            given[0] = given[0].clone()
        result = function_of(torch, op)(*given, **{name: swap(value) for name, value in kwargs.items()})
        return tuple(t for t in tensors_in(torch, result) if t.is_floating_point() or t.is_complex())

    return function


def checkable(op, dtype):
    """Samples as (function of the tensors that have gradients, those tensors)."""
    for sample in samples_of(op, dtype):
        args = arguments_of(torch, [without_overlap(arg) for arg in sample.args], True)
        kwargs = arguments_of(torch, sample.kwargs, True)
        inputs = [tensor for tensor in tensors_in(torch, [args, kwargs]) if tensor.requires_grad]
        if not inputs or any(tensor.numel() == 0 or tensor.dtype not in DOUBLE for tensor in inputs):
            continue
        function = function_in(op, args, kwargs, inputs)
        if not any(is_left_out(op, sample) for is_left_out in LEFT_OUT) and is_regular(function, inputs):
            yield sample, function, inputs


def has_forward_rule(op, function, inputs):
    """Whether the op itself has one; of one that is made of others, whether all of those have."""
    derivative = model().derivatives.get(op.name)
    if derivative is not None:
        return all(formula.kind != "not_implemented" for formula in derivative.forward)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(tensor.detach(), torch.ones_like(tensor)) for tensor in inputs]
        try:
            function(*duals)
        except NotImplementedError:
            return False
    return True


def is_regular(function, inputs):
    """Whether all results have gradients, and are double precision and finite in a neighbourhood."""
    found = outcome(function, inputs, {})
    if found.error is not None or not all(each.requires_grad and each.dtype in DOUBLE for each in found.result):
        return False
    steps = ([tensor.detach() + step for tensor in inputs] for step in (-1e-6, 0, 1e-6))
    return all(bool(result.isfinite().all()) for moved in steps for result in function(*moved))


# What has no gradient by definition.
LEFT_OUT = (
    lambda op, sample: op.name == "embedding" and len(sample.args) > 2,  # the row of the padding gets none
    lambda op, sample: (  # a source larger than the index: an error in torch, too
        op.name in ("scatter.src", "scatter_add") and sample.args[2].data.shape != sample.args[3].data.shape
    ),
)


def check_derivatives(check, op, sample, function, inputs, **options):
    """Compare, and say of a failure which call it is and where the formulas are. Large inputs only along a line."""
    fast_mode = any(tensor.is_complex() for tensor in inputs) or sum(map(torch.numel, inputs)) > FEW_ELEMENTS
    error = outcome(check, (function, inputs), {"nondet_tol": 1e-10, "fast_mode": fast_mode, **options}).error
    if error is None:
        return
    text = f"{op.name}({describe(sample)}): {error}\n{formulas_text(op)}"
    if isinstance(error, GradcheckError):
        pytest.fail(text, pytrace=False)
    raise AssertionError(text) from error


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
    for case in checkable(op, dtype):
        check_derivatives(torch.autograd.gradcheck, op, *case, check_forward_ad=has_forward_rule(op, *case[1:]))


@pytest.mark.parametrize("op, dtype", DIFFERENTIABLE)
def test_second_gradient_matches_finite_differences(op, dtype):
    """Second derivatives, backward and forward mode over backward, against finite differences of the first."""
    for case in list(checkable(op, dtype))[:4]:
        check_derivatives(torch.autograd.gradgradcheck, op, *case, check_fwd_over_rev=has_forward_rule(op, *case[1:]))
