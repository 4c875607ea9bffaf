"""Every op of the table against torch: values, dtypes, shapes, strides, views, variants, errors, derivatives."""

import warnings
from dataclasses import replace
from functools import partial

import pytest
import torch

import mindtorch
from codegen.keys import LAYERS
from tests.harness import (
    arguments_of,
    describe,
    determined,
    difference,
    domains_of,
    dtypes_of,
    error_difference,
    function_in,
    function_of,
    inplace_samples,
    model,
    outcome,
    result_difference,
    samples_of,
    specs_in,
    tensors_in,
    variant,
    without_dtype,
    without_overlap,
)
from tests.parity.support.peer import torch_ops

OPS = torch_ops()
FLOATING = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
SUMS_OF_PRODUCTS = (*LAYERS, "linalg")  # families of which many results are long ones, whose terms may cancel
EVERY_DTYPE = (*FLOATING, "bool", "uint8", "int8", "int16", "int32", "int64")


def names(ops):
    return [op.name for op in ops]


def both(op, sample, **options):
    """The outcomes of one call in both libraries, with fresh arguments in each."""
    outcomes = []
    for T in (mindtorch, torch):
        args = arguments_of(T, list(sample.args), **options)
        kwargs = arguments_of(T, sample.kwargs, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = outcome(function_of(T, op), args, kwargs)
        found.result = determined(sample, found.result)
        outcomes.append((found, args, kwargs))
    return outcomes


def outcome_difference(actual, expected, **options):
    if "complex32" in {str(tensor.dtype)[6:] for tensor in tensors_in(torch, expected.result)}:
        return None  # a dtype that mindtorch does not have
    if actual.error is not None or expected.error is not None:
        return error_difference(actual.error, expected.error)
    return result_difference(mindtorch, torch, actual.result, expected.result, **options)


def report(op, problems):
    assert not problems, f"{op.name}: {len(problems)} differences\n" + "\n".join(problems[:8])


# Where rounding is coarse, so is what torch's cubics give, which are rounded at every step.
TOO_COARSE = {("grid_sampler_2d_backward", "bfloat16")}


def is_compared(op, dtype):
    """What an op says of a dtype that it does not take matters if programs call it: those that they can name."""
    if (op.name, dtype) in TOO_COARSE:
        return False
    return dtype in dtypes_of(op) or not op.schema.name.startswith("_")


def compared_samples(op, dtypes):
    for dtype in dtypes:
        if is_compared(op, dtype):
            yield from samples_of(op, dtype)


# Some dtypes in a test: with one in each, pytest and its workers take as long to report as the tests themselves.
@pytest.mark.parametrize("op", OPS, ids=names(OPS))
def test_forward(op):
    """Value, dtype, shape, strides, whether the result is a view; for dtypes the op does not have, the error."""
    problems = []
    for sample in compared_samples(op, EVERY_DTYPE):
        (actual, *_), (expected, *_) = both(op, sample)
        text = outcome_difference(actual, expected, cancels=op.family in SUMS_OF_PRODUCTS)
        if actual.error is None:
            text = text or view_difference(actual.result, expected.result)
        if text:
            problems.append(f"  ({describe(sample)}): {text}")
    report(op, problems)


def view_difference(actual, expected):
    for left, right in zip(tensors_in(mindtorch, actual), tensors_in(torch, expected), strict=True):
        if left._is_view() != right._is_view() and not right.is_conj():  # mindtorch conjugates at once
            return f"_is_view() {left._is_view()}, expected {right._is_view()}"


INPLACE = [op for op in OPS if variant(op, "inplace")]


@pytest.mark.parametrize("op", INPLACE, ids=names(INPLACE))
def test_inplace(op):
    """The in-place variant: the written tensor, the returned object, the version counter, the error."""
    op = variant(op, "inplace")
    problems = []
    dtypes = ("float32", "float64", "int64", "bool", "complex64", "bfloat16", "uint8")
    for sample in (each for dtype in dtypes for each in inplace_samples(op, dtype)):
        if isinstance(sample.args[0], (int, float)):
            continue
        (actual, args, _), (expected, peer_args, _) = both(op, sample)
        text = outcome_difference(actual, expected)
        if text is None and actual.error is None:
            text = difference(args[0], peer_args[0])
            if text is None and actual.result is not args[0]:
                text = "does not return its first argument"
            if text is None and args[0]._version != peer_args[0]._version:
                text = f"_version {args[0]._version}, expected {peer_args[0]._version}"
        if text:
            problems.append(f"  ({describe(sample)}): {text}")
    report(op, problems)


OUT = [op for op in OPS if (found := variant(op, "out")) and len(found.schema.out_arguments) == 1]


@pytest.mark.parametrize("op", OUT, ids=names(OUT))
def test_out(op):
    """out= with an empty tensor (resized), one of the right shape but transposed strides, and one of another dtype."""
    form = variant(op, "out")
    name = form.schema.out_arguments[0].name
    problems = []
    for sample in compared_samples(op, ("float32", "int64", "complex64", "bool")):
        sample = replace(sample, kwargs=without_dtype(form, sample.kwargs))
        for kind in ("laid out",) if op.schema.name.startswith("_") else ("empty", "float64", "laid out"):
            results = []
            for T in (mindtorch, torch):
                args, kwargs = arguments_of(T, list(sample.args)), arguments_of(T, sample.kwargs)
                kwargs[name] = out_tensor(T, op, kind, args, kwargs)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    results.append(outcome(function_of(T, form), args, kwargs))
            if (op.name, kind) in TORCH_BUGS and results[0].error is None:
                continue
            loose = 1e4 if kind == "float64" else 1.0  # computed in the inputs' dtype, then widened
            if text := outcome_difference(*results, tolerance=loose):
                problems.append(f"  ({describe(sample)}) into {kind}: {text}")
    report(op, problems)


# Where torch's own out= is wrong: it leaves `out` unwritten, or fills a strided one in the order of memory.
TORCH_BUGS = {
    ("gelu", "laid out"),
    ("adaptive_avg_pool3d", "laid out"),
    ("avg_pool3d", "laid out"),
    ("narrow_copy", "laid out"),
    ("gelu_backward", "float64"),  # an internal error of its oneDNN kernel
    ("ldexp.Tensor", "float64"),  # an internal error
    ("_softmax", "laid out"),
    ("_softmax_backward_data", "laid out"),
    ("_log_softmax", "laid out"),
    ("_log_softmax_backward_data", "laid out"),
    ("matmul", "laid out"),
    ("linear", "laid out"),
    ("linalg_matmul", "laid out"),
    ("binary_cross_entropy", "empty"),
    ("binary_cross_entropy", "laid out"),
    ("binary_cross_entropy_backward", "empty"),
    ("fft_ihfftn", "laid out"),
    ("fft_ihfft2", "laid out"),
}


def out_tensor(T, op, kind, args, kwargs):
    if kind == "empty":
        return T.empty(0)
    if kind == "float64":
        return T.empty(0, dtype=T.float64)
    found = outcome(function_of(T, op), args, kwargs)
    shape = tuple(found.result.shape) if found.error is None else (2,)
    dtype = found.result.dtype if found.error is None else T.float32
    return T.zeros(tuple(reversed(shape)), dtype=dtype).permute(tuple(reversed(range(len(shape)))))


DIFFERENTIABLE = [op for op in OPS if op.dtypes not in ("integral", "number_integral") and not op.factory]


# Derivatives that are wrong in torch; test_wrong_in_torch shows it by finite differences. They are not compared: those
# of mindtorch agree with finite differences in tests/ops.
WRONG_IN_TORCH = {
    "as_strided_scatter": ("first",),  # it lets the input's gradient through just where that was replaced
    "native_batch_norm_backward": ("second",),  # its formula takes the mean and the deviation for constants
    "native_layer_norm_backward": ("second",),
    "triangular_solve": ("forward mode",),  # the ones on the diagonal have tangents; a matrix for a batch is an error
    "cholesky_inverse": ("forward mode",),
}
TORCH_CHECKS = {
    "first": torch.autograd.gradcheck,
    "second": torch.autograd.gradgradcheck,
    "forward mode": partial(torch.autograd.gradcheck, check_forward_ad=True, check_backward_ad=False),
}


def check_in_torch(op, sample, what):
    """True if the derivative passes torch's own check."""
    args = arguments_of(torch, [without_overlap(arg) for arg in sample.args], True)
    kwargs = arguments_of(torch, sample.kwargs, True)
    inputs = [tensor for tensor in tensors_in(torch, [args, kwargs]) if tensor.requires_grad]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return outcome(TORCH_CHECKS[what], (function_in(torch, op, sample, args, kwargs, inputs), inputs), {}).result


@pytest.mark.parametrize("what", TORCH_CHECKS)
@pytest.mark.parametrize("name", WRONG_IN_TORCH)
def test_wrong_in_torch(name, what):
    """What is listed as wrong is wrong still, for a sample at least."""
    if what in WRONG_IN_TORCH[name]:
        op = model().ops[name]
        assert not all(check_in_torch(op, sample, what) for sample in samples_of(op, "float64"))


def knows_more(actual, expected):
    """Whether torch has no such derivative, and mindtorch has: the finite differences of tests/ops judge that one."""
    return actual.error is None and expected.error is not None


def weights_like(T, tensor, seed):
    """Fixed numbers in the shape of a result, so that its gradient is not symmetric."""
    count = tensor.numel()
    ramp = (T.arange(count, dtype=T.float64) * 0.37 + seed).sin()
    return ramp.to(tensor.dtype).reshape(tensor.shape)


def in_domains(T, sample, value):
    """The arguments as the op takes them: the parts of matrices that it does not read are as they have to be."""
    domains = domains_of(sample, tensors_in(T, value))

    def change(value):
        if isinstance(value, T.Tensor):
            return domains[id(value)](value)
        if isinstance(value, dict):
            return {name: change(each) for name, each in value.items()}
        return [change(each) for each in value] if isinstance(value, list) else value

    return change(value)


def gradients(T, op, sample, order):
    """First (or first and second) derivatives of a weighted sum of the results, with respect to every float input."""
    args, kwargs = arguments_of(T, list(sample.args), True), arguments_of(T, sample.kwargs, True)
    inputs = [tensor for tensor in tensors_in(T, [args, kwargs]) if tensor.requires_grad]
    given = in_domains(T, sample, [args, kwargs])
    found = determined(sample, function_of(T, op)(*given[0], **given[1]))
    results = [tensor for tensor in tensors_in(T, found) if tensor.requires_grad]
    if not results or not inputs:
        return [tensor.grad_fn is not None for tensor in results]
    weights = [weights_like(T, tensor, 1) for tensor in results]
    options = {"allow_unused": True, "create_graph": order > 1}
    first = T.autograd.grad(results, inputs, weights, **options)
    if order == 1:
        # What a composite is made of is its own affair; every op with a derivative of its own has torch's node.
        is_made_of_others = op.is_composite and op.name not in model().derivatives
        nodes = [] if is_made_of_others else [tensor.grad_fn.name() for tensor in results]
        return nodes + list(first)
    again = [tensor for tensor in first if tensor is not None and tensor.requires_grad]
    if not again:
        return []
    return list(T.autograd.grad(again, inputs, [weights_like(T, t, 2) for t in again], allow_unused=True))


def compared_derivatives(what, *dtypes):
    """Parameters of a test: the ops with this derivative, and the dtypes."""
    return [
        pytest.param(op, dtype, id=f"{op.name}-{dtype}")
        for op in DIFFERENTIABLE
        for dtype in dtypes
        if dtype in dtypes_of(op) and what not in WRONG_IN_TORCH.get(op.name, ())
    ]


@pytest.mark.parametrize("op, dtype", compared_derivatives("first", "float64", "complex128", "float32"))
def test_gradient(op, dtype):
    """Gradients, and the names of the nodes."""
    check_gradients(op, dtype, 1)


@pytest.mark.parametrize("op, dtype", compared_derivatives("second", "float64", "complex128"))
def test_second_gradient(op, dtype):
    check_gradients(op, dtype, 2)


def check_gradients(op, dtype, order):
    problems = []
    for sample in samples_of(op, dtype):
        results = [outcome(gradients, (T, op, sample, order), {}) for T in (mindtorch, torch)]
        if knows_more(*results):
            continue
        if text := outcome_difference(*results, tolerance=10, strides=False):
            problems.append(f"  ({describe(sample)}): {text}")
    report(op, problems)


def tangents(T, op, sample):
    """The results' tangents for fixed tangents of every float input that is to have one."""
    forward_ad = T.autograd.forward_ad
    args, kwargs = arguments_of(T, list(sample.args), True), arguments_of(T, sample.kwargs, True)
    domains = domains_of(sample, tensors_in(T, [args, kwargs]))
    with forward_ad.dual_level():

        def dual(value):
            if isinstance(value, T.Tensor) and value.requires_grad:
                return domains[id(value)](forward_ad.make_dual(value.detach(), weights_like(T, value.detach(), 3)))
            return [dual(item) for item in value] if isinstance(value, list) else value

        results = function_of(T, op)(*[dual(value) for value in args], **{k: dual(v) for k, v in kwargs.items()})
        results = determined(sample, results)
        return [forward_ad.unpack_dual(tensor).tangent for tensor in tensors_in(T, results)]


@pytest.mark.parametrize("op, dtype", compared_derivatives("forward mode", "float64", "complex128"))
def test_forward_mode(op, dtype):
    """Forward-mode tangents."""
    problems = []
    for sample in samples_of(op, dtype):
        if any(spec.layout == "expanded" for spec in specs_in(sample)):
            continue  # torch cannot give such a tensor a tangent
        results = [outcome(tangents, (T, op, sample), {}) for T in (mindtorch, torch)]
        if knows_more(*results):
            continue
        if text := outcome_difference(*results, tolerance=10, strides=False):
            problems.append(f"  ({describe(sample)}): {text}")
    report(op, problems)


def on_meta(T, value):
    """The same tensors without data, gaps in memory included, which `to("meta")` would close."""
    if isinstance(value, T.Tensor):
        return T.empty_strided(tuple(value.shape), value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, list):
        return [on_meta(T, item) for item in value]
    return {k: on_meta(T, v) for k, v in value.items()} if isinstance(value, dict) else value


def geometry_of(T, result):
    return [(str(t.dtype), tuple(t.shape), tuple(t.stride())) for t in tensors_in(T, result) if t.numel()]


META = [op for op in OPS if op.shape not in (None, "dynamic") and not op.factory]


@pytest.mark.parametrize("op", META, ids=names(META))
def test_meta(op):
    """On the meta device: what torch's CPU gives, whose own meta device has strides of its own for some ops."""
    problems = []
    dtype = "float32" if "float32" in dtypes_of(op) else dtypes_of(op)[-1]
    for sample in samples_of(op, dtype):
        _, (expected, *_) = both(op, sample)
        args, kwargs = (arguments_of(mindtorch, each) for each in (list(sample.args), sample.kwargs))
        if expected.error is not None or has_mask(args):
            continue
        found = outcome(function_of(mindtorch, op), on_meta(mindtorch, args), on_meta(mindtorch, kwargs))
        found.result = determined(sample, found.result)
        if found.error is not None:
            problems.append(f"  ({describe(sample)}): {found}")
            continue
        left, right = geometry_of(mindtorch, found.result), geometry_of(torch, expected.result)
        if left != right:
            problems.append(f"  ({describe(sample)}): {left}, expected {right}")
        if any(tensor.device.type != "meta" for tensor in tensors_in(mindtorch, found.result)):
            problems.append(f"  ({describe(sample)}): not on meta")
    report(op, problems)


def has_mask(args):
    """A list with a boolean index: how many elements it chooses depends on data."""
    lists = (each for each in args if isinstance(each, list))
    return any(tensor.dtype is mindtorch.bool for each in lists for tensor in tensors_in(mindtorch, each))
