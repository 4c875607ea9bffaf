"""Passes with a batch of gradients (`is_grads_batched=True`): where their results lie in memory.

The results of ops without a rule of their own are rows in PyTorch, and those of others lie as the gradients do. So the
gradients that are given lie in memory the other way round.
"""

import warnings

import pytest
import torch

import mindtorch
from tests.harness import outcome, specs_in, tensor_of
from tests.parity.func.test_vmap_layouts import OPS, call_of, difference, sample_of
from tests.parity.support.programs import assert_same

NAMES = (
    "mul.Tensor div.Tensor pow.Tensor_Tensor sign tanh floor ceil round trunc hardshrink softshrink hardtanh elu selu "
    "hardswish hardsigmoid gelu softplus float_power.Tensor_Tensor float_power.Scalar renorm diagonal_scatter "
    "index_put flip fliplr linalg_det linalg_solve linalg_solve_triangular linalg_cholesky linalg_qr where.self "
    "masked_fill.Scalar cumsum sort maximum lerp.Tensor addcmul cat stack select.int diagonal tril roll gather "
    "index_select _softmax deg2rad to.dtype clamp.Tensor atan2 sum.dim_IntList mean.dim logsumexp mm bmm"
).split()


def gradients(T, op, sample):
    specs = specs_in(sample)
    wanted = [number for number, spec in enumerate(specs) if spec.differentiable and spec.dtype.startswith("float")]
    given = [tensor_of(T, spec).detach().requires_grad_(number in wanted) for number, spec in enumerate(specs)]
    outputs = [each for each in call_of(T, op, sample)(*given) if each.requires_grad]
    outputs = [each.permute(tuple(reversed(range(each.ndim)))) for each in outputs]
    batches = [T.arange(2.0 * each.numel(), dtype=each.dtype).reshape(2, *each.shape) for each in outputs]
    sources = [given[number] for number in wanted]
    return [each for each in T.autograd.grad(outputs, sources, batches, is_grads_batched=True, allow_unused=True)]


@pytest.mark.parametrize("op", [op for op in OPS if op.name in NAMES], ids=lambda op: op.name)
def test_layout(op):
    sample = sample_of(op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns where it runs one gradient after the other
        expected, actual = (outcome(gradients, (T, op, sample), {}) for T in (torch, mindtorch))
    assert expected.error is None and actual.error is None, (expected, actual)
    for left, right in zip(actual.result, expected.result, strict=True):
        assert (left is None) == (right is None)
        assert left is None or not difference(left, right)


def _of_a_part(T, shape):
    """A gradient that is written by strides, which PyTorch does if the samples come first in memory."""
    x = T.ones(shape, requires_grad=True)
    y = x * 1
    y.squeeze().cumsum_(-1)
    return T.autograd.grad(y, x, T.ones(2, *shape), is_grads_batched=True)


@pytest.mark.parametrize("shape", [(2, 3), (2, 0), (0,), (3, 1)], ids=str)
def test_written_by_strides(shape):
    assert_same(lambda T: _of_a_part(T, shape))
