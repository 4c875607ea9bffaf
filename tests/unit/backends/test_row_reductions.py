"""Reductions of many short rows against NumPy's own."""

from itertools import product

import numpy as np
import pytest

from mindtorch.backends.cpu.common import rowwise

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 127, 128, 129]
DTYPES = [np.float32, np.float64, np.int64, np.int16, np.bool_]
FUNCTIONS = [np.maximum, np.minimum, np.multiply]


def rows_of(length, dtype, count):
    numbers = np.random.default_rng(length).uniform(0.5, 1.7, (count, length))
    return (numbers if np.dtype(dtype).kind == "f" else numbers - 0.5).astype(dtype)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_length_and_dtype(length, dtype):
    for function, count in product(FUNCTIONS, (511, 512, 1500)):
        rows = rows_of(length, dtype, count)
        expected = function.reduce(rows, 1, rows.dtype)
        for keepdim, shape in ((False, (count,)), (True, (count, 1))):
            result = rowwise.reduce_rows(function, rows, (1,), keepdim)
            assert result.dtype == expected.dtype and result.shape == shape
            np.testing.assert_allclose(result.reshape(-1), expected, rtol=2e-4 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("place", [0, 1, 4, -1])
def test_nan_and_infinity_stay_in_their_row(function, place):
    rows = rows_of(5, np.float32, 1000)
    rows[::7, place], rows[3::7, place] = np.nan, np.inf
    np.testing.assert_allclose(
        rowwise.reduce_rows(function, rows, (1,), False), function.reduce(rows, 1), rtol=1e-5, equal_nan=True
    )


TAKEN = {  # shape, dims, and whether the rows are combined here
    "short rows": ((1000, 5), (1,), True),
    "two dimensions": ((1000, 2, 3), (2, 1), True),
    "the longest short rows": ((512, 32), (1,), True),
    "longer ones": ((1000, 33), (1,), False),
    "few rows": ((511, 5), (1,), False),
    "another dimension": ((5, 1000), (0,), False),
    "dimensions apart": ((4, 1000, 4), (0, 2), False),
    "everything": ((1000, 5), (0, 1), False),
    "nothing": ((1000, 5), (), False),
}


@pytest.mark.parametrize("case", TAKEN)
def test_what_is_combined_here(case):
    shape, dims, is_taken = TAKEN[case]
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    assert bool(rowwise._row_length(array, dims)) is is_taken
    assert not rowwise._row_length(array.T, dims)
    result = rowwise.reduce_rows(np.maximum, array, dims, False)
    np.testing.assert_array_equal(result, np.maximum.reduce(array, dims))
