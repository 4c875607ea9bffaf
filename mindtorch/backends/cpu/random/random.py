"""Random kernels: they fill an array with the numbers that torch would fill it with from the same generator state.

Elements are filled in the order in which they lie in memory, not in index order, as torch's iterators go.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch import iterator
from mindtorch._core import geometry
from mindtorch._core.dtype import bfloat16, float16, float32, float64
from mindtorch._core.generator import Generator, Window, default_generator
from mindtorch._support.float_errors import quiet
from mindtorch._support.lazy import lazy
from mindtorch._support.numpy_functions import broadcast_to, copyto, is_all
from mindtorch.backends.cpu.common.casting import cast
from mindtorch.backends.cpu.common.checks import c_name, not_implemented, scalar_name
from mindtorch.backends.cpu.common.fused import fused_multiply_add
from mindtorch.backends.cpu.random.normal import (
    BLOCK,
    combine,
    normal_from_pairs,
    points,
    radii,
    scale_into,
    transform_blocks,
)
from mindtorch.iterator.constants import kept_constant

lapack = lazy("scipy.linalg.lapack")

Array = np.ndarray

_FLOAT_KINDS = "fV"  # bfloat16 is of NumPy's kind V
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_SINGLE_BITS = np.uint32((1 << 24) - 1)
_SINGLE_MASK = np.asarray(_SINGLE_BITS)
_DOUBLE_BITS = np.uint64((1 << 53) - 1)
_SINGLE_STEP, _DOUBLE_STEP = 2.0**-24, 2.0**-53
# From this range on a draw of 32 bits would favour some of the numbers too visibly.
_WIDE_RANGE = 1 << 28
_FEW = 2048  # normal numbers, which come from draws ahead
_WINDOW = 16384  # draws ahead
_CHUNK = 1 << 14  # numbers drawn together
_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


# -------------------- uniform and normal --------------------


def uniform(input, from_=0.0, to=1.0, generator=None):
    if input.dtype.kind == "c":
        uniform(_parts(input), from_, to, generator)
        return input
    if input.dtype.kind not in _FLOAT_KINDS:
        raise not_implemented("check_uniform_bounds", input)
    source, dtype, work = generator or default_generator, input.dtype, _work_dtype(input)
    is_unit = from_ == 0 and to == 1
    if not is_unit:
        _check_uniform_bounds(input, from_, to)
        low = work.type(from_)
        span = work.type(to) - low

    def draw(count: int) -> Array:
        numbers = _unit_numbers(source, count, work)
        if not is_unit:
            numbers = fused_multiply_add(numbers, span, low)
        if dtype != work:
            numbers = numbers.astype(dtype)
            numbers[numbers == dtype.type(to)] = from_  # rounding must not reach the excluded end
        return numbers

    return _fill(input, draw)


def _unit_numbers(source: Generator, count: int, dtype: np.dtype) -> Array:
    """Uniform numbers in [0, 1) of float32 or float64."""
    if dtype == _DOUBLE:
        return _scaled(source.wide_draws(count), _DOUBLE_BITS, dtype, _DOUBLE_STEP)
    draws = source.narrow_draws(count)
    np.bitwise_and(draws, _SINGLE_MASK, draws)
    numbers = draws.view(np.int32).astype(dtype)  # the 24 bits have no sign, and NumPy converts these faster
    return np.multiply(numbers, kept_constant(_SINGLE_STEP, dtype), numbers)


def _scaled(draws: Array, bits: np.uint64, dtype: np.dtype, step: float) -> Array:
    numbers = (draws & bits).astype(dtype)
    return np.multiply(numbers, kept_constant(step, dtype), numbers)


# bfloat16 has the bound of float32 here
_LARGEST = {
    each.numpy: float(np.finfo(np.float32 if each is bfloat16 else each.numpy).max)
    for each in (float16, bfloat16, float32, float64)
}


def _check_uniform_bounds(input: Array, low: float, high: float) -> None:
    largest = _LARGEST[input.dtype]
    for name, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {c_name(input)}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{scalar_name(input)}>::max(), but found to={high:g} and "
            f"from={low:g} which result in to-from to exceed the limit"
        )


def normal(input, mean=0.0, std=1.0, generator=None):
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if input.dtype.kind == "c":
        normal(_parts(input), mean, std / math.sqrt(2), generator)
        return input
    if input.dtype.kind not in _FLOAT_KINDS:
        raise not_implemented("normal_kernel_cpu", input)
    source = generator or default_generator
    if input.size < BLOCK or not input.flags.c_contiguous:
        numbers = np.array(_standard_normal(source, input.size))
        return _write(input, numbers + mean if std == 1 else fused_multiply_add(numbers, std, mean))
    if input.size <= _FEW and input.dtype == _SINGLE:
        return quiet(_normal_from_window, source, input, mean, std)
    return _normal_in_blocks(source, input, mean, std)


def _standard_normal(source: Generator, count: int) -> list[float]:
    """Pairs of double precision; the second of a pair may be left over for the next call."""
    numbers = [] if source.spare_normal is None or not count else [source.spare_normal]
    missing = count - len(numbers)
    if numbers:
        source.spare_normal = None
    uniform_numbers = _unit_numbers(source, missing + missing % 2, _DOUBLE).tolist()
    for first, second in zip(uniform_numbers[0::2], uniform_numbers[1::2], strict=True):
        numbers += normal_from_pairs(first, second)
    if len(numbers) > count:
        source.spare_normal = numbers.pop()
    return numbers


def _normal_in_blocks(source: Generator, input: Array, mean: float, std: float) -> Array:
    """Blocks of 16; an incomplete last one is drawn together with the numbers before it, which are lost."""
    target, work, rest = input.reshape(-1), _work_dtype(input), input.size % BLOCK

    def draw(count: int) -> Array:
        numbers = _unit_numbers(source, count, work)
        transform_blocks(numbers, mean, std)
        return numbers

    _fill(target[: input.size - rest], draw)
    if rest:
        if input.itemsize > 2:  # torch first draws all numbers of float32 and float64, then transforms
            _unit_numbers(source, rest, work)
        _fill(target[-BLOCK:], draw)
    return input


def _normal_from_window(source: Generator, input: Array, mean: float, std: float) -> Array:
    """A few numbers of float32, from draws ahead: the transform takes as long for 64 numbers as for a thousand."""
    rest = input.size % BLOCK
    needed = input.size + BLOCK if rest else input.size
    window = source.window(needed, _WINDOW // needed * needed)
    if window.prepared is None:
        numbers = _scaled(window.words, _SINGLE_BITS, _SINGLE, _SINGLE_STEP)
        parts = radii(numbers), *points(numbers)
        window.prepared = *parts, _products(*parts)
    target = input.reshape(-1)
    _blocks_from_window(target[: input.size - rest], window, mean, std)
    if rest:
        window.take(rest)
        _blocks_from_window(target[-BLOCK:], window, mean, std)
    return input


def _blocks_from_window(target: Array, window: Window, mean: float, std: float) -> None:
    taken = window.take(target.size)
    *parts, products = window.prepared
    if taken.start % BLOCK == 0:
        scale_into(target, products[taken], mean, std)
        return
    radius, cosine, sine = [part[taken].reshape(-1, BLOCK) for part in parts]
    half = BLOCK // 2
    combine(target.reshape(-1, BLOCK), radius[:, :half], (cosine[:, half:], sine[:, half:]), mean, std)


def _products(radius: Array, cosine: Array, sine: Array) -> Array:
    """The normal numbers of all blocks from the first draw on, which is where most blocks begin."""
    whole, half = radius.size - radius.size % BLOCK, BLOCK // 2
    radius, cosine, sine = [part[:whole].reshape(-1, BLOCK) for part in (radius, cosine, sine)]
    return np.concatenate([radius[:, :half] * cosine[:, half:], radius[:, :half] * sine[:, half:]], 1).reshape(-1)


def _work_dtype(input: Array) -> np.dtype:
    """The dtype in which numbers for `input` are computed."""
    return _DOUBLE if input.dtype == _DOUBLE else _SINGLE


def exponential(input, lambd=1.0, generator=None):
    _check_continuous(input, "Exponential", scalar_name)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    source = generator or default_generator
    return _fill(input, lambda count: -1.0 / lambd * np.log1p(-_unit_numbers(source, count, _DOUBLE)))


def _check_continuous(input: Array, name: str, dtype_name: Callable[[Array], str]) -> None:
    if input.dtype.kind not in _FLOAT_KINDS:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point but "
            f"you specified {dtype_name(input)}"
        )


def cauchy(input, median=0.0, sigma=1.0, generator=None):
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _check_continuous(input, "Cauchy", c_name)
    source = generator or default_generator
    return _fill(input, lambda count: median + sigma * np.tan(np.pi * (_unit_numbers(source, count, _DOUBLE) - 0.5)))


def log_normal(input, mean=1.0, std=2.0, generator=None):
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    if input.dtype.kind not in _FLOAT_KINDS:
        raise not_implemented("log_normal_cpu", input)
    source = generator or default_generator
    return _fill(input, lambda count: np.exp(np.array(_standard_normal(source, count)) * std + mean))


def geometric(input, p, generator=None):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if input.dtype.kind in "bc":
        raise not_implemented("geometric_cpu", input)
    source, log_failure = generator or default_generator, math.log1p(-p)
    return _fill(input, lambda count: np.ceil(np.log(_unit_numbers(source, count, _DOUBLE)) / log_failure))


# -------------------- zeros and ones --------------------


def bernoulli_float(input, p=0.5, generator=None):
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if input.dtype.kind == "c" and input.size:
        raise not_implemented("bernoulli_scalar_cpu_", input)
    source, limit = generator or default_generator, np.uint64(math.ceil(p / _DOUBLE_STEP))
    return _fill(input, lambda count: source.wide_draws(count) & _DOUBLE_BITS < limit)


def bernoulli_tensor(input, p, generator=None):
    if p.dtype.kind not in _FLOAT_KINDS:
        raise not_implemented("bernoulli_tensor_cpu_p_", p)
    if not is_all((p >= 0) & (p <= 1)):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If "
            "so, please report an enhancement request to PyTorch.)"
        )
    work = _work_dtype(p)
    order = _fill_order(input)
    chances = broadcast_to(p, input.shape).transpose(order).astype(work).reshape(-1)
    return _write(input, _unit_numbers(generator or default_generator, input.size, work) < chances)


def bernoulli(input, generator=None, out=None):
    if out is None or iterator.needs_resize(out, input.shape):
        out = np.empty(input.shape, input.dtype if out is None else out.dtype)
    return bernoulli_tensor(out, input, generator)


# -------------------- integers --------------------


def random(input, generator=None):
    """All numbers that the dtype holds, or for floating-point dtypes all integers that it holds exactly, from 0 on."""
    source = generator or default_generator
    largest = _largest_integer(input)
    draw = source.wide_draws if largest >> 32 else source.draws
    return _fill(input, lambda count: draw(count) % np.uint64(largest + 1))


def random_to(input, to, generator=None):
    return random_from(input, 0, to, generator)


def random_from(input, from_, to, generator=None):
    from_, to = integer_bounds(input, from_, to)
    source, span = generator or default_generator, to - from_
    if span < _WIDE_RANGE:
        return _fill(input, lambda count: _remainders(source.narrow_draws(count), np.uint32(span)) + from_)
    if span == 1 << 64:
        return _fill(input, lambda count: source.wide_draws(count).view(np.int64))
    span, start = np.uint64(span), np.uint64(from_ % (1 << 64))
    return _fill(input, lambda count: (source.wide_draws(count) % span + start).view(np.int64))


def integer_bounds(input: Any, from_: int, to: int | None) -> tuple[int, int]:
    """Bounds of integers that the dtype can hold; the upper one is not drawn."""
    if to is None:
        to = _largest_integer(input) + 1
    elif from_ >= to:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={from_} >= to={to}")
    _check_integer_bounds(input, from_, to - 1)
    if input.dtype.kind in _FLOAT_KINDS:
        from_, to = _representable_bounds(_DIGITS[input.dtype.name], from_, to)
    return from_, to


def _remainders(draws: Array, span: np.uint32) -> Array:
    """By way of quotients, as NumPy divides by a constant faster than it takes remainders."""
    quotients = draws // span
    quotients *= span
    return np.subtract(draws, quotients, dtype=np.int64)


def _representable_bounds(digits: int, low: int, high: int) -> tuple[int, int]:
    """Bounds that a floating-point dtype with so many binary digits does not round outwards."""
    above, below = _rounded(low + 1, digits), _rounded(high - 1, digits)
    if above < low:
        low = above + (1 << max(abs(low + 1).bit_length() - digits, 0))
    if below >= high:
        high = below - (1 << max(abs(high - 1).bit_length() - digits, 0))
    return low, high


def _rounded(number: int, digits: int) -> int:
    """The nearest integer with so many binary digits, ties to even."""
    shift = max(abs(number).bit_length() - digits, 0)
    quotient, rest = divmod(number, 1 << shift)
    half = (1 << shift) >> 1
    up = rest > half or (rest == half and shift and quotient & 1)
    return (quotient + bool(up)) << shift


def _largest_integer(input: Array) -> int:
    dtype = input.dtype
    if dtype.kind in _FLOAT_KINDS:
        return 1 << _DIGITS[dtype.name]
    return 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def _check_integer_bounds(input: Array, low: int, high: int) -> None:
    if input.dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    smallest, largest = _integer_bounds(input.dtype)
    for name, bound in (("from", low), ("to - 1", high)):
        if not smallest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {c_name(input)}")


@lru_cache
def _integer_bounds(dtype: np.dtype) -> tuple[float, float]:
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind in _FLOAT_KINDS:
        largest = 65504 if dtype == np.float16 else math.inf
        return -largest, largest
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def permutation(count: int, generator: Generator | None) -> Array:
    """A random order of `range(count)`, as floating-point numbers: each place in turn swaps with a later one or itself.

    LAPACK has such a sequence of swaps, for the rows of a matrix.
    """
    if count < 2:
        return np.zeros(count)
    others = (generator or default_generator).draws(count - 1).view(np.int64)
    others %= np.arange(count, 1, -1)
    others += np.arange(count - 1)
    rows = np.arange(float(count)).reshape(count, 1)
    return lapack.dlaswp(rows, others, overwrite_a=True).reshape(count)


# -------------------- filling --------------------


def _parts(input: Array) -> Array:
    """Real and imaginary parts of a complex array as a last dimension."""
    parts = np.dtype(f"f{input.itemsize // 2}")
    return input[..., None].view(parts)


def _fill_order(input: Array) -> Any:
    return geometry.memory_order(input.shape, input.strides)[::-1]


def _fill(input: Array, draw: Callable[[int], Array]) -> Array:
    """Fills `input`, in the order of its memory, with what `draw(count)` gives, in portions that fit in the cache."""
    if input.size <= _CHUNK:
        return _write(input, quiet(draw, input.size))
    target = input.reshape(-1) if input.flags.c_contiguous else np.empty(input.size, input.dtype)
    for start in range(0, input.size, _CHUNK):
        portion = target[start : start + _CHUNK]
        portion[...] = cast(quiet(draw, portion.size), input.dtype)
    return input if input.flags.c_contiguous else _write(input, target)


def _write(input: Array, numbers: Array) -> Array:
    """Writes a 1-D array of numbers to `input`, in the order of its memory."""
    if input.flags.c_contiguous:
        copyto(input.reshape(-1), cast(numbers, input.dtype))
    else:
        iterator.check_distinct(input)
        target = input.transpose(_fill_order(input))
        np.copyto(target, cast(numbers, input.dtype).reshape(target.shape))
    return input
