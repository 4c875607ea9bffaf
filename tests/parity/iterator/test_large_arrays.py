"""Kernels take other ways with large arrays: the values are torch's there too, with every special number in between."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mindtorch  # noqa: E402

SPECIAL = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40, 5, -5, 20, -20, 100, -100])
FINITE = np.array([0, -0.0, 1, -1, 3e37, -3e37, 1e-40, 5, -5])
SHAPES = ((100, 1000), (30, 40, 50), (1000, 64), (7, 5000), (7, 5003), (20, 1500), (2, 40000))


def numbers(*shape: int, special: np.ndarray = SPECIAL[:0], scale: float = 1.0) -> np.ndarray:
    """Normal numbers, the special ones spread among them."""
    source = np.random.RandomState(0)
    values = source.randn(int(np.prod(shape))) * scale
    values[source.permutation(values.size)[: special.size]] = special
    return values.reshape(shape).astype(np.float32)


def assert_same(function, *arrays: np.ndarray, tolerance: float) -> None:
    own = function(mindtorch, *map(mindtorch.tensor, arrays))
    expected = function(torch, *map(torch.tensor, arrays))
    assert own.shape == expected.shape
    assert own.stride() == expected.stride()
    assert str(own.dtype) == str(expected.dtype)
    np.testing.assert_allclose(own.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("keepdim", (False, True))
@pytest.mark.parametrize("name", ("sum", "mean"))
def test_sums_of_rows(name, keepdim, shape):
    for dim in (-1, tuple(range(1, len(shape))), tuple(range(len(shape)))):
        assert_same(lambda T, x, dim=dim: getattr(x, name)(dim, keepdim=keepdim), numbers(*shape), tolerance=1e-4)


@pytest.mark.parametrize("name", ("sum", "mean"))
def test_sums_of_rows_with_special_numbers(name):
    for row in ([np.inf, 1], [np.inf, -np.inf], [np.nan, 1], [-np.inf, 3]):
        values = numbers(40, 1000)
        values[7, 100:102] = row
        assert_same(lambda T, x: getattr(x, name)(-1), values, tolerance=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale, shift", ((1, 0), (30, 0), (1, -70), (1, 79), (5, 200), (1e6, 0)))
@pytest.mark.parametrize("name", ("softmax", "log_softmax"))
def test_softmax(name, scale, shift, shape):
    assert_same(lambda T, x: getattr(T, name)(x * scale + shift, -1), numbers(*shape), tolerance=4e-6)


@pytest.mark.parametrize("name", ("softmax", "log_softmax"))
@pytest.mark.parametrize("special", ([np.inf], [np.nan], [-np.inf], [np.inf, -np.inf], [-np.inf] * 1000))
def test_softmax_of_special_numbers(name, special):
    values = numbers(40, 1000)
    values[7, : len(special)] = special
    assert_same(lambda T, x: getattr(T, name)(x, -1), values, tolerance=1e-6)


@pytest.mark.parametrize("count", (1 << 14, (1 << 14) + 1, 20_000, 100_003, 1 << 18))
def test_running_sums(count):
    assert_same(lambda T, x: T.cumsum(x, 0), numbers(count), tolerance=1e-6)
    assert_same(lambda T, x: T.cumsum(x, 0), numbers(count, scale=1e37, special=FINITE), tolerance=1e-6)
    assert_same(lambda T, x: T.cumsum(x, -1), numbers(3, count), tolerance=1e-6)
    assert_same(lambda T, x: T.cumsum(x, -1, dtype=T.float64), numbers(3, count), tolerance=1e-12)


@pytest.mark.parametrize("special", ([np.inf], [np.nan], [np.inf, -np.inf], [3e38, 3e38, -3e38]))
@pytest.mark.parametrize("place", (0, 5_000, 49_990))
def test_running_sums_of_special_numbers(place, special):
    values = numbers(50_000)
    values[place : place + len(special)] = special
    assert_same(lambda T, x: T.cumsum(x, 0), values, tolerance=1e-6)


@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.int64, np.int32))
@pytest.mark.parametrize("count", (1 << 14, 50_001))
def test_products(count, dtype):
    near_one = (1 + numbers(count) * 1e-3 if np.dtype(dtype).kind == "f" else np.sign(numbers(count))).astype(dtype)
    assert_same(lambda T, x: T.prod(x), near_one, tolerance=1e-4)
    assert_same(lambda T, x: T.prod(x.reshape(-1, 1)), near_one, tolerance=1e-4)
    wild = (numbers(count) * 5).astype(dtype)
    assert_same(lambda T, x: T.prod(x), wild, tolerance=1e-4)


ACTIVATIONS = (
    "silu", "elu", "mish", "hardswish", "sigmoid", "leaky_relu", "celu", "selu", "softplus", "logsigmoid", "relu6",
    "gelu",
)  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("count", (16, 70_000))
def test_activations(count, name):
    special = SPECIAL[SPECIAL != np.inf] if name == "gelu" else SPECIAL  # gelu(inf) is NaN in torch, infinity here
    function = lambda T, x: getattr(T.nn.functional, name)(x)  # noqa: E731
    assert_same(function, numbers(count, scale=4, special=special), tolerance=3e-6)
    assert_same(function, numbers(count, scale=4, special=special).astype(np.float64), tolerance=1e-9)
    assert_same(lambda T, x: function(T, x[::2]), numbers(count, scale=4, special=special), tolerance=3e-6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_of_activations(name):
    def program(T, x):
        x.requires_grad_()
        getattr(T.nn.functional, name)(x).sum().backward()
        return x.grad

    assert_same(program, numbers(70_000, scale=4), tolerance=5e-6)
    assert_same(program, numbers(70_000, scale=4).astype(np.float64), tolerance=1e-9)


@pytest.mark.parametrize("name", ("silu", "elu", "mish", "hardswish", "leaky_relu", "celu", "selu", "relu6"))
def test_activations_in_place(name):
    values = numbers(70_000, scale=4, special=SPECIAL)
    assert_same(lambda T, x: getattr(T.nn.functional, name)(x, inplace=True), values, tolerance=3e-6)


@pytest.mark.parametrize("weight", (0.3, 0.7, 0.5, float("nan"), 2.0, -1.0))
def test_lerp(weight):
    start, end = numbers(70_000, scale=4, special=SPECIAL), numbers(70_000)
    assert_same(lambda T, a, b: T.lerp(a, b, weight), start, end, tolerance=1e-6)
    assert_same(lambda T, a, b: T.lerp(a, b, T.tensor(weight)), start, end, tolerance=1e-6)
    assert_same(lambda T, a, b: T.lerp(a[:0], b[:0], T.tensor(weight)), start, end, tolerance=1e-6)
    weights = numbers(4)
    assert_same(lambda T, a, b, w: T.lerp(a.reshape(-1, 4), b.reshape(-1, 4), w), start, end, weights, tolerance=1e-5)


@pytest.mark.parametrize("dtype", ("int64", "int32", "int16", "int8", "uint8"))
@pytest.mark.parametrize("largest", (100, 2**31, 2**62))
def test_products_of_integers(largest, dtype):
    """Sums that float64 cannot hold, and those that overflow, are as exact as small ones."""
    limits, source = np.iinfo(dtype), np.random.default_rng(0)
    low, high = max(limits.min, -largest), min(limits.max, largest)
    a, b = (source.integers(low, high, shape, dtype, endpoint=True) for shape in ((64, 70), (70, 65)))
    assert_same(lambda T, x, y: x @ y, a, b, tolerance=0)
    assert_same(lambda T, x, y: x @ y, np.stack([a, a]), np.stack([b, b]), tolerance=0)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "int32"))
@pytest.mark.parametrize(
    "bounds",
    [(0, 50000), (5, 70000, 3), (-7, -9000, -11), ((1 << 24) - 999, (1 << 24) + 9000), (0.5, 9000, 1.5)],
    ids=str,
)
def test_ranges(bounds, dtype):
    if dtype == "int32" and bounds[0] == 0.5:
        pytest.skip("torch has no such steps of integers")
    own, expected = (T.arange(*bounds, dtype=getattr(T, dtype)).numpy() for T in (mindtorch, torch))
    assert np.array_equal(own, expected)
    assert np.array_equal(np.signbit(own), np.signbit(expected))


def test_inverse_of_erf_beyond_its_ends():
    values = numbers(300, 300, special=np.array([1, -1, np.inf, -np.inf, np.nan, 2]))
    assert_same(lambda T, x: T.erfinv(x), values, tolerance=1e-5)


@pytest.mark.parametrize("name", ("cumsum", "cumprod"))
@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_running_totals_in_16_bits(dtype, name):
    for values in (numbers(300, 400), numbers(3, 20000) * 0.2 + 0.9):
        for dim in (0, 1):
            assert_same(
                lambda T, x, dim=dim: getattr(T, name)(x.to(getattr(T, dtype)), dim).float(), values, tolerance=0
            )


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
@pytest.mark.parametrize("exponent", (2, 3, -1, -2))
def test_powers_in_16_bits(exponent, dtype):
    """torch rounds a cube in bfloat16 twice."""
    values = numbers(1000, 600, special=SPECIAL)
    assert_same(lambda T, x: (x.to(getattr(T, dtype)) ** exponent).float(), values, tolerance=0)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
def test_rows_added_in_16_bits(dtype):
    values, places = numbers(200, 300), np.random.default_rng(0).integers(0, 200, 200)
    assert_same(
        lambda T, x, i: T.index_add(x.to(getattr(T, dtype)), 0, i, x.to(getattr(T, dtype))).float(),
        values,
        places,
        tolerance=2e-2,
    )
