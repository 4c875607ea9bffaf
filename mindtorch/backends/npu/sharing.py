"""What pointwise ops may write, as everywhere: memory that stands for no other elements of an input."""

from typing import Any

from mindtorch._core import geometry
from mindtorch.backends.npu.array import NpuArray
from mindtorch.dispatch.registry import find_op
from mindtorch.iterator import overlap

SAME, PARTLY = 1, 2  # how arrays share memory, if they do


def check_shared(op: str, out: NpuArray, operand: NpuArray) -> int:
    """Refuses to let a pointwise op write to memory that stands for other elements of an operand; how they share it."""
    found = shared(out, operand)
    if found == PARTLY and _is_pointwise(op):
        raise overlap.memory_shared()
    return found


def shared(out: Any, operand: Any) -> int:
    """How two arrays share memory: SAME elements, PARTLY, or 0. Only that of dense ones is looked at."""
    if operand is out:
        return SAME
    if type(operand) is not NpuArray or type(out) is not NpuArray or operand.root is not out.root:
        return 0
    if out.nbytes and _place_of(out) == _place_of(operand):
        return SAME
    return PARTLY if _overlap(out, operand) else 0


def check_apart(target: NpuArray, *operands: Any) -> None:
    """What ops that read anywhere refuse: to write to memory that they read."""
    if any(shared(target, operand) for operand in operands):
        raise overlap.memory_shared()


def check_copy(target: NpuArray, source: NpuArray) -> None:
    """The same for a copy."""
    overlap.check_distinct(target)
    if source.root is target.root and _overlap(target, source):
        raise overlap.memory_shared()


def _is_pointwise(op: str) -> bool:
    entry = find_op(op) if op else None
    return entry is not None and "pointwise" in entry.tags


def _place_of(array: NpuArray) -> tuple:
    return array.byte_offset, array.shape, array.strides, array.dtype


def _overlap(out: NpuArray, operand: NpuArray) -> bool:
    """Whether two dense arrays on one root have bytes in common, and do not lie in the same way."""
    start, other = out.byte_offset, operand.byte_offset
    if start + out.nbytes <= other or other + operand.nbytes <= start:
        return False
    if start == other and out.nbytes == operand.nbytes and out.strides == operand.strides:
        return False
    return _is_dense(out) and _is_dense(operand)


def _is_dense(array: NpuArray) -> bool:
    return geometry.is_non_overlapping_and_dense(array.shape, array.strides, array.dtype.itemsize)
