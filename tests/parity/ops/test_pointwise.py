"""Pointwise kernels against torch, on arrays, over many dtypes and layouts."""

import random

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.ops.arrays import DTYPES, NAMES, SHAPES, aten, compare, pointwise, sample, special


@pytest.fixture(autouse=True)
def seed(request):
    random.seed(request.node.name)
    torch.manual_seed(0)


def part_of(shape):
    kept = [size if random.random() < 0.7 else 1 for size in shape]
    return tuple(kept[random.randint(0, len(kept)) :])


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


@pytest.mark.parametrize("divisor", [3.0, -3.0, float("inf"), -float("inf"), 0.0])
def test_sign_of_a_zero_remainder(divisor):
    values = [6.0, -6.0, 0.0, -0.0, 5.0, -5.0]
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        own, expected = (
            T.remainder(T.tensor(values, dtype=getattr(T, dtype)), divisor).tolist() for T in (mindtorch, torch)
        )
        assert list(map(str, own)) == list(map(str, expected)), dtype
