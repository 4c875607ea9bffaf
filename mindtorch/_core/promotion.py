"""Which dtype a result has: torch's promotion rules, over NumPy dtypes.

Operands fall into three categories: tensors with dimensions, 0-dim tensors and Python numbers. A category counts only
as far as it brings a higher kind of dtype (bool < integral < floating point < complex) than the categories before it.
`RULES` holds one function per value of `promotion:` in ops.yaml, from the operands of a call to the result's dtype.
"""

from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch._core import state
from mindtorch._core.dtype import FROM_NUMPY, PYTHON_TYPES, is_dtype
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._support import errors

NumpyDtype = np.dtype[Any]
Rule = Callable[..., NumpyDtype]

BOOL, UINT8, INT32, INT64 = (np.dtype(name) for name in ("bool", "uint8", "int32", "int64"))
INTEGRAL = (UINT8, np.dtype("int8"), np.dtype("int16"), INT32, INT64)
HALF, BFLOAT16 = np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)
FLOAT, DOUBLE = np.dtype("float32"), np.dtype("float64")
FLOATING = (HALF, BFLOAT16, FLOAT, DOUBLE)
CFLOAT, CDOUBLE = np.dtype("complex64"), np.dtype("complex128")
COMPLEX = (CFLOAT, CDOUBLE)
UNSIGNED = tuple(np.dtype(name) for name in ("uint16", "uint32", "uint64"))
UINT64 = UNSIGNED[2]

_KIND = {BOOL: 0} | dict.fromkeys(INTEGRAL + UNSIGNED, 1) | dict.fromkeys(FLOATING, 2) | dict.fromkeys(COMPLEX, 3)
_COMPLEX_OF: dict[Any, NumpyDtype] = {
    HALF: CFLOAT,
    BFLOAT16: CFLOAT,
    FLOAT: CFLOAT,
    DOUBLE: CDOUBLE,
    CFLOAT: CFLOAT,
    CDOUBLE: CDOUBLE,
}
_REAL_OF: dict[Any, NumpyDtype] = {CFLOAT: FLOAT, CDOUBLE: DOUBLE}


# -------------------- two dtypes --------------------


@cache
def promote(a: NumpyDtype, b: NumpyDtype) -> NumpyDtype:
    """The smallest dtype that both can be converted to."""
    if a == b:
        return a
    low, high = sorted((a, b), key=_KIND.__getitem__)
    if high in UNSIGNED or (low in UNSIGNED and _KIND[high] != 2):
        names = f"{_name(a)} and {_name(b)}"
        raise RuntimeError(f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {names}")
    if _KIND[low] < _KIND[high] and _KIND[low] != 2:
        return high
    return _promote_numerically(low, high)


def _promote_numerically(low: NumpyDtype, high: NumpyDtype) -> NumpyDtype:
    """NumPy's rule, which agrees with torch's within a kind; it does not know bfloat16 with float16 or complex."""
    if low == BFLOAT16 or high == BFLOAT16:
        low, high = (FLOAT if each == BFLOAT16 else each for each in (low, high))
    return np.promote_types(low, high)


def _name(numpy_dtype: NumpyDtype) -> str:
    return FROM_NUMPY[numpy_dtype].storage_name


def can_convert(source: NumpyDtype, target: NumpyDtype) -> bool:
    """Whether a result of dtype `source` may be written to a tensor of dtype `target`."""
    source_kind, target_kind = _KIND[source], _KIND[target]
    return source_kind <= target_kind or (source_kind == 1 and target_kind == 1)


def complex_of(numpy_dtype: NumpyDtype) -> NumpyDtype:
    return _COMPLEX_OF[numpy_dtype]


def real_of(numpy_dtype: NumpyDtype) -> NumpyDtype:
    return _REAL_OF.get(numpy_dtype, numpy_dtype)


def float_of(numpy_dtype: NumpyDtype) -> NumpyDtype:
    """What functions such as `exp` compute in: integers become the default dtype."""
    return numpy_dtype if _KIND[numpy_dtype] > 1 else state.default_dtype.numpy


def is_integral(numpy_dtype: NumpyDtype) -> bool:
    """True for bool, too."""
    return _KIND[numpy_dtype] < 2


# -------------------- operands --------------------


def number_dtype(number: complex) -> NumpyDtype:
    """The dtype of the 0-dim tensor that torch makes of a Python number."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        return INT64
    default: NumpyDtype = state.default_dtype.numpy
    return _COMPLEX_OF[default] if isinstance(number, complex) else default


def common_dtype(*operands: Any) -> NumpyDtype:
    """The dtype in which an op on these arrays and Python numbers computes. None stands for an operand left out."""
    tensors = scalars = numbers = None
    for operand in operands:
        if operand is None:
            continue
        if not hasattr(operand, "dtype"):
            numbers = _join(numbers, number_dtype(operand))
        elif operand.ndim:
            tensors = _join(tensors, operand.dtype)
        else:
            scalars = _join(scalars, operand.dtype)
    result = reduce(_outrank, (tensors, scalars, numbers))
    assert result is not None, "promotion needs an operand"
    return result


def _join(a: NumpyDtype | None, b: NumpyDtype) -> NumpyDtype:
    return b if a is None or a is b else promote(a, b)


def _outrank(first: NumpyDtype | None, second: NumpyDtype | None) -> NumpyDtype | None:
    """`first`, lifted to the kind of `second` if that is higher."""
    if first is None or second is None:
        return second if first is None else first
    if _KIND[first] == 2 and _KIND[second] == 3:
        return _COMPLEX_OF[first]
    if first == BOOL:
        return promote(first, second)
    return second if _KIND[first] < _KIND[second] else first


# -------------------- the values of `promotion:` --------------------


def int_to_float(*operands: Any) -> NumpyDtype:
    return float_of(common_dtype(*operands))


def complex_to_real(*operands: Any) -> NumpyDtype:
    return real_of(common_dtype(*operands))


def complex_to_real_int_to_float(*operands: Any) -> NumpyDtype:
    return real_of(int_to_float(*operands))


def real_to_complex(*operands: Any) -> NumpyDtype:
    return complex_of(common_dtype(*operands))


def div_mode(input: Any, other: Any, rounding_mode: str | None = None) -> NumpyDtype:
    return common_dtype(input, other) if rounding_mode else int_to_float(input, other)


def where(condition: Any, value: Any, *others: Any) -> NumpyDtype:
    return common_dtype(value, *others)


def first(operand: Any, *others: Any) -> NumpyDtype:
    dtype: NumpyDtype = operand.dtype
    return dtype


def to_bool(*operands: Any) -> NumpyDtype:
    return BOOL


def to_index(*operands: Any) -> NumpyDtype:
    return INT64


def sum_of(operand: Any, *others: Any) -> NumpyDtype:
    """Sums of integers don't fit into their own dtype."""
    return INT64 if is_integral(operand.dtype) else operand.dtype


def to_hash(*operands: Any) -> NumpyDtype:
    return UINT64


def bool_or_uint8(operand: Any, *others: Any) -> NumpyDtype:
    return UINT8 if operand.dtype == UINT8 else BOOL


RULES: dict[str, Rule] = {
    "default": common_dtype,
    "int_to_float": int_to_float,
    "bool": to_bool,
    "complex_to_real": complex_to_real,
    "complex_to_real_int_to_float": complex_to_real_int_to_float,
    "complex": real_to_complex,
    "real_to_complex": real_to_complex,
    "div_mode": div_mode,
    "where": where,
    "same": first,
    "first": first,
    "first_index": first,
    "first_mask": first,
    "first_exponent": first,
    "mean": first,
    "sum": sum_of,
    "index": to_index,
    "hash": to_hash,
    "bool_or_uint8": bool_or_uint8,
}


# -------------------- the public functions --------------------


def promote_types(type1: Dtype, type2: Dtype) -> Dtype:
    """The smallest dtype that both dtypes can be converted to."""
    return FROM_NUMPY[promote(*_both_dtypes("promote_types", type1=type1, type2=type2))]


def can_cast(from_: Dtype, to: Dtype) -> bool:
    """Whether the promotion rules allow a result of dtype `from_` to be written to a tensor of dtype `to`."""
    return can_convert(*_both_dtypes("can_cast", from_=from_, to=to))


def _both_dtypes(function: str, **given: Any) -> list[np.dtype]:
    """The dtypes that two arguments are; Python's types stand for dtypes."""
    for position, (name, value) in enumerate(given.items(), 1):
        if not is_dtype(value):
            raise errors.argument_type(function, name, position, "torch.dtype", value)
    return [PYTHON_TYPES.get(value, value).numpy for value in given.values()]


def result_type(first: Any, second: Any) -> Dtype:
    """The dtype that an arithmetic operation on two tensors or numbers has."""
    arrays = [getattr(operand, "_mt_array", operand) for operand in (first, second)]
    return FROM_NUMPY[common_dtype(*arrays)]


def real_number(number: Any) -> Any:
    """A number that has to be real, as torch's `Scalar.toDouble` takes it: complex ones without imaginary part, too."""
    if isinstance(number, complex):
        if number.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        return number.real
    return number
