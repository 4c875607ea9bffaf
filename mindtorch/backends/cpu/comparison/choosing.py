"""Kernels that choose between operands: limits, where, fills."""

from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.promotion import BOOL, COMPLEX, UINT8, common_dtype, is_integral, real_number
from mindtorch._core.promotion import where as where_dtype
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import broadcast_to
from mindtorch._support.warnings import warn_once
from mindtorch.backends.cpu.common import arithmetic
from mindtorch.backends.cpu.common.checks import c_name
from mindtorch.backends.cpu.common.computing import FLOATS, REAL_NUMBERS, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import are_plain, binary
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.cpu.common.unsupported_dtypes import not_implemented, raising
from mindtorch.backends.cpu.compiled.choice import compiled
from mindtorch.iterator import BLOCK, Builder, Options, is_at_hand, new_array
from mindtorch.iterator.constants import constant

Array = np.ndarray
Number = complex
_REAL = (BOOL, *REAL_NUMBERS)


# -------------------- limits --------------------
_NO_COMPLEX_CLAMP = raising(NotImplementedError, "clamp is not supported for complex types", *COMPLEX)
maximum = binary(
    Op(
        loops(np.maximum, _REAL),
        unsupported=raising(RuntimeError, "maximum not implemented for complex tensors.", *COMPLEX),
    )
)
minimum = binary(
    Op(
        loops(np.minimum, _REAL),
        unsupported=raising(RuntimeError, "minimum not implemented for complex tensors.", *COMPLEX),
    )
)
_CLAMP_LOOPS = compiled("clamp", loops(arithmetic.clamp, REAL_NUMBERS))
_CLAMP = Op(_CLAMP_LOOPS, unsupported=not_implemented("clamp_cpu", BOOL, *COMPLEX))
_CLAMP_BY_NUMBERS = Op(
    _CLAMP_LOOPS,
    unsupported=_NO_COMPLEX_CLAMP | not_implemented("clamp_cpu", BOOL),
    same_dtype_out=True,
    plain_numbers=True,
)


def _limit(by_one: Any, function: Any, name: str) -> tuple[Any, Any]:
    """Kernels for a limit that is a number and for one that is a tensor."""
    by_number = _NO_COMPLEX_CLAMP | not_implemented(f"clamp_{name}_scalar_cpu", BOOL)
    by_tensor = not_implemented(f"{function.__name__}_cpu", *COMPLEX)
    return (
        Op(
            compiled(f"clamp_{name}", loops(by_one, REAL_NUMBERS)),
            unsupported=by_number,
            same_dtype_out=True,
            plain_numbers=True,
        ),
        Op(loops(function, _REAL), unsupported=by_tensor),
    )


_LOWER_LIMITS = _limit(arithmetic.at_least, np.maximum, "min")
_UPPER_LIMITS = _limit(arithmetic.at_most, np.minimum, "max")


def clamp(
    input: Array, min: Array | Number | None = None, max: Array | Number | None = None, out: Array | None = None
) -> Array:
    if type(min) in _PLAIN and type(max) in _PLAIN and input.dtype in FLOATS:
        if -_ORDINARY < min < _ORDINARY and -_ORDINARY < max < _ORDINARY:
            return compute(_CLAMP_BY_NUMBERS, (input, min, max), out)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if input.dtype in _NO_COMPLEX_CLAMP:
        raise _NO_COMPLEX_CLAMP[input.dtype](input.dtype)
    if isinstance(min, complex) or isinstance(max, complex):
        min, max = _real_limits(input, out, min, max)
    if max is None:
        return clamp_min(input, min, out)
    if min is None:
        return clamp_max(input, max, out)
    _check_clamp_in_place(out, input, min, max)
    op = _CLAMP if isinstance(min, Array) else _CLAMP_BY_NUMBERS
    return compute(op, (input, _checked_limit(input, min), _checked_limit(input, max)), out)


_PLAIN = (float, int)
_ORDINARY = 100  # a limit below it fits into every dtype, and leaves that of float arrays as it is


def clamp_min(input: Array, min: Array | Number, out: Array | None = None) -> Array:
    _check_clamp_in_place(out, input, min)
    _check_real_limit(min)
    return compute(_LOWER_LIMITS[isinstance(min, Array)], (input, _checked_limit(input, min)), out)


def clamp_max(input: Array, max: Array | Number, out: Array | None = None) -> Array:
    _check_clamp_in_place(out, input, max)
    _check_real_limit(max)
    return compute(_UPPER_LIMITS[isinstance(max, Array)], (input, _checked_limit(input, max)), out)


def _check_real_limit(limit: Array | Number) -> None:
    if isinstance(limit, complex):
        raise _NO_COMPLEX_CLAMP[COMPLEX[0]](COMPLEX[0])


def _real_limits(input: Array, out: Array | None, *limits: Array | Number | None) -> list[Any]:
    """Complex limits of floating-point numbers are converted; those of integers would make the result complex."""
    if not is_integral(input.dtype) and input.dtype != BOOL:
        if out is not None:
            iterator.check_distinct(out)
        return [real_number(limit) for limit in limits]
    if out is not input:
        _check_real_limit(1j)
    dtype = common_dtype(input, *[limit for limit in limits if limit is not None])
    raise _cannot_be_cast(dtype, input)


def _cannot_be_cast(dtype: np.dtype[Any], out: Array) -> RuntimeError:
    name = FROM_NUMPY[dtype].storage_name
    return RuntimeError(f"result type {name} can't be cast to the desired output type {c_name(out)}")


def _check_clamp_in_place(out: Array | None, input: Array, *limits: Array | Number) -> None:
    """Limits that are numbers have a text of their own for a result that does not fit."""
    if out is not input or any(isinstance(limit, Array) for limit in limits):
        return
    dtype = common_dtype(input, *limits)
    if dtype != input.dtype and dtype not in COMPLEX:
        raise _cannot_be_cast(dtype, out)


def _checked_limit(input: Array, limit: Array | Number) -> Array | Number:
    """A number must fit into the dtype of the result."""
    if isinstance(limit, Array) or (not isinstance(limit, complex) and -_ORDINARY < limit < _ORDINARY):
        return limit
    if common_dtype(input, limit) == input.dtype:
        checked_number(limit, input.dtype)
    return limit


# -------------------- choosing --------------------


def where(condition: Array, input: Array, other: Array, out: Array | None = None) -> Array:
    if condition.dtype is BOOL and input.dtype is other.dtype and are_plain(input, other):
        if condition.shape == input.shape == other.shape and input.ndim and condition.flags.c_contiguous:
            choose = _CHOICES.get(input.dtype, arithmetic.choose)
            if out is None:
                return choose(condition, input, other)
            if input.size <= BLOCK // 2 and is_at_hand(out, input.shape, input.dtype, (condition, input, other)):
                return choose(condition, input, other, out=out)
    arrays = _as_condition(condition), input, other
    if out is None:
        plan = _WHERE.plan((None,), arrays)
        if plan.only_numpy and plan.numel <= BLOCK // 2:
            new = plan.made[0]
            result = new_array(plan.shape, new.strides, new.dtype)
            quiet(_choose, result, *arrays)
            return result
    elif out.dtype != (dtype := where_dtype(*arrays)):
        names = [FROM_NUMPY[each].storage_name for each in (dtype, out.dtype)]
        raise RuntimeError(f"Expected out type to be {names[0]} but got {names[1]}")
    iterator = _WHERE.build((out,), arrays)
    if iterator.has_data():
        quiet(iterator.apply, _choose, BLOCK // 2)  # a choice needs memory of its own
    return iterator.output()


_CHOICES = compiled("where_self", loops(arithmetic.choose, FLOATS))
_FILLED = compiled("masked_fill_Scalar", loops(arithmetic.filled, FLOATS))
_WHERE = Builder(Options(same_dtype=False, cpu_scalars=True, promotion=where_dtype))


def _choose(out: Array, condition: Array, input: Array, other: Array) -> None:
    dtype = out.dtype
    if dtype in FLOATS and input.dtype is other.dtype is dtype:
        _CHOICES[dtype](condition, input, other, out=out)
        return
    arithmetic.pick(condition, input.astype(dtype, copy=False), other.astype(dtype, copy=False), out)


def _as_condition(condition: Array) -> Array:
    if condition.dtype == UINT8:
        warn_once(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead.",
            UserWarning,
        )
        return condition.astype(bool)
    if condition.dtype != BOOL:
        name = FROM_NUMPY[condition.dtype].storage_name
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {name}")
    return condition


def masked_fill(input: Array, mask: Array, value: Array | Number, out: Array | None = None) -> Array:
    if mask.dtype != BOOL:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {c_name(mask)}")
    iterator.check_devices([mask, input])
    shapes = (mask.shape, input.shape) if out is None else (input.shape, mask.shape)  # as a message names them
    shape = iterator.broadcast_shapes(*shapes)
    if out is None:
        if input.dtype in FLOATS:
            number = constant(_fill_value(value, input.dtype), input.dtype)
            return np.asarray(_FILLED[input.dtype](input, mask, number, out=np.empty(shape, input.dtype)))
        out = np.array(input if input.shape == shape else broadcast_to(input, shape), order="C")
    else:
        iterator.warn_if_expanded(out, "masked_fill_", "tensor[mask] = scalar")
        iterator.check_shared(out, [mask])
        iterator.check_inplace_shape(out, shape)
    number = _fill_value(value, input.dtype)
    if input.dtype in FLOATS and out.flags.c_contiguous:
        return _FILLED[input.dtype](out, mask, constant(number, input.dtype), out=out)
    np.copyto(out, number, where=mask)
    return out


def _fill_value(value: Array | Number, dtype: np.dtype[Any]) -> Array:
    if not isinstance(value, Array):
        return checked_number(value, dtype)
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    return checked_number(value.item(), dtype)
