"""Padding by reflection and repetition on the NPU by hand: ACLNN pads by what is not negative, the rest is cut off."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch.backends.meta import rules
from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn, copied, delivered, placed, remembered
from mindtorch.backends.npu.steps import like, narrowed, zeroed


def _grown(padding: Sequence[int]) -> tuple[int, ...]:
    return tuple([max(width, 0) for width in padding])


def _room(input: NpuArray, grown: Sequence[int]) -> NpuArray:
    """For what is padded before anything is cut off."""
    shape = list(input.shape)
    for place in range(len(grown) // 2):
        shape[-1 - place] += grown[2 * place] + grown[2 * place + 1]
    return like(input, shape=tuple(shape))


def _kept(room: NpuArray, padding: Sequence[int]) -> NpuArray:
    """What negative widths leave."""
    for place in range(len(padding) // 2):
        dim, (low, high) = room.ndim - 1 - place, padding[2 * place : 2 * place + 2]
        start, end = max(-low, 0), max(-high, 0)
        room = narrowed(room, dim, start, room.shape[dim] - start - end)
    return room


def _forward(op: str, function: str) -> Callable:
    call = aclnn(function, "TIT")
    rule = remembered(rules.padded("first"), op)

    def kernel(input: NpuArray, padding: Sequence[int], out: Any = None) -> NpuArray:
        result = placed(rule(input, padding, out=out), input)
        if min(padding) >= 0:
            call(input, padding, result)
            return result if out is None else delivered(result, out)
        grown, room = _grown(padding), input
        if any(grown):
            room = _room(input, grown)
            call(input, grown, room)
        copied(result, _kept(room, padding))
        return result if out is None else delivered(result, out)

    return kernel


def _backward(op: str, function: str) -> Callable:
    call = aclnn(function, "TTIT")
    on_cpu, rule = kernel_for(op), remembered(rules.like_second("first"), op)

    def kernel(grad_output: NpuArray, input: NpuArray, padding: Sequence[int], out: Any = None) -> NpuArray:
        if input.dtype.kind == "c":
            return on_cpu(grad_output, input, padding, *(() if out is None else (out,)))
        result = placed(rule(grad_output, input, padding, out=out), input)
        if min(padding) >= 0:
            call(grad_output, input, padding, result)
            return result if out is None else delivered(result, out)
        grown = _grown(padding)
        room = zeroed(_room(input, grown) if any(grown) else result)
        copied(_kept(room, padding), grad_output)
        if any(grown):
            call(room, input, grown, result)
        return result if out is None else delivered(result, out)

    return kernel


reflection_pad1d = _forward("reflection_pad1d", "aclnnReflectionPad1d")
reflection_pad1d_backward = _backward("reflection_pad1d_backward", "aclnnReflectionPad1dBackward")
reflection_pad2d = _forward("reflection_pad2d", "aclnnReflectionPad2d")
reflection_pad2d_backward = _backward("reflection_pad2d_backward", "aclnnReflectionPad2dBackward")
reflection_pad3d = _forward("reflection_pad3d", "aclnnReflectionPad3d")
reflection_pad3d_backward = _backward("reflection_pad3d_backward", "aclnnReflectionPad3dBackward")
replication_pad1d = _forward("replication_pad1d", "aclnnReplicationPad1d")
replication_pad1d_backward = _backward("replication_pad1d_backward", "aclnnReplicationPad1dBackward")
replication_pad2d = _forward("replication_pad2d", "aclnnReplicationPad2d")
replication_pad2d_backward = _backward("replication_pad2d_backward", "aclnnReplicationPad2dBackward")
replication_pad3d = _forward("replication_pad3d", "aclnnReplicationPad3d")
replication_pad3d_backward = _backward("replication_pad3d_backward", "aclnnReplicationPad3dBackward")
