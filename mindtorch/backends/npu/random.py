"""Random numbers on the NPU that are made of uniform and normal ones, or whose bounds the dtype decides."""

import math
from collections.abc import Callable

import numpy as np

from mindtorch._core.generator import Generator
from mindtorch.backends.cpu.random.random import integer_bounds
from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.launch import aclnn, copied, seed_and_offset

_add = aclnn("aclnnInplaceAdds", "TSS")
_at_least = aclnn("aclnnClampMin", "TST")
_ceil = aclnn("aclnnInplaceCeil", "T")
_exp = aclnn("aclnnInplaceExp", "T")
_log1p = aclnn("aclnnInplaceLog1p", "T")
_mul = aclnn("aclnnInplaceMuls", "TS")
_neg = aclnn("aclnnInplaceNeg", "T")
_normal = aclnn("aclnnInplaceNormal", "Tffll")
_random = aclnn("aclnnInplaceRandom", "Tllll")
_tan = aclnn("aclnnInplaceTan", "T")
_uniform = aclnn("aclnnInplaceUniform", "Tggqq")

_MOST = (1 << 63) - 1
_WIDE = ("float32", "float64")
_FLOATS = ("float16", "bfloat16", *_WIDE)

_cauchy_on_cpu = cpu_kernel_for("cauchy_")
_exponential_on_cpu = cpu_kernel_for("exponential_")
_geometric_on_cpu = cpu_kernel_for("geometric_")
_log_normal_on_cpu = cpu_kernel_for("log_normal_")


def random_from(input: NpuArray, from_: int, to: int | None, generator: Generator | None = None) -> NpuArray:
    low, high = integer_bounds(input, from_, to)
    seed, offset = seed_and_offset(generator, input)
    if input.size:
        _random(input, low, min(high, _MOST), seed, offset)
    return input


def _made(input: NpuArray, generator: Generator | None, draw: Callable, *steps: tuple) -> NpuArray:
    """Numbers that are drawn, and changed in steps, in single precision at least."""
    seed, offset = seed_and_offset(generator, input)
    if not input.size:
        return input
    is_wide = input.dtype.name in _WIDE
    work = input if is_wide else new(input.shape, np.dtype(np.float32), input.root.index)
    draw(work, seed, offset)
    for call, *numbers in steps:
        call(work, *numbers)
    return copied(input, work)


def _unit(array: NpuArray, seed: int, offset: int) -> None:
    """In [0, 1)."""
    _uniform(array, 0.0, 1.0, seed, offset)


def _standard_normal(array: NpuArray, seed: int, offset: int) -> None:
    _normal(array, 0.0, 1.0, seed, offset)


def exponential(input: NpuArray, lambd: float = 1.0, generator: Generator | None = None) -> NpuArray:
    """-log(1 - u) / lambd, where u is less than 1."""
    if not lambd > 0 or input.dtype.name not in _FLOATS:
        return _exponential_on_cpu(input, lambd, generator)  # which says what is wrong
    return _made(input, generator, _unit, (_neg,), (_log1p,), (_mul, -1 / lambd))


def cauchy(input: NpuArray, median: float = 0.0, sigma: float = 1.0, generator: Generator | None = None) -> NpuArray:
    if not sigma > 0 or input.dtype.name not in _FLOATS:
        return _cauchy_on_cpu(input, median, sigma, generator)
    return _made(input, generator, _unit, (_add, -0.5, 1), (_mul, math.pi), (_tan,), (_mul, sigma), (_add, median, 1))


def log_normal(input: NpuArray, mean: float = 1.0, std: float = 2.0, generator: Generator | None = None) -> NpuArray:
    if not std > 0 or input.dtype.name not in _FLOATS:
        return _log_normal_on_cpu(input, mean, std, generator)
    return _made(input, generator, _standard_normal, (_mul, std), (_add, mean, 1), (_exp,))


def geometric(input: NpuArray, p: float, generator: Generator | None = None) -> NpuArray:
    """The first success of trials, counted from 1."""
    if not 0 < p < 1 or input.dtype.kind in "bc":
        return _geometric_on_cpu(input, p, generator)
    return _made(input, generator, _unit, (_neg,), (_log1p,), (_mul, 1 / math.log1p(-p)), (_ceil,), (_not_below_one,))


def _not_below_one(array: NpuArray) -> None:
    _at_least(array, 1, array)
