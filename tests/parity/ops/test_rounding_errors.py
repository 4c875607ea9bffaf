"""How wrong long sums are, over any dimension: no more than docs/numerics.md states, or a few times what torch's are.

The numbers are all equal, so that all roundings have one direction, or of both signs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch as peer

import mindtorch

UNITS = 64  # roundings of the sum of the magnitudes: what docs/numerics.md states
TIMES = 4  # the error of torch, where that is larger

ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53, "complex64": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
EXACT = {"float64": np.longdouble, "complex64": np.complex128}  # else float64


# -------------------- numbers --------------------


def equal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.full(shape, 0.1)


def of_both_signs(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape)


NUMBERS = (equal, of_both_signs)


def tensor(T: Any, values: np.ndarray, dtype: str) -> Any:
    if dtype == "bfloat16":
        return T.from_numpy(values.astype(np.float32)).to(T.bfloat16)
    return T.from_numpy(values.astype(dtype))


def exact(values: Any, dtype: str) -> np.ndarray:
    """What the numbers of a tensor are, in more digits."""
    wide = values.float() if dtype == "bfloat16" else values
    return np.asarray(wide.detach().numpy()).astype(EXACT.get(dtype, np.float64))


# -------------------- sums over dimensions --------------------


def plain(x: Any) -> Any:
    return x


def transposed(x: Any) -> Any:
    return x.transpose(0, -1)


def with_gaps(x: Any) -> Any:
    return x[..., ::2]


# Shape, layout, dimensions.
SUMS: list[tuple[tuple[int, ...], Callable[[Any], Any], Any]] = [
    ((1_000_000, 4), plain, 0),
    ((1_000_000, 4), plain, None),
    ((200_000, 4), with_gaps, 0),
    ((200_000, 4), with_gaps, None),
    ((4, 200_000), plain, 1),
    ((4, 200_000), with_gaps, 1),
    ((4, 200_000), transposed, 0),
    ((300_001,), plain, 0),
    ((300_001,), with_gaps, 0),
    ((20_000, 30), plain, 0),
    ((20_000, 30), with_gaps, 0),
    ((20_000, 30), transposed, 1),
    ((1_500, 600), plain, 0),
    ((1_500, 600), with_gaps, 0),
    ((3, 5_000, 7), plain, 1),
    ((3, 5_000, 7), with_gaps, 1),
    ((3, 5_000, 80), plain, (0, 1)),
    ((3, 5_000, 80), with_gaps, (0, 1)),
    ((50, 3, 2_000), plain, (0, 2)),
    ((50, 3, 2_000), transposed, (0, 2)),
    ((2_000, 3, 50), with_gaps, (0, 2)),
]


def check(ours: Any, theirs: Any, expected: np.ndarray, magnitude: Any, dtype: str, units: float = UNITS) -> None:
    """`magnitude`: the sum of the magnitudes of the terms, for every result."""
    errors = [
        np.abs(exact(each, dtype) - expected).max() / np.max(magnitude) / ROUNDING[dtype] for each in (ours, theirs)
    ]
    assert np.isfinite(errors[0])
    assert errors[0] <= max(units, TIMES * errors[1]), f"{errors[0]:.1f} roundings, torch {errors[1]:.1f}"


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("number", range(len(SUMS)))
def test_sum(number, dtype):
    shape, layout, dim = SUMS[number]
    if dtype != "float32":  # one in three
        if number % 3 != list(ROUNDING).index(dtype) % 3:
            return
        shape = tuple([extent if extent < 1_000_000 else extent // 10 for extent in shape])
    rng = np.random.default_rng(0)
    for numbers in NUMBERS:
        values = numbers(rng, shape)
        if dtype == "float16":
            values /= np.prod(shape)  # the sum is to be finite
        ours, theirs = [layout(tensor(T, values, dtype)) for T in (mindtorch, peer)]
        wide = exact(theirs, dtype)
        expected, magnitude = wide.sum(dim), np.abs(wide).sum(dim)
        sums = [x.sum() if dim is None else x.sum(dim) for x in (ours, theirs)]
        check(*sums, expected, magnitude, dtype)
        if dtype in ("float16", "bfloat16"):  # rounded once
            assert (
                np.abs(exact(sums[0], dtype) - expected).max()
                <= 0.6 * 2 * ROUNDING[dtype] * np.abs(expected).max() + 1e-7
            )


@pytest.mark.parametrize("shape", [(10_000_000,), (5_000_000, 2)])
def test_ten_million_numbers(shape):
    for numbers in NUMBERS:
        x = numbers(np.random.default_rng(0), shape).astype(np.float32)
        expected, magnitude = x.sum(0, np.float64), np.abs(x).sum(0, np.float64)
        ours, theirs = (T.from_numpy(x) for T in (mindtorch, peer))
        check(ours.sum(0), theirs.sum(0), expected, magnitude, "float32")
        check(ours.mean(0), theirs.mean(0), expected / len(x), magnitude / len(x), "float32")


# -------------------- what is made of sums --------------------


@dataclass(frozen=True)
class Case:
    """A function of the library and a large matrix, and how large the terms of its sums are."""

    function: Callable[[Any, Any], Any]
    magnitude: Callable[[np.ndarray], Any]
    shape: tuple[int, ...] = (100_000, 6)
    units: float = UNITS


def columns(x: np.ndarray) -> Any:
    return np.abs(x).sum(0).max()


def squares(x: np.ndarray) -> Any:
    return (x * x).mean(0).max()


def one(x: np.ndarray) -> float:
    return 1.0


def gradient(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[Any, Any], Any]:
    """The gradient for the last of some tensors of ones, if the first one's own is the matrix."""

    def run(T: Any, x: Any) -> Any:
        leaves = [T.ones(shape, dtype=x.dtype, requires_grad=True) for shape in shapes]
        result = function(T, *leaves)
        result.backward(x.reshape(result.shape))
        return leaves[-1].grad

    return run


def first_row(T: Any, x: Any) -> Any:
    return T.zeros(len(x), dtype=T.int64)


CASES = {
    "mean": Case(lambda T, x: x.mean(0), lambda x: np.abs(x).mean(0).max()),
    "nansum": Case(lambda T, x: x.nansum(0), columns),
    "var": Case(lambda T, x: x.var(0), squares),
    "var of all": Case(lambda T, x: x.var(), squares),
    "std": Case(lambda T, x: x.std(0), lambda x: squares(x) ** 0.5),
    "var of rows": Case(lambda T, x: x.var(1), squares, (6, 100_000)),
    "norm": Case(lambda T, x: T.linalg.vector_norm(x, 2, 0), lambda x: np.sqrt((x * x).sum(0)).max()),
    "norm of rows": Case(
        lambda T, x: T.linalg.vector_norm(x, 2, 1), lambda x: np.sqrt((x * x).sum(1)).max(), (6, 100_000)
    ),
    "1-norm": Case(lambda T, x: T.linalg.vector_norm(x, 1, 0), columns),
    "3-norm": Case(lambda T, x: T.linalg.vector_norm(x, 3, 0), lambda x: (np.abs(x) ** 3).sum(0).max() ** (1 / 3)),
    "logsumexp": Case(lambda T, x: x.logsumexp(0), lambda x: 10.0),
    "softmax": Case(lambda T, x: x.softmax(0) * len(x), lambda x: np.exp(np.abs(x)).max()),
    "log_softmax": Case(lambda T, x: x.log_softmax(0), lambda x: 10.0),
    "cumsum": Case(lambda T, x: x.cumsum(0), columns),
    "prod": Case(lambda T, x: (1 + x / len(x)).prod(0), lambda x: np.exp(np.abs(x).mean(0)).max(), units=2000),
    "matmul": Case(lambda T, x: T.ones(1, len(x), dtype=x.dtype) @ x, columns),
    "einsum": Case(lambda T, x: T.einsum("ij->j", x), columns),
    "einsum of two": Case(lambda T, x: T.einsum("ij,ij->j", x, x), lambda x: (x * x).sum(0).max()),
    "index_add": Case(lambda T, x: T.zeros(2, 6, dtype=x.dtype).index_add(0, first_row(T, x), x), columns),
    "scatter_add": Case(
        lambda T, x: T.zeros(2, 6, dtype=x.dtype).scatter_add(0, T.zeros(x.shape, dtype=T.int64), x), columns
    ),
    "bincount": Case(lambda T, x: first_row(T, x).bincount(x[:, 0].contiguous()), columns),
    "segment_reduce": Case(
        lambda T, x: T.segment_reduce(x, "sum", lengths=T.tensor([len(x)]), axis=0, unsafe=False), columns
    ),
    "histc": Case(lambda T, x: x[:, 0].histc(3, -5, 5), lambda x: len(x)),
    "mse_loss": Case(lambda T, x: T.nn.functional.mse_loss(x, T.zeros_like(x)), squares),
    "l1_loss": Case(lambda T, x: T.nn.functional.l1_loss(x, T.zeros_like(x)), lambda x: np.abs(x).mean()),
    "cross_entropy": Case(lambda T, x: T.nn.functional.cross_entropy(x, first_row(T, x)), lambda x: 2.0),
    "avg_pool": Case(lambda T, x: T.nn.functional.adaptive_avg_pool1d(x.t(), 1), lambda x: np.abs(x).mean(0).max()),
    "broadcast gradient": Case(gradient(lambda T, a, b: a + b, (100_000, 6), (6,)), columns),
    "gradient of a number": Case(gradient(lambda T, a, b: a * b, (100_000, 6), ()), lambda x: np.abs(x).sum()),
    "bias gradient": Case(
        gradient(lambda T, a, w, b: T.nn.functional.linear(a, w, b), (100_000, 2), (6, 2), (6,)), columns
    ),
    "convolution's bias gradient": Case(
        gradient(lambda T, a, w, b: T.nn.functional.conv1d(a, w, b), (1, 1, 100_000), (6, 1, 1), (6,)),
        lambda x: np.abs(x).sum(1).max(),
        (6, 100_000),
    ),
    "batch_norm's bias gradient": Case(
        gradient(lambda T, a, w, b: T.nn.functional.batch_norm(a, None, None, w, b, True), (100_000, 6), (6,), (6,)),
        columns,
    ),
    "layer_norm's bias gradient": Case(
        gradient(lambda T, a, w, b: T.nn.functional.layer_norm(a, (6,), w, b), (100_000, 6), (6,), (6,)), columns
    ),
    "group_norm's bias gradient": Case(
        gradient(lambda T, a, w, b: T.nn.functional.group_norm(a, 2, w, b), (1, 6, 100_000), (6,), (6,)),
        lambda x: np.abs(x).sum(1).max(),
        (6, 100_000),
    ),
    "batch_norm": Case(lambda T, x: T.nn.functional.batch_norm(x, None, None, training=True), lambda x: 5.0),
    "layer_norm": Case(lambda T, x: T.nn.functional.layer_norm(x, (100_000,)), lambda x: 5.0, (6, 100_000)),
}


@pytest.mark.parametrize("name", CASES)
def test_sums_in_other_ops(name):
    """Against torch in double precision."""
    case = CASES[name]
    for numbers in NUMBERS:
        values = numbers(np.random.default_rng(0), case.shape)
        ours, theirs = [tensor(T, values, "float32") for T in (mindtorch, peer)]
        expected = exact(case.function(peer, theirs.double()), "float64").astype(np.float64)
        magnitude = case.magnitude(exact(theirs, "float32"))
        check(case.function(mindtorch, ours), case.function(peer, theirs), expected, magnitude, "float32", case.units)


# -------------------- variances of equal numbers --------------------


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("shape", [(10,), (1_000,), (1_000, 3), (3, 3_000), (7, 5, 300), (50_000, 2)])
def test_equal_numbers_do_not_vary(shape, dtype):
    """Not by the rounding error of their mean, which is what torch has for many."""
    F = mindtorch.nn.functional
    for number in (0.1, 1e-3, 1000.1, 3e4):
        x = mindtorch.full(shape, number, dtype=getattr(mindtorch, dtype))
        for layout in (x, x.transpose(0, -1)):
            for dim in (None, *range(len(shape))):
                assert layout.var(dim).abs().max() == 0 == layout.std(dim).abs().max()
                assert mindtorch.var_mean(layout, dim)[0].abs().max() == 0
        if dtype != "complex64":
            assert F.layer_norm(x, shape[-1:]).abs().max() == 0
        if dtype != "complex64" and len(shape) > 1:
            assert F.batch_norm(x, None, None, training=True).abs().max() == 0


@pytest.mark.parametrize("spread", [1.0, 1e-2, 1e-4, 1e-5, 1e-6])
def test_small_variances_of_large_numbers(spread):
    values = (1000 + 1000 * spread * np.random.default_rng(0).standard_normal((5_000, 6))).astype(np.float32)
    expected = values.astype(np.float64).var(0, ddof=1)
    for x in (mindtorch.from_numpy(values), mindtorch.from_numpy(np.ascontiguousarray(values.T)).t()):
        assert np.abs(x.var(0).numpy() / expected - 1).max() < 1e-6


# -------------------- integers --------------------


def test_sums_of_integers_wrap_around():
    for dtype, number in (("int64", 2**62), ("int32", 2**31 - 1), ("uint8", 255), ("bool", 1)):
        values = np.full((5, 3), number, dtype)
        ours, theirs = (T.from_numpy(values) for T in (mindtorch, peer))
        for call in (
            lambda x: x.sum(),
            lambda x: x.sum(0),
            lambda x: x.prod(),
            lambda x: x.prod(1),
            lambda x: x.cumsum(0),
        ):
            assert call(ours).tolist() == call(theirs).tolist() and str(call(ours).dtype) == str(call(theirs).dtype)
    narrow = [T.full((300,), 100, dtype=T.int8).sum(dtype=T.int8).tolist() for T in (mindtorch, peer)]
    assert narrow[0] == narrow[1]


def test_integers_have_no_mean():
    refusal = "could not infer output dtype|only support floating point and complex"
    for x in (mindtorch.arange(4), peer.arange(4)):
        for call in (x.mean, x.var, x.std, lambda x=x: x.mean(0)):
            with pytest.raises(RuntimeError, match=refusal):
                call()
