"""Every op of the table against itself: variants agree, layouts do not matter, meta tensors have the same geometry."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import mindtorch as torch
from mindtorch.dispatch.modes import debug
from mindtorch.dispatch.registry import KernelTable
from tests.harness import (
    REFUSALS,
    arguments_of,
    describe,
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
    without_dtype,
)
from tests.samples import Sample, TensorSpec

OPS = sampled_ops()


@pytest.fixture
def watched_kernels(monkeypatch):
    """A kernel that leaves its `out` alone is named, with what to do about it."""
    monkeypatch.setattr(KernelTable, "__getitem__", debug.watched)


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
    if sample.refusal:
        expected = (*expected, sample.refusal)
    if error is not None and not (isinstance(error, RuntimeError) and any(text in str(error) for text in expected)):
        raise AssertionError(f"{op.name}({describe(sample)}): {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("op", OPS, ids=names(OPS))
def test_every_dtype_computes(op):
    """The op runs on every dtype that its entry claims, for all samples but those that torch refuses."""
    for dtype in dtypes_of(op):
        ran = [(sample, run(op, sample)[0]) for sample in samples_of(op, dtype)]
        for sample, each in ran:
            check_error(op, sample, each.error, REFUSALS)
            assert each.error is not None or not sample.refusal, f"{describe(sample)}: torch raises {sample.refusal!r}"
            for tensor in tensors_in(torch, each.result):
                assert not isinstance(tensor._mt_array, np.generic), f"{op.name}({describe(sample)}): return an array"
        assert any(
            each.error is None for _, each in ran
        ), f"{op.name} computes nothing in {dtype}: {ran[0][1].error} (`dtypes` in ops.yaml says which dtypes it takes)"


@pytest.mark.parametrize("op", OPS, ids=names(OPS))
def test_layout_does_not_matter(op):
    """Strided, permuted and expanded inputs give the values that row-major ones give."""
    for sample in samples_of(op, usual_dtype(op)):
        if not any(spec.layout != "plain" for spec in specs_in(sample)):
            continue
        strided, _ = run(op, sample)
        reference, _ = run(op, Sample(tuple(plain(arg) for arg in sample.args), plain(sample.kwargs)))
        if reference.error is None:
            assert strided.error is None, f"{describe(sample)}: {strided.error}"
            text = result_difference(torch, torch, strided.result, reference.result, strides=False)
            assert text is None, f"{describe(sample)}: {text}"


INPLACE = [op for op in OPS if variant(op, "inplace")]


@pytest.mark.usefixtures("watched_kernels")
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
    out = base[..., 1]
    strides = out.stride()

    def written():
        if out.stride() != strides:
            return out  # laid out anew, which only the comparison with torch can judge
        assert bool((base[..., 0] == 1).all()), "wrote beside `out`"
        return base[..., 1]

    return out, written


# Why an `out` with gaps in memory is refused.
OUT_REFUSALS = ("must be contiguous",)


@pytest.mark.usefixtures("watched_kernels")
@pytest.mark.parametrize("make_out", [into_new_memory, into_a_view], ids=["empty", "view"])
@pytest.mark.parametrize("op", OUT, ids=names(OUT))
def test_out_agrees(op, make_out):
    """out= gets the functional result, in its own memory if it has the shape, and is what the call returns."""
    form = variant(op, "out")
    for sample in samples_of(op, usual_dtype(op)):
        returned, _ = run(op, sample)
        if returned.error is not None:
            continue
        expected = tensors_in(torch, returned.result)
        outs, written = zip(*map(make_out, expected), strict=True)
        named = dict(zip([argument.name for argument in form.schema.out_arguments], outs, strict=True))
        given, _ = run(form, Sample(sample.args, {**without_dtype(form, sample.kwargs), **named}))
        check_error(form, sample, given.error, OUT_REFUSALS if make_out is into_a_view else ())
        if given.error is not None:
            continue
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
