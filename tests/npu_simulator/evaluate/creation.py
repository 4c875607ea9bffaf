"""Filling tensors, with numbers that are known or with random ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    BOOL,
    Evaluator,
    broadcast,
    category,
    expect,
    is_floating,
    is_inexact,
    real,
    refuse,
    require,
    same_dtype,
    store,
    wide,
)

EVALUATORS: dict[str, Evaluator] = {}


def _needed(out: Any) -> Any:
    if out is None:
        refuse("a tensor is null", 161001)
    return out


def _arange(start: float, end: float, step: float, out: Any) -> None:
    # The output's length is the number of steps.
    require(step != 0, "step 0")
    values = start + step * np.arange(_needed(out).size)
    require(
        out.ndim == 1 and out.size == max(0, math.ceil((end - start) / step)), f"{out.shape} for {start}:{end}:{step}"
    )
    store(out, values)


def _linspace(start: float, end: float, steps: int, out: Any) -> None:
    expect(out, (steps,))
    store(out, np.linspace(start, end, steps))


def _logspace(start: float, end: float, steps: int, base: float, out: Any) -> None:
    expect(out, (steps,))
    store(out, base ** np.linspace(start, end, steps))


def _eye(n: int, m: int, out: Any) -> None:
    store(out, np.eye(n, m))


def _fill(value: Any) -> Evaluator:
    def evaluate(self: Any) -> None:
        store(self, np.full(_needed(self).shape, value))

    return evaluate


def _fill_scalar(self: Any, value: Any) -> None:
    require(not isinstance(value, complex) or _needed(self).dtype.kind == "c", "a complex value")
    if self.dtype == BOOL:
        value = value != 0
    elif not is_inexact(self.dtype) and isinstance(value, float):
        value = math.trunc(value)
    store(self, np.full(self.shape, value))


def _fill_tensor(self: Any, value: Any) -> None:
    require(value is not None and value.size == 1, "the value is no single one")
    store(self, np.full(_needed(self).shape, wide(value).reshape(())))


def _fill_diagonal(self: Any, value: Any, wrap: bool) -> None:
    x = wide(self)
    np.fill_diagonal(x, value, wrap)
    store(self, x)


def _one_hot(self: Any, classes: int, on: Any, off: Any, at: int, out: Any) -> None:
    # "axis: -1 puts the new dimension last"; "values beyond numClasses give offValue everywhere"
    same_dtype(on, off, out)
    require(-1 <= at <= self.ndim, f"axis {at}")
    hits = wide(self)[..., None] == np.arange(classes)
    values = np.where(hits, wide(on).reshape(-1)[0], wide(off).reshape(-1)[0])
    store(out, np.moveaxis(values, -1, self.ndim if at == -1 else at))


EVALUATORS |= {
    "aclnnArange": _arange,
    "aclnnRange": lambda start, end, step, out: store(out, np.arange(start, end + step / 2, step)),
    "aclnnLinspace": _linspace,
    "aclnnLogSpace": _logspace,
    "aclnnEye": _eye,
    "aclnnInplaceZero": _fill(0),
    "aclnnInplaceOne": _fill(1),
    "aclnnInplaceFillScalar": _fill_scalar,
    "aclnnInplaceFillTensor": _fill_tensor,
    "aclnnInplaceFillDiagonal": _fill_diagonal,
    "aclnnOneHot": _one_hot,
}

# -------------------- random numbers --------------------
# The stream of a device is known to the device alone. Here it is NumPy's Philox4x64-10 with key (seed, 0) and counter
# (offset, 0, 0, 0), of which each element takes one 64-bit word: the same seed and offset give the same numbers, other
# seeds and offsets that differ by more than a quarter of the elements give independent ones.


def bits(seed: int, offset: int, count: int) -> np.ndarray:
    """Random words, one for each element."""
    key, counter = [seed % 2**64, 0], [offset % 2**64, 0, 0, 0]
    return np.random.Philox(key=np.array(key, np.uint64), counter=np.array(counter, np.uint64)).random_raw(
        max(count, 1)
    )[:count]


def uniform(seed: int, offset: int, shape: Sequence[int]) -> np.ndarray:
    """In [0, 1), of 53 bits."""
    return ((bits(seed, offset, math.prod(shape)) >> np.uint64(11)) * 2.0**-53).reshape(shape)


def normal(seed: int, offset: int, shape: Sequence[int]) -> np.ndarray:
    """By Box and Muller, of two words each."""
    words = (bits(seed, offset, 2 * math.prod(shape)) >> np.uint64(11)) * 2.0**-53
    length, angle = words[::2], words[1::2]
    return (np.sqrt(-2 * np.log1p(-length)) * np.cos(2 * np.pi * angle)).reshape(shape)


def _inplace_uniform(self: Any, low: float, high: float, seed: int, offset: int) -> None:
    require(low <= high, f"from {low} to {high}")
    values = (low + (high - low) * uniform(seed, offset, _needed(self).shape)).astype(self.dtype)
    store(self, np.where(values >= high, np.asarray(low, self.dtype), values) if low < high else values)


def _inplace_normal(self: Any, mean: float, std: float, seed: int, offset: int) -> None:
    require(std >= 0, f"a deviation of {std}")
    store(self, mean + std * normal(seed, offset, _needed(self).shape))


def _normal_of(mean: Any, std: Any, seed: int, offset: int, out: Any) -> None:
    mean, std = (real(each) if isinstance(each, np.ndarray) else np.asarray(each) for each in (mean, std))
    shape = _needed(out).shape if not mean.shape and not std.shape else broadcast(mean.shape, std.shape)
    store(out, mean + std * normal(seed, offset, shape))


def _check_offset(offset: int) -> None:
    # "offset % 4 == 0, otherwise the call fails"
    require(offset % 4 == 0, f"offset {offset} is no multiple of 4")


def _bernoulli(self: Any, probability: Any, seed: int, offset: int, out: Any) -> None:
    # Of self only dtype and shape count; the probability is a number or a tensor.
    _check_offset(offset)
    expect(out, _needed(self).shape, dtype=self.dtype)
    p = real(probability) if isinstance(probability, np.ndarray) else np.float64(probability)
    if isinstance(probability, np.ndarray):
        require(is_floating(probability.dtype), f"a probability of {probability.dtype}")
    else:
        require(0 <= p <= 1, f"a probability of {p}")
    broadcast(p.shape, self.shape)
    store(out, uniform(seed, offset, self.shape) < p)


def _inplace_random(self: Any, low: int, high: int, seed: int, offset: int) -> None:
    # Integers in [from, to).
    require(low < high, f"from {low} to {high}")
    span = np.uint64((high - low) % 2**64)
    words = bits(seed, offset, _needed(self).size)
    drawn = words % span if span else words
    values = (drawn + np.uint64(low % 2**64)).astype(np.int64).reshape(self.shape)
    store(self, values % 2 if self.dtype == BOOL and high - low == 2 else values)


def _randperm(n: int, seed: int, offset: int, out: Any) -> None:
    expect(out, (n,))
    store(out, np.argsort(bits(seed, offset, n), kind="stable"))


def _multinomial(self: Any, count: int, replacement: bool, seed: int, offset: int, out: Any) -> None:
    weights = real(self)
    rows = weights.reshape(-1, weights.shape[-1])
    drawn = uniform(seed, offset, (len(rows), count if replacement else rows.shape[1]))
    if replacement:
        limits = np.cumsum(rows, 1) / rows.sum(1, keepdims=True)
        found = np.stack([np.searchsorted(limit, own, "right") for limit, own in zip(limits, drawn)])
    else:  # the smallest of exponential times, each of its rate
        found = np.argsort(np.where(rows > 0, -np.log1p(-drawn) / rows, np.inf), 1)[:, :count]
    store(out, found.reshape(*self.shape[:-1], count))


# -------------------- dropout: the mask has a bit for each element, rounded up to 128 --------------------


def mask_size(count: int) -> int:
    """In bytes: align(count, 128) / 8."""
    return (count + 127) // 128 * 16


def _mask(count: int, probability: float, seed: int, offset: int) -> np.ndarray:
    kept = uniform(seed, offset, (mask_size(count) * 8,)) >= probability
    return np.packbits(kept, bitorder="little")


def _kept(mask: Any, shape: Sequence[int]) -> np.ndarray:
    count = math.prod(shape)
    require(mask is not None and mask.dtype == np.uint8, "the mask is not uint8")
    require(mask.size == mask_size(count), f"a mask of {mask.size} bytes for {count} elements")
    return np.unpackbits(mask.reshape(-1), bitorder="little")[:count].reshape(shape) != 0


def _gen_mask(shape: Sequence[int], probability: float, seed: int, offset: int, out: Any) -> None:
    # "prob: the probability of zero"
    require(0 <= probability <= 1, f"a probability of {probability}")
    require(out is not None and out.dtype == np.uint8, "the mask is not uint8")
    store(out, _mask(math.prod(shape), probability, seed, offset))


def _gen_mask_v2(shape: Sequence[int], probability: float, seed: int, offset: int, dtype: Any, out: Any) -> None:
    _gen_mask(shape, probability, seed, offset, out)


def _do_mask(self: Any, mask: Any, probability: float, out: Any) -> None:
    # out = self / (1 - prob) where the bit is 1, 0 elsewhere; all 0 where prob is 1
    kept = _kept(mask, self.shape)
    store(out, np.where(kept, wide(self) / (1 - probability), 0) if probability < 1 else np.zeros(self.shape))


def _dropout(input: Any, p: float, train: bool, seed: int, offset: int, out: Any, mask: Any) -> None:
    # "p = 0, p = 1 or train = false: nothing is done to maskOut"
    require(0 <= p <= 1, f"a probability of {p}")
    x = wide(input)
    if not train or p == 0:
        return store(out, x)
    if p == 1:
        return store(out, np.zeros(x.shape))
    expect(mask, (mask_size(x.size),), dtype=np.dtype("uint8"))
    store(mask, _mask(x.size, p, seed, offset))
    _do_mask(input, mask, p, out)


def _dropout_v3(input: Any, noise_shape: Any, p: float, seed: int, offset: int, out: Any, mask: Any) -> None:
    require(noise_shape is None, "optionalNoiseShape has to be null")
    _check_offset(offset)
    _dropout(input, p, True, seed, offset, out, mask)


def _dropout_backward(grad: Any, mask: Any, scale: float, out: Any) -> None:
    # "scale: 1 / (1 - p)" multiplies what is kept
    store(out, np.where(_kept(mask, grad.shape), wide(grad) * scale, 0))


def _random_without_bounds(self: Any, seed: int, offset: int) -> None:
    # All numbers of the dtype: for floating ones, up to what they hold exactly.
    largest = {"float16": 2**11, "bfloat16": 2**8, "float32": 2**24, "float64": 2**53, "bool": 1}
    top = largest.get(str(_needed(self).dtype)) or np.iinfo(self.dtype).max
    _inplace_random(self, 0, min(top, 2**63 - 2) + (1 if category(self.dtype) != 2 else 0), seed, offset)


EVALUATORS |= {
    "aclnnInplaceUniform": _inplace_uniform,
    "aclnnInplaceNormal": _inplace_normal,
    "aclnnNormalFloatFloat": _normal_of,
    "aclnnNormalFloatTensor": _normal_of,
    "aclnnNormalTensorFloat": _normal_of,
    "aclnnNormalTensorTensor": _normal_of,
    "aclnnBernoulli": _bernoulli,
    "aclnnBernoulliTensor": _bernoulli,
    "aclnnInplaceRandom": _inplace_random,
    "aclnnInplaceRandomWithoutFromTo": _random_without_bounds,
    "aclnnRandperm": _randperm,
    "aclnnMultinomial": _multinomial,
    "aclnnDropoutGenMask": _gen_mask,
    "aclnnDropoutGenMaskV2": _gen_mask_v2,
    "aclnnDropoutDoMask": _do_mask,
    "aclnnDropout": _dropout,
    "aclnnDropoutV3": _dropout_v3,
    "aclnnDropoutBackward": _dropout_backward,
    "aclnnDropoutV3Grad": _dropout_backward,
}
