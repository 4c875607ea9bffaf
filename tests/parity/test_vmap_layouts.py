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
from tests.parity.peer import torch_ops
from tests.samples import TensorSpec

COUNT = 3  # samples
OPS = [op for op in torch_ops() if not op.factory]

# Where the samples are, and whether memory has the dimensions in reverse order.
PLACES = {"first": (0, False), "last": (-1, False), "reversed": (0, True)}

# Ops that differ still, and how.
_NO_GRADIENT = "the gradient of the argument that only gives a sign or a direction is zeros of each sample, not of all"
_FACTORS = "the factors of the formula come in another order, so the product lies in memory like another one of them"
_COPIES = "PyTorch copies where the strides of the samples allow no view, and so returns no view of them"
_MASKS = "masks that differ from sample to sample choose different numbers of elements: refused"
_PARTS = "the gradient of a block is a copy, and not a part of the whole one"
_SOLVED = "PyTorch solves with the factors in one call, whose result lies in columns"
_PSEUDO = "the gradient is a sum of products in another order, or of a solution with its residuals"
_TRIANGLE = "PyTorch's gradient has no zeros in the triangle that the op does not read"
_GROUPS = "second derivatives with samples as groups or as images; PyTorch chooses by what is batched"
_WRONG_GROUPS = (
    "PyTorch's three-dimensional convolution with groups is wrong: it differs from its own one sample after the other"
)
_STATISTICS = "PyTorch takes the formulas apart inside vmap"
_UNUSED = "values of no meaning in the places that the op does not fill"
_MASK = "the mask of no dropout is one that all samples share"
_UNSTRIDED = "PyTorch's kernel takes any strides for those of rows: its values are wrong"
_COMPOSED = "a composite of other steps"
_PICKED = "PyTorch picks the losses with gather inside vmap"
_SPECTRA = "values of spectra of samples in another order of dimensions"

DIFFERENT = {
    **dict.fromkeys(
        (
            "copysign.Tensor",
            "nextafter",
        ),
        _NO_GRADIENT,
    ),
    **dict.fromkeys(
        (
            "_softmax_backward_data",
            "affine_grid_generator",
            "special_xlog1py.other_scalar",
            "ormqr",
            "linalg_householder_product",
            "orgqr",
            "conv_tbc",
        ),
        _FACTORS,
    ),
    **dict.fromkeys(
        (
            "_reshape_alias",
            "view_copy",
        ),
        _COPIES,
    ),
    **dict.fromkeys(("masked_scatter",), _MASKS),
    **dict.fromkeys(("block_diag",), _PARTS),
    **dict.fromkeys(("linalg_lu_solve",), _SOLVED),
    **dict.fromkeys(
        (
            "linalg_pinv",
            "linalg_pinv.atol_rtol_tensor",
            "linalg_pinv.atol_rtol_float",
            "pinverse",
            "linalg_lstsq",
        ),
        _PSEUDO,
    ),
    **dict.fromkeys(
        (
            "cholesky_solve",
            "cholesky_inverse",
        ),
        _TRIANGLE,
    ),
    **dict.fromkeys(("convolution_backward",), _GROUPS),
    **dict.fromkeys(("conv3d.padding",), _WRONG_GROUPS),
    **dict.fromkeys(
        (
            "native_batch_norm_backward",
            "native_layer_norm_backward",
        ),
        _STATISTICS,
    ),
    **dict.fromkeys(
        (
            "_embedding_bag",
            "_embedding_bag_forward_only",
        ),
        _UNUSED,
    ),
    **dict.fromkeys(("native_dropout",), _MASK),
    **dict.fromkeys(
        (
            "_scaled_dot_product_flash_attention_for_cpu",
            "_scaled_dot_product_flash_attention_for_cpu_backward",
            "fractional_max_pool2d_backward",
            "fractional_max_pool3d_backward",
        ),
        _UNSTRIDED,
    ),
    **dict.fromkeys(
        (
            "lstm.input",
            "gru_cell",
            "rnn_tanh_cell",
            "rnn_relu_cell",
            "mvlgamma",
            "special_multigammaln",
            "margin_ranking_loss",
            "kl_div",
        ),
        _COMPOSED,
    ),
    **dict.fromkeys(
        (
            "nll_loss_forward",
            "nll_loss_backward",
            "nll_loss",
            "nll_loss2d_forward",
            "nll_loss2d_backward",
            "nll_loss2d",
            "nll_loss_nd",
            "cross_entropy_loss",
        ),
        _PICKED,
    ),
    **dict.fromkeys(
        (
            "fft_ifft",
            "fft_hfft",
            "fft_ihfft",
            "fft_hfftn",
        ),
        _SPECTRA,
    ),
}


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


def gradients(T, op, sample, place):
    """Of a weighted sum of the results, with other weights for each sample."""
    specs = specs_in(sample)
    call, in_dims = call_of(T, op, sample), PLACES[place][0]
    wanted = [number for number, spec in enumerate(specs) if spec.differentiable and spec.dtype.startswith("float")]
    if not wanted:
        return ()

    def gradient(scale, *tensors):
        def of_wanted(*chosen):
            given = list(tensors)
            for number, tensor in zip(wanted, chosen, strict=True):
                given[number] = tensor
            return tuple([each for each in call(*given) if each.is_floating_point()])

        outputs, products = T.func.vjp(of_wanted, *[tensors[number] for number in wanted])
        return products(tuple([T.ones_like(each) * scale for each in outputs]))

    given = [stacked(T, spec, place) for spec in specs]
    return T.vmap(gradient, in_dims=(0, *[in_dims] * len(given)))(T.arange(1.0, 1 + COUNT), *given)


def strides(tensor):
    return [stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1 and tensor.numel()]


LOOKED_AT = {results: ("last", "reversed"), gradients: ("first", "last")}


def first_difference(op):
    """What differs first, in words."""
    sample = sample_of(op)
    for what in (results, gradients) if sample is not None else ():
        for place in LOOKED_AT[what]:
            expected = outcome(what, (torch, op, sample, place), {})
            if expected.error is not None:
                continue
            actual = outcome(what, (mindtorch, op, sample, place), {})
            if actual.error is not None:
                return f"{what.__name__}, {place}: {actual}"
            for left, right in zip(actual.result, expected.result, strict=True):
                if text := difference(left, right):
                    return f"{what.__name__}, {place}: {text}"
    return None


def difference(actual, expected):
    for fact in (lambda each: str(each.dtype), lambda each: tuple(each.shape), strides):
        if fact(actual) != fact(expected):
            return f"{fact(actual)}, expected {fact(expected)}"
    dtype = str(actual.dtype).removeprefix("torch.")
    return value_difference(to_numpy(actual), to_numpy(expected), dtype, 100, True)


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_layout(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns where it runs one sample after the other
        found = first_difference(op)
    if op.name in DIFFERENT:
        assert found, f"{op.name} is listed as different, and is not any more"
    else:
        assert not found, found
