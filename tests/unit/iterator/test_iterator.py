"""Broadcasting, strides of results, `out`, overlap; and that a kernel's fast path equals the slow path."""

import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.keys import POINTWISE
from mindtorch import iterator
from mindtorch._core import geometry
from mindtorch._support.float_errors import quiet
from mindtorch.iterator.constants import CONSTANTS
from tests.harness import cpu_kernels

pointwise = cpu_kernels(*POINTWISE)

FLOAT = np.dtype(np.float32)


def permuted(shape, order):
    """An array of `shape` whose memory is walked in `order`, outermost dimension first."""
    places = sorted(range(len(order)), key=order.__getitem__)
    return np.arange(np.prod(shape), dtype=FLOAT).reshape([shape[dim] for dim in order]).transpose(places)


# -------------------- shapes --------------------


def test_broadcast_shapes():
    assert iterator.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert iterator.broadcast_shapes((0, 1), (1, 4)) == (0, 4)


def test_shapes_that_do_not_broadcast():
    text = r"The size of tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dimension 1"
    with pytest.raises(RuntimeError, match=text):
        iterator.broadcast_shapes((4, 2), (3,))


def test_reduced_dims():
    assert iterator.reduced_dims(None, 2) == iterator.reduced_dims([], 2) == (0, 1)
    assert iterator.reduced_dims(-1, 3) == (2,)
    assert iterator.reduced_dims([0], 0) == ()
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times in the list of dims"):
        iterator.reduced_dims([1, -1], 2)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 5"):
        iterator.reduced_dims(5, 2)


# -------------------- strides of results --------------------


@pytest.mark.parametrize(
    ("operands", "strides"),
    [
        ([permuted((2, 3), (0, 1))], None),
        ([permuted((2, 3), (1, 0))], (1, 2)),
        ([permuted((2, 3), (1, 0)), permuted((2, 3), (0, 1))], (1, 2)),
        ([permuted((2, 3), (0, 1)), permuted((2, 3), (1, 0))], None),
        ([permuted((1, 3), (0, 1)), permuted((2, 3), (1, 0))], (1, 2)),
        ([permuted((2, 3, 4, 5), (0, 2, 3, 1))], (60, 1, 15, 3)),
        ([permuted((2, 3, 4), (2, 0, 1)), np.zeros(4, FLOAT)], (3, 1, 6)),
        ([np.zeros((6, 4), FLOAT)[::2].T], (1, 4)),
    ],
)
def test_result_strides(operands, strides):
    assert iterator.result_layout(operands)[1] == strides


def test_a_converted_operand_has_no_gaps():
    gaps = np.zeros((4, 1, 6), np.int8)[::2, :, ::2]
    assert iterator.result_layout([gaps], FLOAT) == iterator.result_layout([np.zeros((2, 1, 3), FLOAT)])


# -------------------- out --------------------


def test_out_of_another_shape_is_resized_with_a_warning():
    x = np.ones((2, 3), FLOAT)
    with pytest.warns(UserWarning, match=r"since it had shape \[3\], which does not match the required .* \[2, 3\]"):
        assert pointwise.mul(x, x, np.ones(3, FLOAT)).shape == (2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pointwise.mul(x, x, np.ones(0, FLOAT)).shape == (2, 3)


def test_out_of_a_lower_kind():
    x = np.ones(3, FLOAT)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        pointwise.add(x, x, out=np.ones(3, np.int64))


def test_in_place_shape():
    x = np.ones((2, 3), FLOAT)
    with pytest.raises(RuntimeError, match=r"output with shape \[2, 3\] doesn't match the broadcast shape \[4, 2, 3\]"):
        pointwise.add(x, np.ones((4, 2, 3), FLOAT), out=x)


def test_overlap():
    x = np.ones(5, FLOAT)
    expanded = np.broadcast_to(np.ones(3, FLOAT), (2, 3))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        pointwise.add(expanded, 1, out=expanded)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        pointwise.add(x[1:], x[:-1], out=x[1:])


def test_overlap_of_arrays_with_gaps_is_safe():
    x = np.arange(12, dtype=FLOAT).reshape(3, 4)
    expected = 2 * x[:, :3] + x[:, 1:]
    assert np.array_equal(pointwise.add(x[:, :3] * 2, x[:, 1:], out=x[:, 1:]), expected)


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: np.stack([x, x], 1)[:, 0]])
def test_an_output_that_is_a_limit(layout):
    """It is read before it is written, though the other limit is applied first."""
    x, low = (np.array(values, FLOAT) for values in ([1, 5, 9], [3, 3, 3]))
    high = layout(np.array([1, 4, 7], FLOAT))
    assert pointwise.clamp(x, low, high, out=high).tolist() == [1, 4, 7]
    own = layout(x)
    assert pointwise.clamp(own, low, own, out=own).tolist() == [1, 5, 9]


# -------------------- the fast path --------------------


@st.composite
def operands(draw):
    shape = draw(st.lists(st.integers(1, 3), max_size=3))
    arrays = []
    for _ in range(2):
        kept = [size if draw(st.booleans()) else 1 for size in shape[draw(st.integers(0, len(shape))) :]]
        arrays.append(permuted(kept, draw(st.permutations(range(len(kept))))))
    return arrays


@settings(max_examples=200, deadline=None)
@given(operands(), st.sampled_from([None, 2, 1.5, True]))
def test_the_fast_path_equals_the_slow_one(arrays, number):
    x, y = arrays if number is None else (arrays[0], number)
    short = pointwise.mul(x, y)
    shape, strides = iterator.result_layout([x, y if isinstance(y, np.ndarray) else np.empty(())])
    assert short.shape == shape
    assert geometry.strides_of(short) == (strides or geometry.contiguous_strides(shape))
    assert short.dtype == FLOAT
    assert np.array_equal(short, np.multiply(x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("step", [1, 2, 4, 8])
def test_negative_of_arrays_with_gaps(dtype, step):
    """NumPy 2.4 has a loop for strides of 16 and 64 bytes that reads other elements if the result has gaps, too."""
    x = np.arange(10 * step).astype(dtype)[::step]
    expected = [-each for each in x.tolist()]
    assert pointwise.neg(x, out=np.empty_like(x, shape=40)[::4]).tolist() == expected
    assert pointwise.neg(x, out=x).tolist() == expected


def test_zeros_of_both_signs():
    x = np.ones(2, FLOAT)
    for number in (0.0, -0.0, 0.0):
        assert np.signbit(pointwise.mul(x, number)[0]) == np.signbit(number)


def test_constants_do_not_pile_up():
    constants = CONSTANTS[float][FLOAT]
    for number in range(3000):
        pointwise.mul(np.ones(2, FLOAT), number + 0.5)
    assert len(constants) <= 1024


# -------------------- warnings --------------------


def test_quiet_in_nested_calls_and_threads():
    zeros = np.zeros(200_000, FLOAT)
    raised = []

    def divide():
        try:
            for _ in range(20):
                quiet(lambda: quiet(lambda: quiet(np.divide, zeros, zeros)))
        except RuntimeWarning as warning:
            raised.append(warning)

    threads = [threading.Thread(target=divide) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised


def test_errors_pass_through_quiet():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        pointwise.remainder(np.array([1, 2]), 0)
