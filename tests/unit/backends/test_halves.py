"""float16 and bfloat16 of large arrays: conversions and computations give the bits that they give a few at a time."""

import ml_dtypes
import numpy as np
import pytest

import mindtorch as torch
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common import halves

HALF, BFLOAT16, FLOAT = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
ALL = np.arange(1 << 16, dtype=np.uint16)
FINITE = ALL[(ALL & 0x7C00) != 0x7C00]
FEW = 1 << 12  # elements that are computed in float32 and rounded, without more ado


def bits(array):
    return np.ascontiguousarray(array).view(np.uint16 if array.itemsize == 2 else np.uint32)


def singles():
    """Numbers around all that a float16 can be rounded to, and others that are far beyond."""
    exact = ALL[:0x7C00].view(HALF).astype(np.float64)
    ties = ((exact[1:] + exact[:-1]) / 2).astype(FLOAT)
    around = [exact.astype(FLOAT), ties, np.nextafter(ties, FLOAT.type(0)), np.nextafter(ties, FLOAT.type(9))]
    edges = np.array([65504, 65519.996, 65520, 65536, 3e38, 1e-45, 2**-25, 0], FLOAT)
    numbers = np.concatenate([*around, edges])
    return np.concatenate([numbers, -numbers])


def layouts(array):
    """The same elements, more or less, in memory of many kinds."""
    square = array[: 192 * 192].reshape(192, 192)
    cube = array[: 30 * 32 * 34].reshape(30, 32, 34)
    return {
        "row-major": square,
        "column-major": square.T,
        "permuted": cube.transpose(1, 0, 2),
        "gaps": array[: 2 * 96 * 192].reshape(192, 192)[:, ::2],
        "reversed": array[::-1],
        "expanded": np.broadcast_to(array[:300], (200, 300)),
        "size 1": cube.reshape(30, 1, -1).transpose(2, 1, 0),
    }


@pytest.mark.parametrize("dtype", [HALF, BFLOAT16], ids=str)
@pytest.mark.parametrize("numbers", [ALL, FINITE], ids=["all", "finite"])
@pytest.mark.parametrize("layout", list(layouts(ALL)))
def test_widened(dtype, numbers, layout):
    array = layouts(numbers.view(dtype))[layout]
    expected, found = quiet(array.astype, FLOAT), halves.converted(array, FLOAT)
    assert found.strides == expected.strides
    assert np.array_equal(bits(found), bits(expected))


@pytest.mark.parametrize("dtype", [HALF, BFLOAT16], ids=str)
@pytest.mark.parametrize("layout", list(layouts(ALL)))
@pytest.mark.parametrize("special", [[], [np.nan], [-np.nan, np.inf, -np.inf, 70000]], ids=["none", "nan", "all"])
def test_narrowed(dtype, layout, special):
    array = layouts(np.concatenate([np.array(special, FLOAT), singles()]))[layout]
    expected, found = quiet(array.astype, dtype), halves.converted(array, dtype)
    assert found.strides == expected.strides
    assert np.array_equal(bits(found), bits(expected))


@pytest.mark.parametrize("kind", ["same order", "another order", "same memory"])
def test_converted_into(kind):
    source = singles()[: 160 * 160].reshape(160, 160)
    target = {
        "same order": np.empty_like(source, HALF),
        "another order": np.empty_like(source, HALF, order="F"),
        "same memory": source.view(HALF)[:, :160],
    }[kind]
    expected = quiet(source.astype, HALF)
    halves.convert_into(target, source)
    assert np.array_equal(bits(target), bits(expected))


def tensor_of(numbers, dtype):
    return torch.tensor(numbers.view(np.int16)).view(dtype)


COMPUTATIONS = {
    "exp": lambda x, y: x.exp(),
    "neg": lambda x, y: -x,
    "abs": lambda x, y: x.abs(),
    "gelu": lambda x, y: torch.nn.functional.gelu(x),
    "number first": lambda x, y: 2.3 / x,
    "number last": lambda x, y: x * 1.7,
    "power": lambda x, y: x**3,
    "sum": lambda x, y: x + y,
    "in place": lambda x, y: x.clone().mul_(y),
    "three": lambda x, y: torch.addcmul(x, y, y, value=0.3),
    "truth": lambda x, y: x < y,
    "two dtypes": lambda x, y: x * (y > 0),
    "wider output": lambda x, y: torch.add(x, y, out=torch.empty(x.shape)),
    "backward": lambda x, y: torch.ops.aten.gelu_backward(x, y),
    "remainder": lambda x, y: torch.remainder(x, y),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", COMPUTATIONS)
def test_computed(dtype, name):
    compute = COMPUTATIONS[name]
    x = tensor_of(np.tile(ALL, 8), dtype)
    y = tensor_of(np.tile(np.random.default_rng(0).permutation(ALL), 8), dtype)
    expected = torch.cat([compute(x[at : at + FEW], y[at : at + FEW]) for at in range(0, len(x), FEW)])
    for shaped in (lambda t: t, lambda t: t.view(512, 1024), lambda t: t.view(512, 1024).t().contiguous().t()):
        found = compute(shaped(x), shaped(y)).contiguous().view(-1)
        assert found.dtype == expected.dtype
        assert torch.equal(_comparable(found), _comparable(expected))


def _comparable(tensor):
    return tensor if tensor.dtype is torch.bool else tensor.view(torch.int16 if tensor.itemsize == 2 else torch.int32)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_computed_of_expanded_and_overlapping(dtype):
    x = torch.randn(600, 900).to(dtype)
    row, column = torch.randn(900).to(dtype), torch.randn(600, 1).to(dtype)
    for other in (row, column, row[0]):
        whole = other.expand(600, 900).contiguous()
        assert torch.equal(x * other, x * whole)
        assert torch.equal(other - x, whole - x)
    woven = x.view(-1).clone()
    torch.add(woven[::2], 1, out=woven[1::2])
    assert torch.equal(woven[1::2], x.view(-1)[::2] + 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_few_into_given_memory(dtype):
    """The same bits in arrays that share memory with an operand, or have another layout or dtype."""
    x, y = torch.randn(20, 30).to(dtype), torch.randn(20, 30).to(dtype)
    expected = x.float().mul(y.float()).to(dtype)
    for target in (torch.empty(20, 30, dtype=dtype), torch.empty(30, 20, dtype=dtype).t(), torch.empty(20, 30)):
        assert torch.equal(torch.mul(x, y, out=target).to(dtype), expected)
    assert torch.equal(torch.mul(x, y, out=y.clone()), expected)
    assert torch.equal(x.clone().mul_(y), expected)
    with pytest.raises(RuntimeError, match="single memory location"):
        woven = x.view(-1).clone()
        torch.mul(woven[1:], 2, out=woven[:-1])


def test_memory_of_blocks_has_one_user():
    first = halves.scratch.take(3)
    second = halves.scratch.take(2)
    assert not any(np.shares_memory(a, b) for a in first for b in second)
    halves.scratch.give_back(first)
    assert all(a is b for a, b in zip(first, halves.scratch.take(3)))


@pytest.mark.parametrize("dtype", [HALF, BFLOAT16])
@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0, -0.0, np.inf, -np.inf])
def test_copysign_changes_nothing_but_the_sign(dtype, sign):
    numbers, signs = ALL.view(dtype), np.full(ALL.size, sign, dtype)
    expected = ALL & 0x7FFF | (0x8000 if np.signbit(sign) else 0)
    np.testing.assert_array_equal(bits(halves.copysign(numbers, signs)), expected)
    np.testing.assert_array_equal(bits(halves.copysign(numbers, signs[:1].reshape(()))), expected)
    for out in (np.empty_like(numbers), numbers.copy(), signs.copy()):
        x, y = [out if out is not None and np.array_equal(bits(each), bits(out)) else each for each in (numbers, signs)]
        np.testing.assert_array_equal(bits(halves.copysign(x, y, out)), expected)
