"""Every op of the table against itself: variants agree, layouts do not matter, derivatives match finite differences."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import mindtorch as torch
from tests.harness import (
    arguments_of,
    describe,
    differentiable_arguments,
    dtypes_of,
    function_of,
    inplace_samples,
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


@pytest.mark.parametrize("op", OPS, ids=names(OPS))
def test_every_dtype_computes(op):
    """The op runs on every dtype that its entry claims."""
    for dtype in dtypes_of(op):
        ran = [run(op, sample)[0].error for sample in samples_of(op, dtype)]
        assert None in ran, f"{op.name} on {dtype}: {ran[0]}"


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
    """Where the in-place variant runs, it writes what the functional form returns, and bumps the version once."""
    form = variant(op, "inplace")
    ran = 0
    for sample, inplace in zip(samples_of(op, usual_dtype(op)), inplace_samples(form, usual_dtype(op)), strict=True):
        written, args = run(form, inplace)
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


@pytest.mark.parametrize("op", OUT, ids=names(OUT))
def test_out_agrees(op):
    """out= gets the functional result, and is what the call returns."""
    form = variant(op, "out")
    for sample in samples_of(op, usual_dtype(op)):
        returned, _ = run(op, sample)
        if returned.error is not None:
            continue
        outs = [torch.empty(0, dtype=tensor.dtype) for tensor in tensors_in(torch, returned.result)]
        named = dict(zip([argument.name for argument in form.schema.out_arguments], outs, strict=True))
        kwargs = {name: value for name, value in sample.kwargs.items() if name not in ("dtype", "device")}
        written, _ = run(form, Sample(sample.args, {**kwargs, **named}))
        if "dtype" in sample.kwargs and written.error is not None:
            continue
        assert written.error is None, f"{describe(sample)}: {written.error}"
        assert all(a is b for a, b in zip(tensors_in(torch, written.result), outs, strict=True))
        text = result_difference(torch, torch, outs, tensors_in(torch, returned.result), strides=False)
        assert text is None, f"{describe(sample)}: {text}"


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


DIFFERENTIABLE = [op for op in OPS if differentiable_arguments(op) and op.dtypes != "integral"]


DOUBLE = (torch.float64, torch.complex128)


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


def checkable(op):
    """Samples in double precision as (function of the tensors that have gradients, those tensors)."""
    for sample in samples_of(op, "float64" if "float64" in dtypes_of(op) else "complex128"):
        args = arguments_of(torch, [without_overlap(arg) for arg in sample.args], True)
        kwargs = arguments_of(torch, sample.kwargs, True)
        inputs = [tensor for tensor in tensors_in(torch, [args, kwargs]) if tensor.requires_grad]
        if not inputs or any(tensor.numel() == 0 or tensor.dtype not in DOUBLE for tensor in inputs):
            continue
        function = function_in(op, args, kwargs, inputs)
        if not any(is_left_out(op, sample) for is_left_out in LEFT_OUT) and is_regular(function, inputs):
            yield sample, function, inputs


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


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=names(DIFFERENTIABLE))
def test_gradient_matches_finite_differences(op):
    """First derivatives, backward and forward mode, against finite differences."""
    for sample, function, inputs in checkable(op):
        assert torch.autograd.gradcheck(function, inputs, nondet_tol=1e-10, check_forward_ad=True), describe(sample)


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=names(DIFFERENTIABLE))
def test_second_gradient_matches_finite_differences(op):
    """Second derivatives against finite differences of the first."""
    for sample, function, inputs in list(checkable(op))[:4]:
        assert torch.autograd.gradgradcheck(function, inputs, nondet_tol=1e-10), describe(sample)
