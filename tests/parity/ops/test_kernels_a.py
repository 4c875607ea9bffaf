"""Kernels of the pointwise, reduction and special families against torch, on arrays, over many dtypes and layouts."""

import random

import ml_dtypes
import numpy as np
import pytest
import torch

import mindtorch
from codegen.keys import POINTWISE
from mindtorch._core import geometry
from tests.harness import cpu_kernels

aten = torch.ops.aten
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
DTYPES = [getattr(torch, name) for name in NAMES]
SHAPES = [(), (1,), (5,), (3, 4), (2, 1, 3), (2, 3, 2, 2)]
SPECIAL_VALUES = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 0.5, -2.5, 88.0]
TOLERANCES = {
    torch.float16: (2e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (3e-6, 4e-6),
    torch.float64: (1e-9, 1e-11),
    torch.complex64: (2e-5, 2e-5),
    torch.complex128: (1e-9, 1e-11),
}


pointwise, reduction, special = cpu_kernels(*POINTWISE), cpu_kernels("reduction"), cpu_kernels("special")


@pytest.fixture(autouse=True)
def seed(request):
    random.seed(request.node.name)
    torch.manual_seed(0)


# -------------------- samples --------------------


def to_array(value):
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype == torch.bfloat16:
        return value.view(torch.int16).numpy().view(BFLOAT16)
    return value.numpy()


def to_tensor(array):
    copied = array.copy(order="C")
    return (
        torch.from_numpy(copied.view(np.int16)).view(torch.bfloat16)
        if array.dtype == BFLOAT16
        else torch.from_numpy(copied)
    )


def values(shape, dtype, with_specials):
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.randint(0 if dtype == torch.uint8 else -9, 10, shape).to(dtype)
    result = torch.randn(shape, dtype=dtype if dtype.is_complex else torch.float32) * 2
    if with_specials and not dtype.is_complex:
        for place in range(result.numel()):
            if random.random() < 0.2:
                result.view(-1)[place] = random.choice(SPECIAL_VALUES)
    return result.to(dtype)


def sample(shape, dtype, with_specials=True):
    """A tensor, now and then permuted or with gaps."""
    result = values(shape, dtype, with_specials)
    layout = random.random()
    if len(shape) > 1 and layout > 0.4:
        order = random.sample(range(len(shape)), len(shape))
        places = [order.index(dim) for dim in range(len(shape))]
        result = result.permute(order).contiguous().permute(places)
        if layout > 0.8:
            result = result.repeat_interleave(2, 0)[::2]
    return result


def part_of(shape):
    kept = [size if random.random() < 0.7 else 1 for size in shape]
    return tuple(kept[random.randint(0, len(kept)) :])


# -------------------- comparison --------------------


def assert_same(actual, expected):
    if isinstance(expected, tuple):
        for each, wanted in zip(actual, expected, strict=True):
            assert_same(each, wanted)
        return
    assert isinstance(actual, np.ndarray)
    assert actual.dtype == getattr(mindtorch, str(expected.dtype).removeprefix("torch.")).numpy
    assert actual.shape == tuple(expected.shape)
    assert geometry.strides_of(actual) == expected.stride()
    rtol, atol = TOLERANCES.get(expected.dtype, (0, 0))
    found = to_tensor(actual)
    if expected.is_complex():
        finite = torch.isfinite(torch.view_as_real(expected)).all(-1) & torch.isfinite(torch.view_as_real(found)).all(
            -1
        )
        found, expected = found[finite], expected[finite]
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)


def compare(kernel, op, *args, **kwargs):
    """The kernel gives what torch gives, or raises what torch raises."""
    try:
        expected = op(*args, **kwargs)
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error)) as raised:
            kernel(*map(to_array, args), **kwargs)
        assert str(raised.value) == str(error).split("\n")[0]
        return
    if isinstance(expected, torch.Tensor) and expected.dtype == torch.complex32:
        return  # mindtorch has no such dtype
    assert_same(kernel(*map(to_array, args), **kwargs), expected)


# -------------------- pointwise --------------------

UNARY = (
    "neg abs sgn sign angle exp expm1 log log2 log1p sqrt rsqrt reciprocal sin cos tan tanh sigmoid floor ceil round "
    "trunc relu leaky_relu silu softplus logical_not bitwise_not isnan isinf"
).split()
SPECIAL = "erf erfc erfinv lgamma digamma".split()
BINARY = (
    "add sub mul div pow maximum minimum atan2 eq ne lt le gt ge logical_and logical_or logical_xor bitwise_and "
    "bitwise_or bitwise_xor clamp_min clamp_max tanh_backward sigmoid_backward"
).split()
WITH_NUMBER = "add sub rsub mul div eq lt ge bitwise_and bitwise_or clamp_min clamp_max".split()


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
@pytest.mark.parametrize("name", UNARY + SPECIAL)
def test_unary(name, dtype):
    kernel = getattr(pointwise, name, None) or getattr(special, name)
    for shape in SHAPES:
        compare(kernel, getattr(aten, name), sample(shape, dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    for shape in SHAPES:
        other = random.choice([dtype, random.choice(DTYPES)])
        if torch.float16 in (dtype, other) and (dtype.is_complex or other.is_complex):
            continue  # torch computes these in complex32
        compare(getattr(pointwise, name), getattr(aten, name), sample(shape, dtype), sample(part_of(shape), other))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
@pytest.mark.parametrize("name", WITH_NUMBER)
def test_number(name, dtype):
    for number in (True, 2, -3, 0, 1.5, -0.1, 300):
        compare(getattr(pointwise, name), getattr(aten, name), sample(random.choice(SHAPES), dtype), number)


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
def test_division(mode, dtype):
    for shape in SHAPES:
        divisor = sample(part_of(shape), dtype)
        if not (dtype.is_floating_point or dtype.is_complex):
            divisor = torch.where(divisor == 0, torch.ones_like(divisor), divisor)
        compare(pointwise.div_mode, aten.div, sample(shape, dtype), divisor, rounding_mode=mode)


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_powers(dtype):
    for exponent in (0, 1, 2, 3, 0.5, -1, -2, 2.5, True):
        if dtype in (torch.float16, torch.bfloat16) and exponent in (0.5, -0.5):
            continue  # torch differs from itself for infinities
        compare(pointwise.pow, aten.pow, sample(random.choice(SHAPES), dtype), exponent)
    for base in (1, 2, 0.5):
        compare(pointwise.pow, aten.pow, base, sample(random.choice(SHAPES), dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=NAMES)
def test_choosing(dtype):
    for shape in SHAPES:
        x, y, mask = sample(shape, dtype), sample(part_of(shape), dtype), sample(part_of(shape), torch.bool)
        compare(pointwise.where, aten.where, mask, x, y)
        for value in (1, 2.5, 300, -1, float("nan")):
            compare(pointwise.masked_fill, aten.masked_fill, x, mask, value)
        for low, high in ((0, 2), (None, 1), (-1.5, None), (2, 1), (None, None)):
            compare(pointwise.clamp, aten.clamp, x, low, high)
        compare(pointwise.addcmul, aten.addcmul, x, y, y, value=2)
        compare(pointwise.addcdiv, aten.addcdiv, x, y, x, value=2)
        compare(pointwise.lerp, aten.lerp, x, sample(shape, dtype), 0.3)


@pytest.mark.parametrize("approximate", ["none", "tanh", "other"])
def test_gelu(approximate):
    """The backward in double precision: in single, torch and mindtorch are both off by 1e-5."""
    x, grad = (torch.randn(50_000) * 3 for _ in range(2))
    compare(pointwise.gelu, aten.gelu, x, approximate=approximate)
    compare(pointwise.gelu_backward, aten.gelu_backward, grad.double(), x.double(), approximate=approximate)


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "relu", "silu", "exp", "leaky_relu"])
def test_large_arrays(name):
    """These run block by block."""
    x = torch.randn(300, 200)
    for operand in (x, x.t(), x[:, ::2], x.double()):
        compare(getattr(pointwise, name), getattr(aten, name), operand)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_large_arrays_of_half_precision(dtype):
    """These are widened block by block."""
    x, y = torch.randn(300, 200).to(dtype), torch.randn(300, 200).to(dtype)
    for a, b in ((x, y), (x.t(), y.t()), (x, y.t().reshape(300, 200)), (x[:, ::2], y[:, 1::2]), (x, y[0]), (x, x)):
        compare(pointwise.exp, aten.exp, a)
        compare(pointwise.add, aten.add, a, b)
        compare(pointwise.add, aten.add, a, b, alpha=0.5)
        compare(pointwise.mul, aten.mul, a, torch.tensor(0.3333))
        compare(pointwise.div, aten.div, torch.tensor(0.3333), b)
        compare(pointwise.lt, aten.lt, a, b)


@pytest.mark.parametrize("name", ["add", "mul", "div", "atan2"])
def test_out_is_an_operand(name):
    """An operand as `out`, whole or of another dtype; one that overlaps it in part is refused."""
    for dtype in ("float32", "float16", "bfloat16", "float64"):
        results = []
        for T in (mindtorch, torch):
            x, y = (T.tensor(data, dtype=getattr(T, dtype)) for data in ([1.5, -2.0, 3.25], [0.5, 4.0, -1.0]))
            getattr(T, name)(x, y, out=y)
            getattr(T, name)(y, y, out=y)
            getattr(T, name)(x, x, out=x)
            with pytest.raises(RuntimeError, match="single memory location"):
                getattr(T, name)(x[1:], y[1:], out=x[:-1])
            results.append((x.double().tolist(), y.double().tolist()))
        assert np.allclose(*results, rtol=1e-2 if dtype in ("float16", "bfloat16") else 1e-6)


# -------------------- reductions --------------------

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
        assert_same(actual, aten._softmax_backward_data(grad, x.softmax(dim), dim, torch.float32))


def test_long_sums_are_accurate():
    x = torch.rand(200_000, 3)
    expected = x.double().sum(0)
    actual = reduction.sum_dim(x.numpy(), [0])
    assert np.allclose(actual, expected, rtol=1e-6)
    assert np.allclose(reduction.cumsum(x.numpy(), 0)[-1], expected, rtol=1e-6)


@pytest.mark.parametrize("divisor", [3.0, -3.0, float("inf"), -float("inf"), 0.0])
def test_sign_of_a_zero_remainder(divisor):
    values = [6.0, -6.0, 0.0, -0.0, 5.0, -5.0]
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        own, expected = (
            T.remainder(T.tensor(values, dtype=getattr(T, dtype)), divisor).tolist() for T in (mindtorch, torch)
        )
        assert list(map(str, own)) == list(map(str, expected)), dtype


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_mean_into_integers(shape, dtype):
    def text(T):
        with pytest.raises(RuntimeError) as error:
            T.mean(T.zeros(shape, dtype=getattr(T, dtype)), 0, out=T.zeros(0, dtype=T.int64))
        return str(error.value)

    assert text(mindtorch) == text(torch)


# -------------------- series --------------------

BELOW_AND_ABOVE = np.concatenate([sign * np.append(2.0 ** -np.arange(2, 50), 0.19) for sign in (1, -1)])


@pytest.mark.parametrize("place", [1, 2])
def test_lgamma_near_its_zeros(place):
    x = torch.from_numpy(place + BELOW_AND_ABOVE)
    ours = torch.from_numpy(special.lgamma(x.numpy()))
    torch.testing.assert_close(ours, torch.lgamma(x), rtol=1e-15, atol=0)
    zero = special.lgamma(np.array([place], np.float32))
    assert zero == 0 and not np.signbit(zero)


def test_trigamma_of_large_numbers():
    x = 10.0 ** np.arange(2, 15, 0.05)
    expected = 1 / x + 0.5 / x**2 + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)
    np.testing.assert_allclose(special.polygamma(1, x), expected, rtol=1e-15)


# -------------------- orthogonal polynomials --------------------


@pytest.mark.parametrize("name", [name for name in dir(special) if "_polynomial_" in name])
def test_polynomials_of_many_degrees(name):
    """Degrees of more than one table, below 0 and up to where torch's limits are; in rows, columns and numbers."""
    x = torch.linspace(-1.3, 1.4, 61, dtype=torch.float64)
    degrees = torch.tensor([-3.0, 0, 1, 2, 5, 6, 7, 9, 15, 16, 17, 40], dtype=torch.float64)
    kernel, function = getattr(special, name), getattr(torch.special, name)
    for pair in ((x[:, None], degrees), (x, degrees[7]), (x[50], degrees), (x.repeat(90)[:, None], degrees)):
        expected = function(*pair)
        ours = torch.from_numpy(kernel(*[each.numpy() for each in pair]))
        torch.testing.assert_close(ours, expected, rtol=1e-9, atol=1e-11)
        assert ours.stride() == expected.stride()
