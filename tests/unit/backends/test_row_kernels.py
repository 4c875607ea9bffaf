"""Kernels for rows: what they describe, computed by NumPy, is what its own loops compute."""

from importlib import import_module

import numpy as np
import pytest

from mindtorch.backends.cpu.common import reducing
from mindtorch.backends.cpu.compiled import choice, expressions
from mindtorch.backends.cpu.compiled.conversions import CONVERSIONS
from mindtorch.backends.cpu.compiled.recurrences import RECURRENCES
from mindtorch.backends.cpu.compiled.row_kernels import ROW_KERNELS
from mindtorch.backends.cpu.compiled.scatters import ADD_ROWS
from mindtorch.backends.cpu.normalization import normalization
from mindtorch.backends.cpu.reduction import cumulative, reduction, softmax, variance
from tests.unit.backends.compiled_loops import DTYPES, of_numpy

MODULES = [
    "reduction.softmax", "reduction.cumulative", "reduction.reduction", "reduction.variance", "common.reducing",
    "normalization.normalization", "indexing.advanced", "special.polynomials",
]  # fmt: skip


class NumpyRows:
    """What `rows` is to a kernel, with whole arrays in the place of elements."""

    def __init__(self, dtype, length):
        self._dtype, self._length = dtype, length
        self._result = None

    def total(self, of):
        return self._kept(np.add.reduce(np.ascontiguousarray(of(None)), -1, keepdims=True))

    def totals(self, *of):
        return [self.total(each) for each in of]

    def length(self):
        return self._kept(self._dtype.type(self._length))

    def product(self, of):
        return self._kept(np.multiply.reduce(of(None), -1, keepdims=True))

    def largest(self, of):
        return self._kept(np.maximum.reduce(of(None), -1, keepdims=True))

    def each_row(self, function, *numbers):
        return self._kept(function(*[each(None) for each in numbers]))

    def stored(self, of):
        self._result = of(None)
        return self.result()

    def result(self):
        return self._kept(self._result)

    def running(self, of, start, combine):
        wide = of(None).astype(float)
        state = np.full(wide.shape[:-1], start)
        self._result = np.empty_like(wide)
        for place in range(wide.shape[-1]):
            state = self._result[..., place] = combine(state, wide[..., place])
        self._result = self._result.astype(self._dtype)

    def _kept(self, array):
        return lambda place: array


def described(name, *arrays):
    """What a kernel describes, of rows in the last dimension; the numbers that go with rows have one dimension less."""
    dtype, kernel = arrays[0].dtype, ROW_KERNELS[name]
    rows = NumpyRows(dtype, arrays[0].shape[-1])
    wide = [each if is_row else each[..., None] for each, is_row in zip(arrays, kernel.arguments)]
    with np.errstate(all="ignore"):
        results = kernel.function(of_numpy(dtype), rows, *[lambda place, each=each: each for each in wide])
        results = results if isinstance(results, tuple) else (results or rows.result(),)
        found = [np.asarray(each(None)) for each in results]
    return [each if is_row else each[..., 0] for each, is_row in zip(found, kernel.arguments[kernel.operands :])]


def computed(loop, *arrays, **options):
    """The results of a loop, in a list."""
    found = loop(*arrays, **options)
    return list(found) if type(found) is tuple else [found]


def _by_step(step):
    def run(*arrays):
        out = np.empty_like(arrays[0])
        step(out, *arrays, axis=arrays[0].ndim - 1)
        return out

    return run


def _normalized(x, *parameters):
    weight, bias = parameters[:2] if len(parameters) == 3 else (None, None)
    out, mean, rstd = normalization.normalize_rows(x, weight, bias, float(parameters[-1]))
    return out, mean.reshape(-1), rstd.reshape(-1)


def _normalized_backward(grad, x, weight, mean, rstd):
    return normalization.row_gradients(grad, x, mean[:, None], rstd[:, None], weight, [True, False, False])[0]


def _affine_backward(grad, x, mean, rstd):
    """Of columns, which are the rows of the kernel."""
    columns = [np.ascontiguousarray(each.T) for each in (grad, x)]
    return normalization.row_gradients(*columns, mean[:, None], rstd[:, None], None, [False, True, True])[1:]


def _deviations(x, centre):
    away = x - centre[:, None]
    return away.sum(1), (away * away).sum(1)


def _scaled(x, centre, scale, shift):
    return normalization.scale_channels(x[None], centre, None, scale, None, shift)[0]


def _channel_sums(grad, x, mean):
    ones = np.ones_like(mean)
    _, along, total = normalization.channel_gradients(grad[None], x[None], None, mean, ones, True, [False, True, True])
    return total, along


def _channel_backward(grad, x, mean, share, slope, scale):
    """The formula takes what the kernel takes times the count: its sums."""
    count = x.dtype.type(x.shape[1])
    return normalization._channel_input(
        grad[None], (x - mean[:, None])[None], share * count, slope * count, scale, True
    )[0]


def _normalized_channel(x, weight, bias, running_mean, running_var, momentum, eps):
    mean, variance, centred = normalization.channel_statistics(x[None])
    invstd = 1 / np.sqrt(variance + eps)
    sample = variance * x.shape[1] / (x.shape[1] - 1)
    running = [momentum * new + (1 - momentum) * old for new, old in ((mean, running_mean), (sample, running_var))]
    return normalization.scale_channels(x[None], mean, centred, invstd, weight, bias)[0], mean, invstd, *running


def _normalized_channel_backward(grad, x, weight, mean, rstd):
    arrays = grad[None], x[None], weight, mean, rstd
    of_input, *others = normalization.channel_gradients(*arrays, True, [True] * 3)
    return of_input[0], *others


NUMPY = {
    "normalize_rows": _normalized,
    "normalize_rows_affine": _normalized,
    "normalize_rows_backward": _normalized_backward,
    "affine_backward": _affine_backward,
    "row_sum": lambda x: normalization._sum_channels(x[None]),
    "deviations": _deviations,
    "scale_rows": _scaled,
    "channel_sums": _channel_sums,
    "channel_backward": _channel_backward,
    "normalize_channel": _normalized_channel,
    "normalize_channel_backward": _normalized_channel_backward,
    "squared_deviation": lambda x: variance._squared_deviation(x, (1,)),
    "softmax": _by_step(softmax._softmax_step),
    "log_softmax": _by_step(softmax._log_softmax_step),
    "softmax_backward": _by_step(softmax._softmax_backward_step),
    "log_softmax_backward": _by_step(softmax._log_softmax_backward_step),
    "logsumexp": lambda x: reduction._log_of_sum(x, (x.ndim - 1,), False),
    "euclidean_norm": lambda x: reduction._norm(x, 2.0, (x.ndim - 1,), False),
    "prod": lambda x: reducing.multiply_up(x, (x.ndim - 1,), False),
    "cumsum": lambda x: cumulative._RUNNING_SUM(x, x.ndim - 1, np.dtype(float)).astype(x.dtype),
    "cumprod": lambda x: cumulative._RUNNING_PRODUCT(x, x.ndim - 1, np.dtype(float)).astype(x.dtype),
}


def rows_of(dtype, length, count=7, seed=0):
    """Usual rows, and such with large numbers, infinities, nan and negative zeros."""
    x = np.random.default_rng(seed).normal(size=(count + 8, length))
    x[count] *= 60
    x[count + 1, -1] = np.inf
    x[count + 2, length // 2] = -np.inf
    x[count + 3] = -np.inf
    x[count + 4, length // 3] = np.nan
    x[count + 5] = -0.0
    x[count + 6] = 1e30
    x[count + 7, 0] = -1e4
    return x.astype(dtype)


def operands_of(name, dtype, length):
    if name in MODERATE:
        return _moderate_operands(ROW_KERNELS[name], dtype, length)
    first, *others = [rows_of(dtype, length, seed=seed) for seed in range(ROW_KERNELS[name].operands)]
    return [first, *[OUTPUTS[name](each) for each in others]]


def _moderate_operands(kernel, dtype, length):
    """Rows without infinities and numbers whose squares are, numbers for each row, and what all rows share."""
    found = []
    for number in range(kernel.operands):
        rows = rows_of(dtype, length, seed=number).clip(-2, 2)
        if number in kernel.shared:
            found.append(rows[0] if kernel.arguments[number] else np.full((), 1e-5, dtype))
        else:
            found.append(
                rows if kernel.arguments[number] else np.random.default_rng(number).normal(size=15).astype(dtype)
            )
    return found


# Sums of squares and products, of which what is large depends on the order.
MODERATE = {
    "normalize_rows", "normalize_rows_affine", "normalize_rows_backward", "affine_backward", "row_sum", "deviations",
    "scale_rows", "channel_sums", "channel_backward", "squared_deviation", "normalize_channel",
    "normalize_channel_backward",
}  # fmt: skip


OUTPUTS = {  # what may have been the result of going forward
    "softmax_backward": lambda x: np.minimum(np.abs(x), x.dtype.type(1)),
    "log_softmax_backward": lambda x: -np.abs(x),
}


def assert_all_near(name, found, expected, operands, length):
    assert len(found) == len(expected)
    rows = ~depends_on_order(operands[0]) if name == "prod" else ...
    for each, wanted in zip(found, expected):
        compared = [each[rows], np.asarray(wanted)[rows], [operands[0][rows], *operands[1:]]]
        assert_near(*compared, length, 100 if name in MODERATE else 1)


def depends_on_order(rows):
    """Of which rows the product can both overflow and vanish on the way, by the order in which it is computed."""
    with np.errstate(all="ignore"):
        size = np.abs(rows)
        largest, least = np.fmax(size, 1).prod(-1), np.fmin(size, 1).prod(-1)
    return np.isinf(largest) & (least < np.finfo(rows.dtype).tiny)


def assert_near(found, expected, operands, length, products=1):
    """Equal where one of the two is no number; a sum may be wrong by what its terms, in any order, amount to.

    `products` is how much larger than the first operand these may be."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    eps = np.finfo(found.dtype).eps
    with np.errstate(all="ignore"):
        terms = np.nan_to_num(np.abs(operands[0]), posinf=0).sum(-1)
        scale = products * (np.abs(expected) + 1) + products * (
            terms[..., None] if found.ndim == operands[0].ndim else terms
        )
        away = np.abs(found - expected)
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    wrong = ~(same | (away <= (8 + length / 16) * eps * scale))
    assert not wrong.any(), (found[wrong][:5], expected[wrong][:5], np.argwhere(wrong)[:5])


def test_every_kernel_belongs_to_an_op():
    for each in MODULES:
        import_module(f"mindtorch.backends.cpu.{each}")
    assert choice.others() == sorted([*ROW_KERNELS, *RECURRENCES, *CONVERSIONS, ADD_ROWS])
    assert sorted(NUMPY) == sorted(ROW_KERNELS)
    assert len(set(expressions.all_names())) == len(expressions.all_names())


@pytest.mark.parametrize("name", ROW_KERNELS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_description_is_what_numpy_computes(name, dtype):
    for length in (1, 5, 100):
        operands = operands_of(name, dtype, length)
        with np.errstate(all="ignore"):
            expected = NUMPY[name](*operands)
        expected = expected if isinstance(expected, tuple) else (expected,)
        assert_all_near(name, described(name, *operands), expected, operands, length)


REDUCTIONS = {  # of several dimensions, and what they are
    "prod": (reducing.multiply_up, lambda x, dims: np.prod(x, dims, keepdims=True)),
    "logsumexp": (reduction._log_of_sum, lambda x, dims: np.log(np.exp(x).sum(dims, keepdims=True))),
    "norm": (
        lambda x, dims, keepdim: reduction._norm(x, 2.0, dims, keepdim),
        lambda x, dims: np.sqrt((x * x).sum(dims, keepdims=True)),
    ),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (1, 2), (0, 1, 2), (0, 2), (2, 1)], ids=str)
def test_reductions_of_several_dimensions(name, dims):
    function, exact = REDUCTIONS[name]
    x = np.random.default_rng(0).uniform(0.9, 1.1, (40, 33, 50))
    for array in (x, x.astype(np.float32), x[:, :, ::2], x.transpose(2, 0, 1)):
        expected = exact(array.astype(np.longdouble), dims)
        for keepdim in (False, True):
            found = function(array, dims, keepdim)
            assert found.dtype == array.dtype
            assert found.shape == (expected.shape if keepdim else expected.squeeze(dims).shape)
            assert np.allclose(found.reshape(expected.shape), expected, rtol=200 * np.finfo(array.dtype).eps)
