"""`torch.testing`: random tensors for tests, and comparisons."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()
DTYPES = "float32 float64 float16 bfloat16 complex64 uint8 int8 int16 int32 int64 bool".split()
OPTIONS = (
    {},
    {"low": -3, "high": 5},
    {"low": 0.5, "high": 3.5},
    {"noncontiguous": True},
    {"exclude_zero": True},
    {"requires_grad": True},
    {"low": 3, "high": 3},
    {"low": 5, "high": 2},
    {"low": float("nan")},
)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_make_tensor(dtype, options):
    def make(T):
        T.manual_seed(0)
        return T.testing.make_tensor((2, 3), dtype=getattr(T, dtype), device="cpu", **options)

    assert_same(make)


@program
def shapes_of_made_tensors(T):
    make = T.testing.make_tensor
    shapes = [make(*shape, dtype=T.float32, device="cpu").shape for shape in ((), (2,), ([2, 0],), (T.Size([1]),))]
    both = {"noncontiguous": True, "memory_format": T.contiguous_format}
    return [tuple(shape) for shape in shapes], tried(make, 2, dtype=T.float32, device="cpu", **both)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "bfloat16", "complex64", "int64"))
def test_assert_allclose(dtype):
    def close(T):
        one = T.ones(2, dtype=getattr(T, dtype))
        return tried(T.testing.assert_allclose, one, one * 2), tried(T.testing.assert_allclose, one, one)

    assert_same(close)


@program
def allclose_of_other_things(T):
    close, one, nan = T.testing.assert_allclose, T.ones(2), T.tensor(float("nan"))
    calls = (one, [1, 1.1]), (1, 2), (one, one.double()), ([1.0, 2.0], [1, 2]), (one, T.ones(3)), (nan, nan)
    return [tried(close, *call) for call in calls], tried(close, one, one, rtol=1), tried(close, one, -one, msg="hey")
