"""What pointwise ops may write, as everywhere: memory that stands for no other elements of an input."""

from mindtorch._core import geometry
from mindtorch.backends.npu.array import NpuArray
from mindtorch.dispatch.registry import find_op
from mindtorch.iterator import overlap


def check_shared(op: str, out: NpuArray, operand: NpuArray) -> bool:
    """Refuses to write to memory that stands for other elements of an operand; otherwise, they are not the same."""
    if _overlap(out, operand) and _is_pointwise(op):
        raise overlap.memory_shared()
    return False


def check_copy(target: NpuArray, source: NpuArray) -> None:
    """The same for a copy."""
    overlap.check_distinct(target)
    if source.root is target.root and _overlap(target, source):
        raise overlap.memory_shared()


def _is_pointwise(op: str) -> bool:
    return bool(op) and "pointwise" in find_op(op).tags


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
