"""`tensor` reads Python data as PyTorch does: same values, dtypes and errors."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 uint16 uint64".split()

numbers = st.one_of(
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.integers(-300, 300),
    st.floats(),
    st.floats(-10, 10),
    st.complex_numbers(max_magnitude=100),
    st.sampled_from([np.float32(1.5), np.float64(2.5), np.int8(3), None, "a", b"a", {}, object]),
)
nested = st.recursive(numbers, lambda inner: st.lists(inner, max_size=3), max_leaves=8)


def outcome(library, data, dtype):
    """The error, or the tensor's dtype, shape and elements as text."""
    try:
        made = library.tensor(data, dtype=None if dtype is None else getattr(library, dtype))
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        return type(error).__name__, str(error)
    return str(made.dtype), tuple(made.shape), repr(made.tolist())


def undefined_in_c(data, dtype):
    """A float too large for int64 by less than rounding: what C does then is undefined."""
    if isinstance(data, list):
        return any(undefined_in_c(item, dtype) for item in data)
    return isinstance(data, float) and dtype in ("int64", "uint64") and data == 2.0**63


@settings(max_examples=1500, deadline=None)
@given(nested, st.none() | st.sampled_from(DTYPES))
def test_same_outcome(data, dtype):
    if not undefined_in_c(data, dtype):
        assert outcome(mindtorch, data, dtype) == outcome(torch, data, dtype)


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("array", [np.ones((2, 3)).T, np.ones((4, 3))[::2], np.broadcast_to(np.ones(2), (3, 2))])
def test_same_strides_from_arrays(array):
    assert mindtorch.tensor(array).stride() == torch.tensor(array).stride()


@pytest.mark.parametrize("options", [{}, {"count": 2}, {"offset": 2}, {"count": 9}, {"offset": 7}, {"count": 0}])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
def test_frombuffer(options, dtype):
    def run(library):
        try:
            return library.frombuffer(bytearray(range(6)), dtype=getattr(library, dtype), **options).tolist()
        except ValueError as error:
            return str(error)

    assert run(mindtorch) == run(torch)
