"""Running sums and products of many numbers have the bits that NumPy's have in float64, rounded at the end."""

import numpy as np
import pytest

from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common import reducing

FUNCTIONS = {reducing.running_sum: np.add, reducing.running_product: np.multiply}
SHAPES = [
    (1 << 14,),
    ((1 << 14) - 1,),
    (1000, 17),
    (3, 5, 2000),
    (40, 1 << 10),
    (2, 16383),
    (1 << 14, 1),
    (0, 5),
    (5, 0),
]
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def numbers(shape):
    values = np.random.default_rng(0).standard_normal(shape).astype(SINGLE)
    flat = values.reshape(-1)
    flat[100::4001], flat[200::5003], flat[:1] = np.nan, np.inf, -0.0
    return values


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_bits_as_in_double_precision(function, shape):
    values = numbers(shape)
    for array in (values, values.T, values[..., ::2], np.asfortranarray(values)):
        for axis in range(array.ndim):
            is_by_products = function is reducing.running_sum and array.shape[axis] >= 1 << 14
            expected = quiet(FUNCTIONS[function].accumulate, array, axis, DOUBLE)
            expected = quiet((expected + 0.0 if function is reducing.running_sum else expected).astype, SINGLE)
            result = quiet(quiet(function, array, axis, DOUBLE).astype, SINGLE)
            if is_by_products:
                np.testing.assert_allclose(result, expected, rtol=1e-6)
            else:
                np.testing.assert_array_equal(result, expected)
                assert (np.signbit(result) == np.signbit(expected))[~np.isnan(expected)].all()


def test_which_numbers_are_copied_to_float64_in_parts():
    def kind(array, axis=-1, dtype=DOUBLE):
        return reducing.running_product(array, axis % array.ndim, dtype).dtype

    many = np.ones((16, 1 << 10), SINGLE)
    assert kind(many) == SINGLE
    assert {kind(many, 0), kind(many.T), kind(many[1:]), kind(many.astype(DOUBLE))} == {DOUBLE}
    assert kind(many, -1, SINGLE) == SINGLE and kind(many.astype(np.int64), -1, np.dtype(np.int64)) == np.int64
