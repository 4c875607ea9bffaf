"""`repr` is PyTorch's to the character, for many tensors and options."""

import ml_dtypes
import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch
from mindtorch._functions.printing import printoptions

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
LARGEST = {0: 1, 1: 1500, 2: 40, 3: 11, 4: 6}


def scaled(random: np.random.Generator, shape: tuple, style: str) -> np.ndarray:
    """Numbers of one of the kinds that printing tells apart."""
    numbers = np.asarray(random.standard_normal(shape))
    match style:
        case "whole":
            return np.round(numbers * 10)
        case "large":
            return numbers * 10.0 ** random.integers(0, 12)
        case "small":
            return numbers * 10.0 ** -random.integers(0, 12)
        case "spread":
            return numbers * 10.0 ** random.integers(-5, 6, shape)
    return numbers


@st.composite
def tensors(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    ndim = draw(st.integers(0, 4))
    shape = tuple(draw(st.integers(0, LARGEST[ndim])) for _ in range(ndim))
    dtype = draw(st.sampled_from(DTYPES))
    numbers = scaled(random, shape, draw(st.sampled_from(["plain", "whole", "large", "small", "spread"])))
    for special in draw(st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0]), max_size=2)):
        numbers = np.where(random.random(shape) < 0.2, special, numbers)
    if "float" not in dtype and "complex" not in dtype:
        numbers = np.clip(np.nan_to_num(numbers), 0 if dtype in ("bool", "uint8") else -120, 120)
    if "complex" in dtype:
        numbers = numbers + 1j * scaled(random, shape, "plain")
    with np.errstate(all="ignore"):
        return np.asarray(numbers).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


OPTIONS = st.fixed_dictionaries(
    {
        "precision": st.sampled_from([None, 1, 2, 6]),
        "threshold": st.sampled_from([None, 5, 50]),
        "edgeitems": st.sampled_from([None, 0, 1, 2, 5]),
        "linewidth": st.sampled_from([None, 20, 120]),
        "sci_mode": st.sampled_from([None, True, False]),
        "profile": st.sampled_from([None, "short", "full"]),
    }
)


def tensor_of(library, array: np.ndarray):
    if array.dtype == ml_dtypes.bfloat16:
        return library.from_numpy(array.view(np.int16)).view(library.bfloat16)
    return library.from_numpy(array)


@settings(max_examples=400, deadline=None)
@given(tensors(), OPTIONS)
def test_same_text(array, options):
    with torch._tensor_str.printoptions(profile="default"), printoptions(profile="default"):
        assert repr(tensor_of(mindtorch, array)) == repr(tensor_of(torch, array))
        torch.set_printoptions(**options)
        mindtorch.set_printoptions(**options)
        assert repr(tensor_of(mindtorch, array)) == repr(tensor_of(torch, array))
