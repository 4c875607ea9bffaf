"""Losses of targets of every dtype: value, gradient and second gradient, or torch's error."""

import pytest
import torch

import mindtorch
from tests.harness import error_difference, outcome, result_difference

REDUCTIONS = ("none", "mean", "sum")
DTYPES = ("float32", "float64", "float16", "int64", "int32", "uint8", "bool")
CLASSES = {"multi_margin_loss": [0, 2], "nll_loss": [0, 2], "cross_entropy": [0, 2]}
LOSSES = {
    **dict.fromkeys(
        (
            "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "soft_margin_loss",
            "binary_cross_entropy_with_logits", "hinge_embedding_loss", "poisson_nll_loss", "kl_div",
            "multilabel_soft_margin_loss",
        ),
        [[1, 0, 1], [0, 1, 1]],
    ),
    **CLASSES,
    "multilabel_margin_loss": [[0, 2, -1], [1, -1, 0]],
}  # fmt: skip

KNOWN = {
    ("soft_margin_loss", "uint8"): "torch negates the target in the gradient: -1 is 255 there",
    ("soft_margin_loss", "bool"): "torch negates the target in the gradient, which it refuses to do with bools",
    ("multilabel_margin_loss", "uint8"): "torch looks at the values of the target before its dtype",
    ("multi_margin_loss", "int64"): "torch has a node for the second gradient, which refuses it",
    ("multilabel_margin_loss", "int64"): "torch has a node for the second gradient, which refuses it",
}


def cases():
    for name in LOSSES:
        for dtype in DTYPES:
            reason = KNOWN.get((name, dtype))
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            yield pytest.param(name, dtype, marks=marks, id=f"{name}-{dtype}")


def tensors(T, name, dtype, shape=None):
    input = T.tensor([[0.3, 0.6, 0.2], [0.9, 0.4, 0.1]], requires_grad=True)
    target = T.tensor(LOSSES[name]) if shape is None else T.ones(shape)
    return input, target.to(getattr(T, dtype))


def derivatives(T, name, dtype, reduction):
    input, target = tensors(T, name, dtype)
    loss = getattr(T.nn.functional, name)(input, target, reduction=reduction)
    (first,) = T.autograd.grad(loss.sum(), input, create_graph=True)
    second = T.autograd.grad((first * first).sum(), input)[0] if first.requires_grad else None
    return [loss, first, second]


def check_same(function, *args):
    ours, theirs = (outcome(function, (T, *args), {}) for T in (mindtorch, torch))
    if theirs.error is not None or ours.error is not None:
        assert error_difference(ours.error, theirs.error) is None
    else:
        assert result_difference(mindtorch, torch, ours.result, theirs.result, tolerance=1000) is None


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
@pytest.mark.parametrize(("name", "dtype"), list(cases()))
def test_dtype_of_the_target(name, dtype):
    for reduction in REDUCTIONS:
        check_same(derivatives, name, dtype, reduction)


@pytest.mark.parametrize("dtype", [dtype for name, dtype in KNOWN if name == "soft_margin_loss"])
def test_torch_is_wrong(dtype):
    """Targets of 0 and 1 have one gradient, whatever their dtype: that of mindtorch, and not of torch."""

    def first(T, dtype):
        return derivatives(T, "soft_margin_loss", dtype, "sum")[1]

    right = first(torch, "float32").detach().tolist()
    assert first(mindtorch, dtype).detach().numpy() == pytest.approx(torch.tensor(right).numpy(), rel=1e-6)
    theirs = outcome(first, (torch, dtype), {})
    assert theirs.error is not None or theirs.result.detach().tolist() != right, "torch is mended: see KNOWN"


def loss_of_shape(T, shape):
    return T.nn.functional.soft_margin_loss(*tensors(T, "soft_margin_loss", "float32", shape), reduction="none")


@pytest.mark.parametrize("shape", [(), (3,), (2, 1), (1, 3), (2, 3), (4,), (1, 2, 3), (2, 3, 1), (0,)])
def test_shape_of_the_target(shape):
    """The loss has the shape of the input."""
    check_same(loss_of_shape, shape)


def test_a_gap_of_nothing():
    """A score that keeps the margin exactly takes no part in the gradient."""

    def gradient(T):
        input = T.tensor([1.0, 3.0, 2.0, 2.0], requires_grad=True)
        T.nn.functional.multilabel_margin_loss(input, T.tensor([0, 1, -1, -1])).backward()
        return input.grad.tolist()

    assert gradient(mindtorch) == gradient(torch)
