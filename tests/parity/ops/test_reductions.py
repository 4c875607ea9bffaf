"""Kernels of reductions against torch, on arrays, over many dtypes and layouts; and what is warned about."""

import random
import warnings

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.ops.arrays import DTYPES, NAMES, SHAPES, assert_same_array, aten, compare, reduction, sample
from tests.parity.support.programs import programs


@pytest.fixture(autouse=True)
def seed(request):
    random.seed(request.node.name)
    torch.manual_seed(0)


REDUCED_SHAPES = [*SHAPES, (0,), (3, 0)]


def some_dims(ndim):
    return random.sample(range(ndim), random.randint(1, ndim)) if ndim else [-1]


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions_over_dims(dtype, keepdim):
    for shape in REDUCED_SHAPES:
        x, dims = sample(shape, dtype), some_dims(len(shape))
        compare(reduction.sum_dim, aten.sum, x, dims, keepdim)
        compare(reduction.mean_dim, aten.mean, x, dims, keepdim)
        compare(reduction.prod_dim, aten.prod, x, dims[0], keepdim)
        compare(reduction.amax, aten.amax, x, [dims[0]], keepdim)
        compare(reduction.amin, aten.amin, x, [dims[0]], keepdim)
        compare(reduction.any_dim, aten.any, x, dims[0], keepdim)
        compare(reduction.all_dim, aten.all, x, dims[0], keepdim)
        compare(reduction.max_dim, aten.max, x, dims[0], keepdim)
        compare(reduction.min_dim, aten.min, x, dims[0], keepdim)
        compare(reduction.argmax, aten.argmax, x, dims[0], keepdim)
        compare(reduction.argmin, aten.argmin, x, dims[0], keepdim)


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_reductions_of_all(dtype):
    for shape in REDUCED_SHAPES:
        x = sample(shape, dtype)
        for name in ("sum", "prod", "max", "min", "any", "all", "argmax", "mean"):
            compare(getattr(reduction, name), getattr(aten, name), x)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
@pytest.mark.parametrize("correction", [None, 0, 2])
def test_spread(dtype, correction):
    for shape in REDUCED_SHAPES:
        x = sample(shape, dtype, with_specials=False)
        for name in ("var", "std"):
            kernel, op = getattr(reduction, name), getattr(aten, name)
            compare(kernel, op, x, some_dims(len(shape)), correction=correction, keepdim=True)
            compare(kernel, op, x, None, correction=correction)


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
@pytest.mark.parametrize("order", [2, 1, 0, float("inf"), -float("inf"), 3, 0.5])
def test_norms(dtype, order):
    for shape in REDUCED_SHAPES:
        compare(reduction.vector_norm, aten.linalg_vector_norm, sample(shape, dtype), order, some_dims(len(shape)))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_along_one_dim(dtype):
    for shape in SHAPES:
        x, dim = sample(shape, dtype), some_dims(len(shape))[0]
        compare(reduction.cumsum, aten.cumsum, x, dim)
        compare(reduction.softmax, aten._softmax, x, dim, False)
        compare(reduction.log_softmax, aten._log_softmax, x, dim, False)
        compare(lambda *args: reduction.topk(*args)[0], lambda *args: aten.topk(*args)[0], x, 1, dim)


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if not dtype.is_complex])
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype, descending):
    def stable_sort(x, dim):
        return tuple(torch.sort(x, dim=dim, descending=descending, stable=True))

    for shape in SHAPES:
        dim = some_dims(len(shape))[0]
        compare(lambda x, dim: reduction.sort_stable(x, True, dim, descending), stable_sort, sample(shape, dtype), dim)


@pytest.mark.parametrize("shape", [(40, 1000), (3000, 9), (5, 700, 30), (2, 70_000)])
def test_large_softmax(shape):
    x, grad = torch.randn(shape), torch.randn(shape)
    for dim in range(len(shape)):
        compare(reduction.softmax, aten._softmax, x, dim, False)
        compare(reduction.log_softmax, aten._log_softmax, x, dim, False)
        actual = reduction.softmax_backward_data(grad.numpy(), x.softmax(dim).numpy(), dim, mindtorch.float32)
        assert_same_array(actual, aten._softmax_backward_data(grad, x.softmax(dim), dim, torch.float32))


def test_long_sums_are_accurate():
    x = torch.rand(200_000, 3)
    expected = x.double().sum(0)
    actual = reduction.sum_dim(x.numpy(), [0])
    assert np.allclose(actual, expected, rtol=1e-6)
    assert np.allclose(reduction.cumsum(x.numpy(), 0)[-1], expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_mean_into_integers(shape, dtype):
    def text(T):
        with pytest.raises(RuntimeError) as error:
            T.mean(T.zeros(shape, dtype=getattr(T, dtype)), 0, out=T.zeros(0, dtype=T.int64))
        return str(error.value)

    assert text(mindtorch) == text(torch)


program, test_program = programs()


def warned(function):
    """The first line of each warning that a call gives, without what torch adds of its own sources."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        function()
    return [str(each.message).partition(" (Triggered")[0] for each in given]


@program
def warnings_name_the_function(T):
    one = T.ones(1)
    calls = [
        lambda: T.std_mean(one), lambda: T.var_mean(one), lambda: T.std(one), lambda: T.var(one),
        lambda: T.std_mean(one, 0), lambda: T.cov(one), lambda: T.corrcoef(T.ones(1, 1)), lambda: T.cov(T.ones(2, 1)),
        lambda: T.zeros(1).expand(3).index_fill_(0, T.tensor([0, 1]), 1.0),
        lambda: T.zeros(2, 1).expand(2, 3).index_fill_(0, T.tensor([1]), T.tensor(1.0)),
    ]  # fmt: skip
    return [warned(call) for call in calls]


@program
def spread_and_mean_have_gradients(T):
    x = T.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]], requires_grad=True)
    results = [*T.std_mean(x), *T.var_mean(x, 1), *T.std_mean(x, (0,), correction=0, keepdim=True)]
    sum(result.pow(2).sum() for result in results).backward()
    filled = T.zeros(2, 1).expand(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled.index_fill_(0, T.tensor([1]), 5.0)
    return [results, x.grad, results[0].grad_fn.name(), filled]
