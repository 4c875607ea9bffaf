"""What every op records: which results require grad, and what the backward pass says, for each argument alone."""

import itertools
import warnings

import pytest
import torch

import mindtorch
from tests.harness import (
    TensorSpec,
    arguments_of,
    function_of,
    inplace_samples,
    outcome,
    samples_of,
    specs_in,
    tensor_of,
    tensors_in,
    variant,
)
from tests.parity.support.peer import torch_ops

FORMS = [form for op in torch_ops() for form in (op, variant(op, "inplace")) if form is not None]

# Gradients that mindtorch has and PyTorch has not.
DIFFERENTIATED_HERE = {
    "asinh_": "PyTorch has the derivative of asinh and not that of its in-place form",
    "acosh_": "as asinh_",
    "atanh_": "as asinh_",
    "arcsinh_": "as asinh_",
    "arccosh_": "as asinh_",
    "arctanh_": "as asinh_",
    "remainder.Scalar_Tensor": "remainder.Tensor is differentiable",
    "silu_backward": "PyTorch differentiates it when autograd calls it, not when programs do",
    "native_channel_shuffle": "channel_shuffle is differentiable",
    "view_as_complex_copy": "view_as_complex is differentiable",
    "linalg_cond.p_str": "PyTorch writes over what it has saved",
    "vander": "PyTorch writes over what it has saved",
    "cross_entropy_loss": "PyTorch has the gradient of the weights only if the targets are probabilities",
    "bilinear": "of complex numbers",
    "conv_tbc": "of complex numbers",
}
# Texts with which a dtype is refused; which of two comes first is not compared.
OF_DTYPES = (" not implemented for ", "does not support automatic differentiation for outputs with complex dtype")
# Other refusals with another text.
REFUSED_OTHERWISE = {
    "native_batch_norm_backward": "of the statistics: PyTorch refuses in the backward pass, mindtorch at the call",
    "native_layer_norm_backward": "as native_batch_norm_backward",
    "geqrf": "which PyTorch lists with a derivative that is not implemented",
    "embedding_renorm_": "as geqrf",
    "_embedding_bag_backward": "of complex numbers: PyTorch refuses at the call, mindtorch in the backward pass",
    "_scaled_dot_product_flash_attention_for_cpu_backward": "as _embedding_bag_backward",
}
NOT_COMPARED = {
    "_embedding_bag_forward_only": "PyTorch wants the dtype of all four results to be differentiable",
    "native_layer_norm_backward": "the bias is an input of the node in PyTorch, and gets no gradient",
}


def leaf_among(T, value, place, places):
    """The arguments, of which the tensor at one place is a leaf that requires grad."""
    if isinstance(value, TensorSpec):
        is_leaf = next(places) == place
        tensor = tensor_of(T, value)
        return tensor.detach().requires_grad_() if is_leaf else tensor
    if isinstance(value, list):
        return [leaf_among(T, each, place, places) for each in value]
    if isinstance(value, dict):
        return {name: leaf_among(T, each, place, places) for name, each in value.items()}
    return arguments_of(T, value)


def text_of(error):
    return type(error).__name__, str(error).partition("\n")[0]


def passed(T, result, leaf):
    """What the backward pass of one result says, or whether there is a gradient."""
    found = outcome(T.autograd.grad, (result, leaf, T.ones_like(result)), {"retain_graph": True, "allow_unused": True})
    return text_of(found.error) if found.error else found.result[0] is not None


def recorded(T, form, sample, place):
    """What a call records if one of its tensors requires grad; or its error."""
    places = itertools.count()
    args, kwargs = [leaf_among(T, each, place, places) for each in (list(sample.args), sample.kwargs)]
    (leaf,) = [each for each in tensors_in(T, [args, kwargs]) if each.requires_grad]
    if form.kind == "inplace":
        args[0] = args[0] * 1 if args[0].dtype != T.bool else args[0].clone()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome(function_of(T, form), args, kwargs)
        if found.error:
            return text_of(found.error)
        results = tensors_in(T, found.result)
        passes = [passed(T, each, leaf) for each in results if each.requires_grad]
    return [(each.requires_grad, each.is_leaf) for each in results], passes


def is_refusal(facts):
    """Whether a call was refused, or all its backward passes: for its dtype, if nothing else is said of the text."""
    return isinstance(facts[0], str) or (facts[1] and all(isinstance(each, tuple) for each in facts[1]))


def check(form, sample, place):
    own, peer = (recorded(T, form, sample, place) for T in (mindtorch, torch))
    if own == peer:
        return
    message = f"argument {place}: {own}, in torch {peer}"
    if form.name in DIFFERENTIATED_HERE:
        assert is_refusal(peer) and not is_refusal(own), message
    elif form.name not in NOT_COMPARED:
        assert is_refusal(own) and is_refusal(peer), message
        of_dtypes = [any(text in str(facts) for text in OF_DTYPES) for facts in (own, peer)]
        assert all(of_dtypes) or form.name in REFUSED_OTHERWISE, message


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_recorded(form):
    for dtype in ("float64", "complex64"):
        samples = inplace_samples(form, dtype) if form.derived_from else samples_of(form, dtype)
        for sample in itertools.islice(samples, 1):
            for place, spec in enumerate(specs_in(sample)):
                if spec.dtype.startswith(("float", "bfloat", "complex")):
                    check(form, sample, place)
