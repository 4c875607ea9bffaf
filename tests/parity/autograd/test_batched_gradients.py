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


# -------------------- through graphs that were recorded in vmap --------------------

# Functions of a sample `x` and of `w`, which is captured or another sample.
THROUGH_SAMPLES = (
    "x.sin() x*2 x.exp() x.sum(-1) x.sum(0) x.mean() x.cumsum(-1) x.mT x.unsqueeze(0) x[0] x[...,1:] x.abs() "
    "x.softmax(-1) x.flip(0) x.amax(0) x.sort(-1)[0] x.std() x.expand(2,*x.shape) x.reshape(-1) x**3 x.diagonal() "
    "x@x.mT x.unbind(0)[0] T.stack([x,x],1) T.cat([x,x],0) x.tril() x[:1].squeeze() x.relu() x.logsumexp(0) x.var(0) "
    "x.narrow(0,0,1) x.index_select(0,T.tensor([0,1])) x.roll(1,0) x.clone() x.double() x.norm() x.median() "
    "x.cumprod(0) x*w x+w x/w w-x x**w.abs() T.maximum(x,w) T.where(x>0,x,w) x.atan2(w) T.stack([x,w]) "
    "T.cat([x,w],-1) x.lerp(w,0.5) T.addcmul(x,w,w) x.mul(w).sum(0) x[0]*w x.copysign(w) x*w.sum() "
    "T.outer(x[0],w[0]) x[:,0].dot(w[:,0])"
).split()


def _places(T, code, in_dim, is_captured, create_graph):
    """How gradients of samples lie in memory, and whether they are what was given."""
    shape = [2, 3]
    shape.insert(in_dim, 4)
    x, w = (T.arange(24.0).mul(step).cos().add(1.5) for step in (0.37, 0.7))
    x, w = x.reshape(shape).requires_grad_(), (w[:6] if is_captured else w).reshape(-1, 2, 3).squeeze(0)
    w = w.detach().requires_grad_()
    w_dim = None if is_captured else 0
    y = T.vmap(lambda x, w: eval(code, {"T": T, "x": x, "w": w}), in_dims=(in_dim, w_dim))(x, w)
    given = T.arange(2.0 * y.numel()).sin().to(y.dtype).reshape(2, *y.shape)
    found = T.autograd.grad(y, [x, w], given, is_grads_batched=True, allow_unused=True, create_graph=create_graph)
    return [each if each is None else (tuple(each.shape), each.stride(), each is given) for each in found]


@pytest.mark.parametrize("code", THROUGH_SAMPLES)
def test_layout_through_samples(code):
    kinds = [(in_dim, *kind) for in_dim in range(3) for kind in ((True, False), (False, False), (False, True))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns where it runs one gradient after the other
        assert_same(lambda T: [_places(T, code, *kind) for kind in kinds])
