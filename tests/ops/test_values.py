"""Ops that NumPy or SciPy has under the same name give its values.

A new op is compared without being listed here. One that means something else is listed in DIFFERENT, with the reason.
"""

import warnings

import numpy as np
import pytest
import scipy.fft
import scipy.special

import mindtorch as torch
from tests.harness import (
    arguments_of,
    describe,
    dtypes_of,
    function_of,
    outcome,
    sampled_ops,
    samples_of,
    tensors_in,
    to_numpy,
    value_difference,
)

MODULES = {None: (np, scipy.special), "linalg": (np.linalg,), "fft": (scipy.fft,), "special": (scipy.special, np)}
DTYPES = ("float32", "int64", "complex64")
# NumPy's words for arguments that are no tensors. A call with others is not compared.
OPERANDS = {"self", "other", "exponent", "decimals", "min", "max", "n"}
KEYWORDS = {"dim": "axis", "keepdim": "keepdims"}
DIFFERENT = {
    "diff": "NumPy's has no `prepend` that is None",
    "max.other": "NumPy's second argument is the dimension",
    "median": "the lower one of the two in the middle; NumPy's is their mean",
    "min.other": "NumPy's second argument is the dimension",
    "nanmedian": "as median",
    "nonzero": "a matrix; NumPy's is a tuple of its columns",
    "put": "gives a new tensor; NumPy's writes to its argument",
    "reciprocal": "of integers a float; NumPy's is an integer",
    "squeeze": "leaves a dimension of another size than 1 alone; NumPy's refuses it",
    "std": "divides by one less than the number of elements",
    "var": "divides by one less than the number of elements",
}


def function_in_numpy(op):
    """What NumPy or SciPy has under the name of an op, if it is a function."""
    name = op.schema.name.removeprefix(f"{op.python_module}_")
    found = (getattr(module, name, None) for module in MODULES.get(op.python_module, ()))
    return next((each for each in found if callable(each) and not isinstance(each, type)), None)


def stands_in_place(argument):
    """Operands, numbers too, are NumPy's first arguments."""
    return argument.type.base == "Tensor" or argument.name in OPERANDS


def is_comparable(op):
    """Whether NumPy has the op, and words for the arguments that every call gives."""
    if not DIFFERENT.keys().isdisjoint({op.name, op.schema.name}) or function_in_numpy(op) is None:
        return False
    needed = [argument for argument in op.schema.inputs if argument.default is None]
    return bool(needed) and all(stands_in_place(each) or each.name in KEYWORDS for each in needed)


OPS = [op for op in sampled_ops() if is_comparable(op)]


def in_numpy(value):
    if isinstance(value, torch.Tensor):
        return to_numpy(value)
    return type(value)(map(in_numpy, value)) if isinstance(value, (list, tuple)) else value


def call_in_numpy(op, given):
    """The results as NumPy has them, or None if it does not take these arguments."""
    operands = {argument.name for argument in op.schema.inputs if stands_in_place(argument)}
    options = {name: value for name, value in given.items() if name not in operands}
    if not options.keys() <= KEYWORDS.keys():
        return None
    places = [in_numpy(value) for name, value in given.items() if name in operands]
    keywords = {KEYWORDS[name]: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function_in_numpy(op)(*places, **keywords)
    except (TypeError, ValueError):
        return None
    return [np.asarray(each) for each in (found if isinstance(found, (list, tuple)) else [found])]


def check_value(tensor, expected):
    """In words, how a tensor differs from NumPy's array, whose dtype may be wider."""
    actual = to_numpy(tensor)
    if (
        actual.ndim == 0 and expected.size == 1
    ):  # NumPy gives an array without dimensions one, when a `dim` is asked for
        expected = expected.reshape(())
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    return value_difference(actual, expected.astype(actual.dtype), str(tensor.dtype).removeprefix("torch."), 10)


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_value_is_that_of_numpy(op):
    """For every sample that NumPy's function takes as well."""
    names = [argument.name for argument in op.schema.inputs]
    for dtype in sorted({*DTYPES} & {*dtypes_of(op)}):
        for sample in samples_of(op, dtype):
            args = arguments_of(torch, list(sample.args))
            result = outcome(function_of(torch, op), args, arguments_of(torch, sample.kwargs)).result
            expected = call_in_numpy(op, {**dict(zip(names, args, strict=False)), **sample.kwargs})
            if result is None or expected is None:
                continue
            for tensor, array in zip(tensors_in(torch, result), expected, strict=False):
                text = check_value(tensor, array)
                advice = "list the op in DIFFERENT of tests/ops/test_values.py if PyTorch has another meaning"
                assert text is None, f"{op.name}({describe(sample)}): {text}, as NumPy has it; {advice}"
