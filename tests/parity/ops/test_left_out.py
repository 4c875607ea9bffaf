"""Small things of many operators that are easily left out: what overflows, what an index may be, roots of infinity."""

import numpy as np
import pytest

from tests.parity.support.programs import assert_same

MASK = [1, 0, 1]
OVERFLOWS = [
    ("uint8", 300), ("uint8", -1), ("int8", 200), ("int32", 2**40), ("int64", 2**63), ("float16", 1e6),
    ("bfloat16", 1e39), ("float32", 1e39), ("float64", 1e300), ("int16", 30000),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "alpha"), OVERFLOWS)
@pytest.mark.parametrize("op", ["add", "sub", "add_", "sub_"])
def test_factors(dtype, alpha, op):
    def program(T):
        x = T.ones(2, dtype=getattr(T, dtype))
        return getattr(x, op)(T.ones(2, dtype=x.dtype), alpha=alpha)

    assert_same(program)


INDICES = {
    "NumPy's bool": lambda T: np.bool_(True),
    "NumPy's float": lambda T: np.float64(1.0),
    "floats of NumPy": lambda T: np.array([0.5, 1.0]),
    "NumPy's integer": lambda T: np.int64(1),
    "float": lambda T: 1.0,
}


@pytest.mark.parametrize("name", INDICES)
def test_indices(name):
    assert_same(lambda T: T.arange(3.0)[INDICES[name](T)])


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("value", [lambda T: 2.0, lambda T: T.tensor(2.0), lambda T: T.tensor([2.0, 3.0])])
def test_numbers_for_masks_of_bytes(value):
    def program(T):
        x = T.zeros(3)
        x[T.tensor(MASK, dtype=T.uint8)] = value(T)
        return x

    assert_same(program)


@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 4, 2)])
def test_masks_of_meta_tensors(shape):
    assert_same(lambda T: tuple(T.zeros(shape, device="meta")[T.tensor(MASK).bool()].shape))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [0.5, -0.5])
def test_roots_of_infinity(dtype, exponent):
    assert_same(lambda T: T.tensor([-float("inf"), 4.0, -0.0, -1.0], dtype=getattr(T, dtype)).pow(exponent))
