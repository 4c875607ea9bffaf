"""Random arrays of many dtypes and layouts, and kernels that are given them, compared with torch's ops."""

import random

import ml_dtypes
import numpy as np
import pytest
import torch

import mindtorch
from codegen.keys import POINTWISE
from mindtorch._core import geometry
from tests.harness import cpu_kernels

aten = torch.ops.aten
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
NAMES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
DTYPES = [getattr(torch, name) for name in NAMES]
SHAPES = [(), (1,), (5,), (3, 4), (2, 1, 3), (2, 3, 2, 2)]
SPECIAL_VALUES = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 0.5, -2.5, 88.0]
TOLERANCES = {
    torch.float16: (2e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (3e-6, 4e-6),
    torch.float64: (1e-9, 1e-11),
    torch.complex64: (2e-5, 2e-5),
    torch.complex128: (1e-9, 1e-11),
}
pointwise, reduction, special = cpu_kernels(*POINTWISE), cpu_kernels("reduction"), cpu_kernels("special")


def to_array(value):
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype == torch.bfloat16:
        return value.view(torch.int16).numpy().view(BFLOAT16)
    return value.numpy()


def to_tensor(array):
    copied = array.copy(order="C")
    return (
        torch.from_numpy(copied.view(np.int16)).view(torch.bfloat16)
        if array.dtype == BFLOAT16
        else torch.from_numpy(copied)
    )


def values(shape, dtype, with_specials):
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.randint(0 if dtype == torch.uint8 else -9, 10, shape).to(dtype)
    result = torch.randn(shape, dtype=dtype if dtype.is_complex else torch.float32) * 2
    if with_specials and not dtype.is_complex:
        for place in range(result.numel()):
            if random.random() < 0.2:
                result.view(-1)[place] = random.choice(SPECIAL_VALUES)
    return result.to(dtype)


def sample(shape, dtype, with_specials=True):
    """A tensor, now and then permuted or with gaps."""
    result = values(shape, dtype, with_specials)
    layout = random.random()
    if len(shape) > 1 and layout > 0.4:
        order = random.sample(range(len(shape)), len(shape))
        places = [order.index(dim) for dim in range(len(shape))]
        result = result.permute(order).contiguous().permute(places)
        if layout > 0.8:
            result = result.repeat_interleave(2, 0)[::2]
    return result


def assert_same_array(actual, expected):
    if isinstance(expected, tuple):
        for each, wanted in zip(actual, expected, strict=True):
            assert_same_array(each, wanted)
        return
    assert isinstance(actual, np.ndarray)
    assert actual.dtype == getattr(mindtorch, str(expected.dtype).removeprefix("torch.")).numpy
    assert actual.shape == tuple(expected.shape)
    assert geometry.strides_of(actual) == expected.stride()
    rtol, atol = TOLERANCES.get(expected.dtype, (0, 0))
    found = to_tensor(actual)
    if expected.is_complex():
        finite = torch.isfinite(torch.view_as_real(expected)).all(-1) & torch.isfinite(torch.view_as_real(found)).all(
            -1
        )
        found, expected = found[finite], expected[finite]
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)


def compare(kernel, op, *args, **kwargs):
    """The kernel gives what torch gives, or raises what torch raises."""
    try:
        expected = op(*args, **kwargs)
    except (RuntimeError, IndexError) as error:
        with pytest.raises(type(error)) as raised:
            kernel(*map(to_array, args), **kwargs)
        assert str(raised.value) == str(error).split("\n")[0]
        return
    if isinstance(expected, torch.Tensor) and expected.dtype == torch.complex32:
        return  # mindtorch has no such dtype
    assert_same_array(kernel(*map(to_array, args), **kwargs), expected)
