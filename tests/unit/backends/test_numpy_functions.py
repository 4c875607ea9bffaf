"""The quick forms of NumPy's functions give what NumPy's own give, of few elements and of many."""

import numpy as np
import pytest

from mindtorch._support import numpy_functions as quick

SIZES = (1, 16, 1 << 12, (1 << 12) + 1)
MASKS = {"none": 0, "one": 1, "all but one": -1, "all": None}


@pytest.mark.parametrize("count", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("size", (0, *SIZES))
def test_masks(size, count):
    mask = np.arange(size) < (size if count is None else count % (size + 1))
    for each in (mask, mask[::-1], mask.reshape(1, -1).T):
        assert quick.is_any(each) is bool(np.any(each))
        assert quick.is_all(each) is bool(np.all(each))


@pytest.mark.parametrize("dtype", ("int64", "uint8", "float32", "float64"))
@pytest.mark.parametrize("size", SIZES)
def test_extremes(size, dtype):
    array = np.random.default_rng(size).integers(0, 100, size).astype(dtype)
    for each in (array, array[::-2], array.reshape(-1, 1).T):
        assert quick.largest(each) == each.max() and quick.smallest(each) == each.min()
        low, high = int(each.min()), int(each.max())
        bounds = [(low, high + 1), (low, high), (low + 1, high + 1)]
        assert [quick.is_within(each, *pair) for pair in bounds] == [True, False, False]


@pytest.mark.parametrize("size", SIZES)
def test_extremes_with_nan(size):
    array = np.arange(size, dtype=np.float32)
    array[size // 2] = np.nan
    assert np.isnan(quick.largest(array)) and np.isnan(quick.smallest(array))


def test_nothing_is_within_any_bounds():
    assert quick.is_within(np.empty(0, np.int64), 0, 0)


@pytest.mark.parametrize("source", range(-3, 3))
@pytest.mark.parametrize("destination", range(-3, 3))
def test_moveaxis(source, destination):
    array = np.empty((2, 3, 4))
    moved, expected = quick.moveaxis(array, source, destination), np.moveaxis(array, source, destination)
    assert (moved.shape, moved.strides, moved.base) == (expected.shape, expected.strides, array)


@pytest.mark.parametrize("shape", ((3, 4), (5, 3, 4), (2, 3, 4), (1, 3, 4), (2000, 3, 4)))
def test_broadcast_to(shape):
    for array in (np.arange(4.0), np.arange(3.0)[:, None], np.arange(12.0).reshape(3, 4), np.array(1.0)):
        np.testing.assert_array_equal(quick.broadcast_to(array, shape), np.broadcast_to(array, shape), strict=True)


@pytest.mark.parametrize("shape", ((), (1,), (2, 3), (2, 0), (2, 3, 2)))
def test_ndindex(shape):
    assert list(quick.ndindex(shape)) == list(np.ndindex(*shape))


@pytest.mark.parametrize("shape", ((5,), (3, 5), (2, 3, 5), (2, 0), (0, 4)))
def test_take_along_last(shape):
    array = np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape)
    turned = np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape[::-1]).T
    for each in (array, turned):
        order = each.argsort(-1)
        for places in (order, order[..., :1], order[..., :0]):
            np.testing.assert_array_equal(
                quick.take_along_last(each, places), np.take_along_axis(each, places, -1), strict=True
            )


def test_stack():
    arrays = [np.arange(6.0).reshape(2, 3) + each for each in range(3)]
    np.testing.assert_array_equal(quick.stack(arrays), np.stack(arrays), strict=True)
