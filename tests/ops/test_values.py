"""Ops that NumPy or SciPy has under the same name give its values.

A new op is compared without being listed here. What another meaning is in NumPy's words is in REFERENCES.
The values of all other ops are compared with PyTorch's, in tests/parity.
"""

import warnings
from functools import partial
from importlib.util import find_spec

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


def differences(values, *more, axis=-1):
    """`more` are the order, and what is put before and behind the values."""
    order = [each for each in more if isinstance(each, int)]
    ends = [each for each in more if not isinstance(each, int)]
    return np.diff(values, *order, axis=axis, **dict(zip(("prepend", "append"), ends, strict=False)))


def counted(values, edges, weights=None):
    return np.histogram(values, edges, weights=weights)


def replaced(values, places, source):
    result = values.copy()
    np.put(result, places, source)
    return result


def squeezed(values, axis=None):
    """Dimensions of another size than 1 are left alone."""
    axes = range(values.ndim) if axis is None else np.atleast_1d(axis)
    return np.squeeze(values, tuple(int(each) for each in axes if values.ndim and values.shape[each] == 1))


# Ops that mean something else than NumPy's functions of their names, by name or by overload.
REFERENCES = {
    "diff": differences,
    "histogram.bins_tensor": counted,
    "max.other": np.maximum,
    "median": partial(np.quantile, q=0.5, method="lower"),
    "min.other": np.minimum,
    "nanmedian": partial(np.nanquantile, q=0.5, method="lower"),
    "nonzero": np.argwhere,
    "put": replaced,
    "reciprocal": partial(np.true_divide, 1),
    "squeeze": squeezed,
    "std": partial(np.std, ddof=1),
    "var": partial(np.var, ddof=1),
}


def function_in_numpy(op):
    """What an op means in NumPy's words, or what NumPy or SciPy has under its name, if it is a function."""
    reference = REFERENCES.get(op.name) or REFERENCES.get(op.schema.name)
    if reference is not None:
        return reference
    name = op.schema.name.removeprefix(f"{op.python_module}_")
    found = (getattr(module, name, None) for module in MODULES.get(op.python_module, ()))
    return next((each for each in found if callable(each) and not isinstance(each, type)), None)


def stands_in_place(argument):
    """Operands, numbers too, are NumPy's first arguments."""
    return argument.type.base == "Tensor" or argument.name in OPERANDS


def is_comparable(op):
    """Whether NumPy has the op, and words for the arguments that every call gives."""
    if function_in_numpy(op) is None:
        return False
    needed = [argument for argument in op.schema.inputs if argument.default is None]
    return bool(needed) and all(stands_in_place(each) or each.name in KEYWORDS for each in needed)


OPS = [op for op in sampled_ops() if is_comparable(op)]
NOT_COMPARABLE = [op for op in sampled_ops() if not is_comparable(op)]


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
    except (IndexError, TypeError, ValueError):
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
    with np.errstate(invalid="ignore"):  # nan as an integer is the least one, as in PyTorch
        expected = expected.astype(actual.dtype)
    return value_difference(actual, expected, str(tensor.dtype).removeprefix("torch."), 10)


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
                advice = "if PyTorch has another meaning, add it to REFERENCES of tests/ops/test_values.py"
                assert text is None, f"{op.name}({describe(sample)}): {text}, as NumPy has it; {advice}"


if find_spec("torch") is None:

    @pytest.mark.parametrize("op", NOT_COMPARABLE, ids=[op.name for op in NOT_COMPARABLE])
    def test_value_is_that_of_torch(op):
        """Nothing but PyTorch knows the values of these ops: a skipped test tells that they were not looked at."""
        where = 'pip install -e ".[peer]", then pytest tests/parity/ops/test_ops.py'
        if op.divergence:
            where = "PyTorch has another op (`divergence`): a test of its own in tests/unit is needed"
        pytest.skip(f"no value is checked: NumPy has no such function; {where}")
