"""Generated NPU kernels beside the CPU's: what they give to ACLNN is what it takes, and results are alike."""

import sys
import warnings
from itertools import islice

import numpy as np
import pytest

import mindtorch as torch
from codegen.npu.kernels import ways
from mindtorch._generated.npu_kernels import MODULES
from mindtorch.backends.meta.array import MetaArray
from mindtorch.dispatch.registry import all_ops, kernel_table
from tests.codegen import npu_double
from tests.codegen.npu_double import Observed
from tests.harness import (
    arguments_of,
    dtypes_of,
    function_of,
    inplace_samples,
    model,
    outcome,
    samples_of,
    tensors_in,
    variant,
)
from tests.samples import Sample, TensorSpec

_MOST_SAMPLES = 8
_RUNTIME = "mindtorch.backends.npu.launch"
PLACES = {op: (module, name) for module, kernels in MODULES.items() for op, name in kernels.items()}
OPS = [model().ops[name] for name, way in ways(model()).items() if way == "generated"]


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The double in the place of the runtime; what was imported with it is forgotten again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, _RUNTIME, npu_double)
        for module in MODULES:
            patch.delitem(sys.modules, module, raising=False)
        yield
        for module in MODULES:
            sys.modules.pop(module, None)


def _tensor(*shape, dtype="float32"):
    return TensorSpec(np.full(shape, 0.5).astype(dtype), dtype)


# Calls of ops without samples, which other tests cover.
CALLS = {
    "uniform_": [(_tensor(2, 3), 1, 2.5), (_tensor(),)],
    "normal_": [(_tensor(2, 3), 1.0, 2.0), (_tensor(0),)],
    "bernoulli_.float": [(_tensor(2, 3), 0.25), (_tensor(4, dtype="int64"),)],
    "bernoulli_.Tensor": [(_tensor(2, 3), _tensor(3))],
    "bernoulli": [(_tensor(2, 3),)],
    "random_": [(_tensor(2, 3),), (_tensor(2, dtype="int64"),)],
    "random_.to": [(_tensor(2, 3), 5)],
    "fake_quantize_per_channel_affine_cachemask": [
        (_tensor(2, 3), _tensor(3), _tensor(3, dtype="int32"), 1, 0, 255),
    ],
}
# Where the shape rule and the CPU's kernel disagree about strides: the kernel is right, its result is always row-major.
OTHER_STRIDES = {"mse_loss_backward"}


def samples(op, dtype):
    if op.samples is None:
        return [Sample(args) for args in CALLS[op.name]]
    return list(islice(samples_of(op, dtype), _MOST_SAMPLES))


def dtypes(op):
    """A dtype of floating point numbers, and one of integers, as far as the op takes them."""
    taken = [name for name in ("float32", "int64") if name in dtypes_of(op)]
    return taken or [dtypes_of(op)[0]]


def forms(op):
    """The op itself, its in-place form, and its `out=` form, each with its samples."""
    for dtype in dtypes(op):
        yield op, samples(op, dtype)
        inplace, out = variant(op, "inplace"), variant(op, "out")
        if inplace:
            yield inplace, list(islice(inplace_samples(inplace, dtype), _MOST_SAMPLES))
        if out and not out.is_copied_out:
            yield out, samples(op, dtype)


def run(form, op, sample):
    args, kwargs = arguments_of(torch, [list(sample.args), sample.kwargs])
    if form.kind == "out":
        given = outcome(function_of(torch, op), args, kwargs)
        outs = [torch.empty_like(each) for each in tensors_in(torch, given.result)]
        options = ("dtype", "layout", "device", "pin_memory")
        kwargs = {name: value for name, value in kwargs.items() if form.schema.argument(name) or name not in options}
        names = [argument.name for argument in form.schema.out_arguments]
        kwargs |= dict(zip(names, outs))
        if len(names) != len(outs):
            return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        outcome(function_of(torch, form), args, kwargs)


def differences(op, keep_numbers=False):
    with Observed(op.name, *PLACES[op.name], keep_numbers) as observed:
        for form, given in forms(op):
            for sample in given:
                run(form, op, sample)
    assert observed.calls
    about_strides = op.name in OTHER_STRIDES
    return [text for text in observed.differences if not (about_strides and ": strides " in text)]


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_kernels_agree(op):
    """In every form of the op, ACLNN gets what it takes, and results are of the kind that the CPU gives."""
    assert differences(op) == []


MIXED = [op for op in OPS if op.shape == "broadcast" and len(op.schema.tensor_arguments) > 1]


@pytest.mark.parametrize("op", MIXED, ids=[op.name for op in MIXED])
def test_numbers_on_the_cpu_go_with_arrays_on_the_device(op):
    """0-dim tensors of the CPU, and Python numbers."""
    assert differences(op, keep_numbers=True) == []


def test_all_ops_that_have_no_samples_have_calls():
    assert {op.name for op in OPS if op.samples is None} == CALLS.keys()


def test_views_are_those_that_serve_all_devices():
    kernels = {entry.name: kernel_table(entry.name).get(MetaArray) for entry in all_ops()}
    expected = {name for name, kernel in kernels.items() if getattr(kernel, "serves_all_devices", False)}
    assert {name for name, way in ways(model()).items() if way == "view"} == expected
