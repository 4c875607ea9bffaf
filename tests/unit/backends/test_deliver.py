"""What kernels end in: the result as an array, whatever NumPy has made of it, and wherever it goes."""

import numpy as np
import pytest

from mindtorch.backends import writing
from mindtorch.backends.cpu.common.casting import deliver, deliver_castable, deliver_same

SOURCES = {
    "NumPy's number": np.float32(2.5),
    "without dimensions": np.array(2.5, np.float32),
    "complex number": np.complex64(2.5),
    "complex without dimensions": np.array(2.5, np.complex64),
    "vector": np.array([2.5, 1], np.float32),
}
OUTS = {"none": None, "same shape": (), "empty": (0,), "resized": (3,)}
WAYS = {
    "deliver": deliver,
    "deliver_same": deliver_same,
    "deliver_castable": lambda result, out: deliver_castable("op", "out", result, out),
    "writing": writing.deliver,
}


@pytest.mark.filterwarnings("ignore:An output with one or more elements", "ignore:Casting complex values")
@pytest.mark.parametrize("out", OUTS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("way", WAYS)
def test_the_result_is_an_array(way, source, out):
    result = SOURCES[source]
    given = None if OUTS[out] is None else np.empty(result.shape if out == "same shape" else OUTS[out], result.dtype)
    found = WAYS[way](result, given)
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.tolist()) == (result.dtype, result.tolist())
    assert (found is given) == (out == "same shape")


@pytest.mark.filterwarnings("ignore:An output with one or more elements", "ignore:Casting complex values")
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.float16, np.float64])
@pytest.mark.parametrize("source", SOURCES)
def test_the_result_is_an_array_of_the_dtype_of_out(source, dtype):
    result, out = SOURCES[source], np.empty(5, dtype)
    found = deliver(result, out)
    assert isinstance(found, np.ndarray)
    assert found.dtype == dtype
    assert found.shape == result.shape
