"""Every op of the table inside `vmap`, and its gradients of all samples: where results lie in memory, and their values.

For each op the sample with the most dimensions, its tensors stacked along the first dimension, along the last one, and
along the first of a tensor that lies in memory the other way round.
"""

import warnings

import numpy as np
import pytest
import torch

import mindtorch
from tests.harness import (
    arguments_of,
    determined,
    dtypes_of,
    function_of,
    outcome,
    samples_of,
    specs_in,
    tensor_of,
    tensors_in,
    to_numpy,
    value_difference,
)
from tests.parity.support.known import FREE, TORCH, Cause, Known, Table
from tests.parity.support.peer import torch_ops
from tests.samples import TensorSpec

COUNT = 3  # samples
OPS = [op for op in torch_ops() if not op.factory]

# Where the samples are, and whether memory has the dimensions in reverse order.
PLACES = {"first": (0, False), "last": (-1, False), "reversed": (0, True)}

# -------------------- torch is wrong: `test_torch_is_wrong` has the proof --------------------

GROUPS_OF_SAMPLES = Cause(
    TORCH,
    "with samples as groups, the padded convolution of three dimensions gives other sums than those of each sample on "
    "its own: off by 6.3.",
)
STRIDES_OF_BAGS = Cause(
    TORCH,
    "the kernel takes indices and offsets with gaps for such without: it sums other rows, in other bags. Outside of "
    "vmap it does so, too.",
)
STRIDES_OF_KEYS = Cause(
    TORCH,
    "the kernel takes the last dimension of queries, keys and values for one without gaps, and reads between the "
    "samples: results of a sample are off by as much as they are large.",
)
STRIDES_OF_KEYS_IN_GRADIENTS = Cause(
    TORCH,
    "the gradient's kernel takes the last dimension of queries, keys, values and results for one without gaps, and is "
    "off by more than the gradients are large. Outside of vmap it is, too.",
)
STRIDES_OF_PLANES = Cause(
    TORCH,
    "the kernel takes indices with gaps for such without: gradients go to other places of the plane.",
)
STRIDES_OF_VOLUMES = Cause(
    TORCH,
    "the kernel takes indices with gaps for such without: gradients go to other places of the volume.",
)

# -------------------- either is right: the values agree --------------------

TURNED_CONVOLUTION = Cause(
    FREE,
    "the second derivative with respect to the gradient's weights: torch joins the groups of a turned convolution and "
    "turns them back, so what comes is a transposed view; here it is a new tensor.",
)
ORDER_OF_TERMS_OF_BATCHES = Cause(
    FREE,
    "the second derivative of batch normalization is a sum of products: the first of them decides how it lies in "
    "memory, and torch adds them in another order.",
)
ORDER_OF_TERMS_OF_LAYERS = Cause(
    FREE,
    "the second derivative of layer normalization is a sum of products of rows: the first of them decides how it lies "
    "in memory, and torch takes it from other operands.",
)
ONE_DNN = Cause(
    FREE,
    "torch runs oneDNN's layer for one sample after the other and stacks the gradients of the weights; here they are "
    "those of the products that the layer is made of, which are transposed.",
)
SOLUTIONS_OF_SAMPLES = Cause(
    FREE,
    "torch solves the systems of all samples at once, and the solutions lie column by column; here each sample is "
    "solved by itself, and the solutions are stacked in rows.",
)

TABLE = Table(
    Known("_embedding_bag", "results last, results reversed", STRIDES_OF_BAGS),
    Known("_embedding_bag_forward_only", "results last, results reversed", STRIDES_OF_BAGS),
    Known(
        "_scaled_dot_product_flash_attention_for_cpu",
        "results last, results reversed, gradients last",
        STRIDES_OF_KEYS,
    ),
    Known(
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "results last, results reversed",
        STRIDES_OF_KEYS_IN_GRADIENTS,
    ),
    Known("conv3d.padding", "results last, results reversed", GROUPS_OF_SAMPLES),
    Known("convolution_backward", "gradients first, gradients last", TURNED_CONVOLUTION),
    Known("fractional_max_pool2d_backward", "results last, results reversed", STRIDES_OF_PLANES),
    Known("fractional_max_pool3d_backward", "results last, results reversed", STRIDES_OF_VOLUMES),
    Known("linalg_lu_solve", "results last, results reversed, gradients first, gradients last", SOLUTIONS_OF_SAMPLES),
    Known("lstm.input", "gradients last", ONE_DNN),
    Known("native_batch_norm_backward", "gradients first, gradients last", ORDER_OF_TERMS_OF_BATCHES),
    Known("native_layer_norm_backward", "gradients last", ORDER_OF_TERMS_OF_LAYERS),
)
WRONG = [(entry.operator, check) for entry in TABLE.entries if entry.cause.fault == TORCH for check in entry.checks()]


def sample_of(op):
    """The sample with the most dimensions among the first few, if one can be stacked."""
    dtypes = dtypes_of(op)
    dtype = next((each for each in ("float32", "float64") if each in dtypes), dtypes[-1])
    found = [each for each in list(samples_of(op, dtype))[:4] if not each.refusal and specs_in(each)]
    return max(found, key=lambda each: max(spec.data.ndim for spec in specs_in(each)), default=None)


def stacked(T, spec, place):
    """A tensor with samples that differ a little, so that matrices stay what the op takes them for."""
    dim, is_reversed = PLACES[place]
    exact = not spec.dtype.startswith(("float", "complex"))
    data = np.stack([spec.data if exact else spec.data * (1 - number / 64) for number in range(COUNT)], dim)
    order = tuple(reversed(range(data.ndim))) if is_reversed else tuple(range(data.ndim))
    memory = TensorSpec(data.transpose(order), spec.dtype)
    return tensor_of(T, memory).permute(order)


def call_of(T, op, sample):
    """The op as a function of all tensors of a sample."""

    def call(*tensors):
        given = iter(tensors)

        def visit(value):
            if isinstance(value, TensorSpec):
                return next(given)
            return [visit(each) for each in value] if isinstance(value, list) else arguments_of(T, value)

        args = [visit(value) for value in sample.args]
        found = function_of(T, op)(*args, **{name: visit(value) for name, value in sample.kwargs.items()})
        return tuple(tensors_in(T, determined(sample, found)))

    return call


def results(T, op, sample, place):
    specs = specs_in(sample)
    in_dims = PLACES[place][0]
    return T.vmap(call_of(T, op, sample), in_dims=in_dims)(*[stacked(T, spec, place) for spec in specs])


def gradient_of(T, op, sample):
    """The gradients of a weighted sum of the results, as a function of the weight and of all tensors of a sample."""
    specs, call = specs_in(sample), call_of(T, op, sample)
    wanted = [number for number, spec in enumerate(specs) if spec.differentiable and spec.dtype.startswith("float")]

    def gradient(scale, *tensors):
        def of_wanted(*chosen):
            given = list(tensors)
            for number, tensor in zip(wanted, chosen, strict=True):
                given[number] = tensor
            return tuple([each for each in call(*given) if each.is_floating_point()])

        outputs, products = T.func.vjp(of_wanted, *[tensors[number] for number in wanted])
        return products(tuple([T.ones_like(each) * scale for each in outputs]))

    return gradient if wanted else None


def gradients(T, op, sample, place):
    """With other weights for each sample."""
    if (gradient := gradient_of(T, op, sample)) is None:
        return ()
    given = [stacked(T, spec, place) for spec in specs_in(sample)]
    in_dims = (0, *[PLACES[place][0]] * len(given))
    return T.vmap(gradient, in_dims=in_dims)(T.arange(1.0, 1 + COUNT), *given)


def looped(what, op, place):
    """The same in torch, of one sample after the other, each with memory of its own."""
    sample = sample_of(op)
    given = [stacked(torch, spec, place).movedim(PLACES[place][0], 0) for spec in specs_in(sample)]
    results_of_samples = []
    for number in range(COUNT):
        tensors = [each[number].clone(memory_format=torch.contiguous_format) for each in given]
        if what is results:
            results_of_samples.append(call_of(torch, op, sample)(*tensors))
        else:
            results_of_samples.append(gradient_of(torch, op, sample)(torch.tensor(1.0 + number), *tensors))
    return [torch.stack(column) for column in zip(*results_of_samples, strict=True)]


def strides(tensor):
    return [stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1 and tensor.numel()]


LOOKED_AT = {results: ("last", "reversed"), gradients: ("first", "last")}


def found_differences(op):
    """For each check, what differs first, in words, or None."""
    sample = sample_of(op)
    for what in (results, gradients) if sample is not None else ():
        for place in LOOKED_AT[what]:
            expected = outcome(what, (torch, op, sample, place), {})
            if expected.error is None:
                actual = outcome(what, (mindtorch, op, sample, place), {})
                yield f"{what.__name__} {place}", text_of(actual, expected)


def text_of(actual, expected):
    if actual.error is not None:
        return str(actual)
    pairs = zip(actual.result, expected.result, strict=True)
    return next((text for left, right in pairs if (text := difference(left, right))), None)


def difference(actual, expected):
    for fact in (lambda each: str(each.dtype), lambda each: tuple(each.shape), strides):
        if fact(actual) != fact(expected):
            return f"{fact(actual)}, expected {fact(expected)}"
    return wrong_values(actual, expected)


def wrong_values(actual, expected):
    dtype = str(actual.dtype).removeprefix("torch.")
    return value_difference(to_numpy(actual), to_numpy(expected), dtype, 100, True)


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_layout(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns where it runs one sample after the other
        found = dict(found_differences(op))
    checks = {*found, *[check for entry in TABLE.entries if entry.operator == op.name for check in entry.checks()]}
    faults = [TABLE.verdict(op.name, check, "", 0, found.get(check)) for check in sorted(checks)]
    assert not any(faults), "\n".join(filter(None, faults))


@pytest.mark.parametrize(("name", "check"), WRONG)
def test_torch_is_wrong(name, check):
    """What it gives for all samples is not what it gives for each; what mindtorch gives is."""
    op = next(op for op in OPS if op.name == name)
    what, place = check.split()
    what = {"results": results, "gradients": gradients}[what]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = looped(what, op, place)
        ours, theirs = (agrees(what(T, op, sample_of(op), place), right) for T in (mindtorch, torch))
    assert ours
    assert not theirs, "torch is mended: take it out of the table"


def agrees(results_of_samples, right):
    """Whether values are equal. Of results that are there for the gradient only, the sizes may depend on memory."""
    pairs = [pair for pair in zip(results_of_samples, right, strict=True) if pair[0].shape == pair[1].shape]
    return bool(pairs) and all(wrong_values(*pair) is None for pair in pairs)
