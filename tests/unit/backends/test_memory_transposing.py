"""Large copies between memory orders: the same elements as a plain copy, whichever way is taken."""

import numpy as np
import pytest

from mindtorch.backends.cpu.common.transposing import copy_elements, walk_of

WAYS = {
    "_copy_blocks": [
        ((700, 512), (1, 0)),
        ((300, 1024), (1, 0)),
        ((4, 40, 512, 33), (2, 3, 0, 1)),
        ((65, 16385), (1, 0)),
    ],
    "_copy_columns": [((4, 3, 200, 200), (0, 2, 3, 1)), ((5, 50_000), (1, 0))],
    "_copy_runs": [((8, 64, 50, 14), (0, 2, 1, 3)), ((300, 40, 5), (1, 0, 2))],
    None: [((70_000,), (0,)), ((300, 300), (1, 0)), ((4, 4, 50, 60), (0, 3, 1, 2)), ((3, 40_000), (0, 1))],
}
CASES = [(way, *case) for way, cases in WAYS.items() for case in cases]


def way_of(target, source):
    return walk_of(target.shape, target.strides, source.strides, target.itemsize)


@pytest.mark.parametrize(("way", "shape", "order"), CASES)
def test_which_way_is_taken(way, shape, order):
    source = np.zeros(shape, np.float32).transpose(order)
    walk = way_of(np.empty(source.shape, np.float32), source)
    assert (walk and walk.copy.__name__) == way


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize(("way", "shape", "order"), CASES)
def test_copied_elements(way, shape, order, dtype):
    source = (np.arange(np.prod(shape)) % 100).astype(dtype).reshape(shape).transpose(order)
    target = np.zeros(source.shape, dtype)
    copy_elements(target, source)
    assert np.array_equal(target, source)


@pytest.mark.parametrize("seed", range(60))
def test_copies_of_random_layouts(seed):
    """Permuted, stepped, reversed and expanded, both the target and the source."""
    random = np.random.default_rng(seed)
    shape = tuple(random.choice([1, 2, 3, 40, 70, 300], random.integers(2, 5)))
    if np.prod(shape) > 2_000_000:
        shape = shape[:2]
    target, source = (layout(random, shape) for _ in range(2))
    expected = target.copy()
    np.copyto(expected, source)
    before = target.base.sum() - target.sum() if target.base is not None else 0
    copy_elements(target, source)
    assert np.array_equal(target, expected)
    after = target.base.sum() - target.sum() if target.base is not None else 0
    assert before == after  # nothing else was written


def layout(random, shape):
    order = random.permutation(len(shape))
    steps = random.choice([1, 1, 2], len(shape))
    large = [shape[dim] * steps[dim] for dim in order]
    values = np.arange(np.prod(large), dtype=np.int64).reshape(large).transpose(np.argsort(order))
    return values[tuple([slice(None, None, step * random.choice([1, 1, -1])) for step in steps])]


def test_an_expanded_source():
    source = np.broadcast_to(np.arange(300.0), (300, 300)).T
    target = np.zeros((300, 300))
    copy_elements(target, source)
    assert np.array_equal(target, source)


def test_a_source_to_be_broadcast():
    target = np.zeros((300, 300))
    copy_elements(target, np.arange(300.0))
    assert np.array_equal(target[7], np.arange(300.0))


def test_arrays_that_share_memory():
    matrix = np.arange(700.0 * 700).reshape(700, 700)
    expected = matrix.T.copy()
    copy_elements(matrix, matrix.T)
    assert np.array_equal(matrix, expected)
