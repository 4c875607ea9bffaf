"""float16 to float32 and back, by integer arithmetic on blocks that stay in the cache.

NumPy converts float16 one number at a time, which takes longer than most computations in between. The results here are
the same to the bit. bfloat16, the upper half of a float32, is converted fast enough by its own package.

A finite float16 has its exponent and mantissa 13 bits further down than the float32 that is 2**-112 of it: subnormal
numbers too, so a product widens all of them. Back again, a number is rounded where it is added to a power of two of
which the last place is its own last place as a float16.
"""

import threading
from typing import Any

import numpy as np

from mindtorch._core import aligned
from mindtorch._core.promotion import BFLOAT16, FLOAT, HALF
from mindtorch._support import numpy_functions
from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import broadcast_to, largest
from mindtorch.backends.cpu.compiled.choice import CompiledLoop

Array = np.ndarray

BLOCK = 1 << 15  # elements: enough for a dozen calls each to pay
_FEW = 1 << 13  # NumPy has converted fewer before the calls are made,
_VERY_FEW = 1 << 9  # and fewer than these before one is made, of a compiled loop

# Every float16 as a float32, for the blocks with inf or nan.
_VALUES = quiet(np.arange(1 << 16, dtype=np.uint16).view(HALF).astype, FLOAT)

_NOT_FINITE = 0x1F << 11  # what the bits of inf and nan, without the sign, are not less than
_SHIFT = 13  # how many bits of the mantissa a float16 lacks
_SIGN_AND_NUMBER = np.int32(-0x70000001)  # the sign is in the four upper bits before
_TO_SINGLE = np.float32(2.0**112)

_MAGNITUDE = 0x7FFFFFFF
_EXPONENT = 0x7F800000
# Limits are arrays, because NumPy's maximum and minimum are several times slower with a number in their place.
_INFINITE = np.full(BLOCK, 143 << 23, np.int32)  # 65536
_SUBNORMAL = np.full(BLOCK, 113 << 23, np.int32)  # numbers below have all the same last place, as a float16
_PLACES = _SHIFT << 23  # makes of a power of two that of which the last place is the last place of the float16
_BIAS = np.uint16((126 << 10) & 0xFFFF)  # of the exponent of the sum, less one because the mantissa has its first bit
_SIGN = np.uint16(0x8000)


# -------------------- arrays --------------------


def converted(array: Array, dtype: np.dtype[Any]) -> Array:
    """A copy of an array with another dtype, in the same memory order."""
    return quiet(array.astype, dtype) if array.size < _VERY_FEW else quiet(astype, array, dtype)


def convert_into(target: Array, source: Array) -> None:
    """Writes all elements, broadcast, to an array of any dtype."""
    if target.size < _VERY_FEW:
        try:
            quiet(numpy_functions.copyto, target, source, "unsafe")
        except TypeError:
            np.copyto(target, source, casting="unsafe")
    else:
        quiet(copyto, target, source)


def astype(array: Array, dtype: np.dtype[Any]) -> Array:
    """`converted`, for where warnings are off already."""
    if array.size < _VERY_FEW or not (array.dtype in _NARROW or dtype in _NARROW):
        return array.astype(dtype)
    loop = _compiled(array.dtype, dtype, array.size)
    if loop is None and array.size < _FEW:
        return array.astype(dtype)
    flat = _flat(array)
    if flat is None:  # gaps, for which the conversion of bfloat16 is slow, too
        array = array.copy(order="K")
        flat = _flat(array)
    step = _STEPS.get((array.dtype, dtype))
    if loop is None and step is None:
        return array.astype(dtype)
    result = np.empty_like(array, dtype)
    if loop is None:
        _in_blocks(step, _flat(result), flat)
    else:
        loop(_bits(flat), _bits(_flat(result)))
    return result


# The compiled loops, for uint16 in the place of 16-bit numbers.
_COMPILED = {
    (HALF, FLOAT): CompiledLoop("float16_to_float32"),
    (FLOAT, HALF): CompiledLoop("float32_to_float16"),
    (BFLOAT16, FLOAT): CompiledLoop("bfloat16_to_float32"),
    (FLOAT, BFLOAT16): CompiledLoop("float32_to_bfloat16"),
}


def _compiled(source: np.dtype[Any], target: np.dtype[Any], size: int) -> Any:
    """The compiled loop between two dtypes, for so many elements: few of bfloat16 are converted as fast without it."""
    found = _COMPILED.get((source, target)) if size >= _FEW or HALF in (source, target) else None
    return None if found is None else found.get()


def _bits(array: Array) -> Array:
    return array if array.dtype is FLOAT else array.view(np.uint16)


def copyto(target: Array, source: Array) -> None:
    """`convert_into`, for where warnings are off already."""
    loop = _compiled(source.dtype, target.dtype, target.size) if target.size >= _VERY_FEW else None
    if loop is not None and target.shape == source.shape and not np.may_share_memory(target, source):
        loop(_bits(source), _bits(target))
        return
    step = _STEPS.get((source.dtype, target.dtype)) if target.size >= _FEW else None
    if step is None or not _are_alike(target, source):
        np.copyto(target, source, casting="unsafe")
    else:
        _in_blocks(step, target.reshape(-1), source.reshape(-1))


def expanded_as(array: Array, dtype: np.dtype[Any]) -> Array:
    """`astype` for reading only: what stands for several elements is converted once."""
    if array.size < _FEW or 0 not in array.strides:
        return astype(array, dtype)
    seed = array[tuple([slice(None) if stride else slice(1) for stride in array.strides])]
    return broadcast_to(astype(seed, dtype), array.shape)


def _are_alike(target: Array, source: Array) -> bool:
    is_row_major = target.flags.c_contiguous and source.flags.c_contiguous
    return is_row_major and target.shape == source.shape and not np.may_share_memory(target, source)


def look_up(table: Array, place: int, out: Array, *arrays: Array) -> None:
    """The results of a function of 16-bit numbers, of which the table has all, for one of the arrays."""
    bits = arrays[place].view(np.uint16).astype(np.intp)
    if out.flags.c_contiguous:
        table.take(bits, out=out, mode="clip")
    else:
        np.copyto(out, table.take(bits, mode="clip"))


def _flat(array: Array) -> Any:
    """The elements in the order of memory as a view, or None if there are gaps between them."""
    if array.flags.forc:
        return array.ravel(order="K")
    order = sorted(range(array.ndim), key=array.strides.__getitem__, reverse=True)
    ordered = array.transpose(order)
    return ordered.reshape(-1) if ordered.flags.c_contiguous else None


def _in_blocks(step: Any, target: Array, source: Array) -> None:
    kept = scratch.take(2)
    spare = [row.view(np.int32) for row in kept]
    for start in range(0, target.size, BLOCK):
        part = target[start : start + BLOCK]
        step(part, source[start : start + BLOCK], *[row[: part.size] for row in spare])
    scratch.give_back(kept)


class _Scratch(threading.local):
    """Memory for the blocks that are converted, which stays in the cache and with the thread: the system takes as long
    to hand it out anew as the conversion takes. While it is used it is not here, so that no other thread gets it."""

    def __init__(self) -> None:
        self.rows: list[Array] = []

    def take(self, count: int) -> list[Array]:
        while len(self.rows) < count:
            self.rows.append(aligned.scratch(BLOCK, FLOAT))
        taken = self.rows[:count]
        del self.rows[:count]
        return taken

    def give_back(self, taken: list[Array]) -> None:
        self.rows[:0] = taken


scratch = _Scratch()


# -------------------- signs --------------------


def negative(x: Array, out: Array | None = None) -> Array:
    return _with_bits(np.bitwise_xor, x, _SIGN, out)


def absolute(x: Array, out: Array | None = None) -> Array:
    return _with_bits(np.bitwise_and, x, ~_SIGN, out)


def copysign(x: Array, sign: Array, out: Array | None = None) -> Array:
    """The bits in which the two differ, of which only the sign is kept, are flipped."""
    bits = np.bitwise_xor(x.view(np.uint16), sign.view(np.uint16))
    flipped = np.bitwise_and(bits, _SIGN, out=bits if bits.ndim else None)
    if out is None:
        return np.asarray(np.bitwise_xor(flipped, x.view(np.uint16), out=bits if bits.ndim else None)).view(x.dtype)
    np.bitwise_xor(flipped, x.view(np.uint16), out.view(np.uint16))
    return out


def _with_bits(function: np.ufunc, x: Array, bits: np.uint16, out: Array | None) -> Array:
    if out is None:
        return function(x.view(np.uint16), bits).view(x.dtype)
    function(x.view(np.uint16), bits, out.view(np.uint16))
    return out


# -------------------- blocks --------------------


def widen_into(out: Array, array: Array) -> None:
    """Writes the elements of a part of an array of float16 or bfloat16 to row-major memory of float32."""
    if loop := _compiled(array.dtype, FLOAT, array.size):
        loop(_bits(array), out)
        return
    if not array.flags.c_contiguous:
        array = array.copy()
    if array.dtype == HALF:
        _widen(out.reshape(-1), array.reshape(-1))
    else:
        np.copyto(out, array)


def narrow_into(out: Array, array: Array, spare: Array) -> None:
    """Writes the elements of row-major memory of float32, which is overwritten, to a part of an array of any dtype."""
    if loop := _compiled(FLOAT, out.dtype, out.size):
        loop(array, _bits(out))
        return
    if out.dtype == HALF and out.flags.c_contiguous:
        flat = array.reshape(-1)
        _narrow(out.reshape(-1), flat, spare.reshape(-1).view(np.int32), flat.view(np.int32))
    else:
        np.copyto(out, array, casting="unsafe")


def _widen(out: Array, x: Array, *_: Array) -> None:
    bits, wide = x.view(np.uint16), out.view(np.int32)
    without_sign = np.left_shift(bits, 1, out.view(np.uint16)[: x.size])
    if largest(without_sign) >= _NOT_FINITE:
        _VALUES.take(bits, out=out, mode="clip")
        return
    np.copyto(wide, bits.view(np.int16))
    np.left_shift(wide, _SHIFT, wide)
    np.bitwise_and(wide, _SIGN_AND_NUMBER, wide)
    np.multiply(out, _TO_SINGLE, out)


def _narrow(out: Array, x: Array, power: Array, size: Array) -> None:
    """The last two are memory to work in, and `size` can be that of `x`."""
    bits = out.view(np.uint16)
    negative = np.signbit(x, power.view(np.bool_)[: x.size])
    np.multiply(negative.view(np.uint8), _SIGN, bits)
    np.bitwise_and(x.view(np.int32), _MAGNITUDE, size)
    biggest = largest(size)
    if biggest > _EXPONENT:
        is_nan = np.isnan(size.view(FLOAT))
        nans = size.view(FLOAT)[is_nan].astype(HALF).view(np.uint16) | bits[is_nan]
    if biggest >= _INFINITE[0]:
        np.minimum(size, _INFINITE[: x.size], out=size)
    np.maximum(size, _SUBNORMAL[: x.size], out=power)
    np.bitwise_and(power, _EXPONENT, power)
    np.add(power, _PLACES, power)
    np.add(size.view(FLOAT), power.view(FLOAT), size.view(FLOAT))  # the lower bits are the rounded mantissa now
    np.right_shift(power, _SHIFT, power)
    np.add(size, power, size)
    lower = power.view(np.uint16)[: x.size]
    np.copyto(lower, size, casting="unsafe")
    np.subtract(lower, _BIAS, lower)
    np.bitwise_or(bits, lower, bits)
    if biggest > _EXPONENT:
        bits[is_nan] = nans


_NARROW = (HALF, BFLOAT16)
_STEPS = {(HALF, FLOAT): _widen, (FLOAT, HALF): _narrow}
