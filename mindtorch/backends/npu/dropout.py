"""Dropout on the NPU by hand: the device keeps a bit for each element, torch's mask a bool."""

from mindtorch._core.promotion import HALF, UINT8
from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray, new
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, placed_all, remembered, seed_and_offset
from mindtorch.backends.npu.steps import FLOATS, contiguous, like, ones

_apply = aclnn("aclnnDropoutDoMask", "TTgT")
_differs = aclnn("aclnnNeScalar", "TST")
_generate = aclnn("aclnnDropoutGenMaskV2", "IglldT")
_one = aclnn("aclnnInplaceOne", "T")
_rule = remembered(rules.like("first_mask"))

_on_cpu = kernel_for("native_dropout")


def native_dropout(input: NpuArray, p: float, train: bool | None) -> tuple[NpuArray, ...]:
    if input.dtype not in FLOATS or not input.size or not 0 <= p <= 1:
        return _on_cpu(input, p, train)
    result, mask = placed_all(_rule(input, p, train), input)
    if train is False:
        _one(mask)
        return copied(result, input), mask
    bits = _bits(input, p)
    room = result if result.flags.c_contiguous else like(result)
    _apply(contiguous(input), bits, p, room)
    noise = ones(input.shape, HALF, input.root.index)
    _apply(noise, bits, p, noise)
    _differs(noise, 0, mask)
    return copied(result, room), mask


def _bits(input: NpuArray, p: float) -> NpuArray:
    """A bit for each element, rounded up to 128 of them."""
    bits = new(((input.size + 127) // 128 * 16,), UINT8, input.root.index)
    seed, offset = seed_and_offset(None, bits)
    _generate((input.size,), p, seed, offset, input.dtype, bits)
    return bits
