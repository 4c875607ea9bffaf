"""What may be written: memory that stands for one element each, and that no input reads as another element."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import geometry
from mindtorch._support import errors
from mindtorch._support.numpy_functions import may_share_memory
from mindtorch._support.warnings import warn


def check_overlap(out: Any, inputs: Sequence[Any]) -> None:
    """Refuses to write to memory that stands for several elements, or for other elements of an input."""
    check_distinct(out)
    check_shared(out, inputs)


def check_shared(out: Any, inputs: Sequence[Any]) -> None:
    """Refuses to write to memory that stands for other elements of an input."""
    for operand in inputs:
        if operand is not out and _overlap(out, operand) and _extent(out) != _extent(operand):
            raise memory_shared()


def check_distinct(out: Any) -> None:
    """Refuses to write to memory that stands for several elements."""
    if 0 in out.strides and is_expanded(out):
        raise errors.element_shared()


def warn_if_expanded(out: Any, op: str, assignment: str) -> None:
    """Some ops only warn of writing to memory that stands for several elements."""
    if is_expanded(out):
        warn(
            f"Use of {op} on expanded tensors is deprecated. Please clone() the tensor before performing this "
            f"operation. This also applies to advanced indexing e.g. {assignment}",
            UserWarning,
        )


def is_expanded(array: Any) -> bool:
    """Whether several elements lie at one place in memory, as far as a stride of 0 tells."""
    strides = array.strides
    if 0 not in strides or not array.size:
        return False
    return any(stride == 0 and size > 1 for size, stride in zip(array.shape, strides, strict=True))


def is_same_view(a: Any, b: Any) -> bool:
    """Whether two arrays show the same memory in the same way."""
    return a.shape == b.shape and a.dtype == b.dtype and _extent(a) == _extent(b)


def may_share(out: np.ndarray, inputs: Sequence[np.ndarray]) -> bool:
    """Whether an output may lie in the memory of an input."""
    return any([may_share_memory(out, each) for each in inputs])


def may_mix(outputs: Sequence[np.ndarray], inputs: Sequence[np.ndarray]) -> bool:
    """Whether writing an element could change another one that is still to be read."""
    return any(
        may_share_memory(output, each) and not is_same_view(output, each) for output in outputs for each in inputs
    )


def check_apart(out: Any, inputs: Sequence[Any]) -> None:
    """Refuses to write to memory that an input reads, even if it is the same array."""
    for operand in inputs:
        if operand is out or _overlap(out, operand):
            raise memory_shared()


def is_at_hand(out: Any, shape: tuple[int, ...], dtype: np.dtype, inputs: Sequence[Any]) -> bool:
    """Whether a result of this shape and dtype can be written to an array while the inputs are read, and there is
    nothing to warn of, to refuse or to convert."""
    if type(out) is not np.ndarray or out.dtype is not dtype or out.shape != shape or not out.flags.c_contiguous:
        return False
    return is_apart(out, inputs)


def is_apart(out: np.ndarray, inputs: Sequence[np.ndarray]) -> bool:
    """Whether an array can be written while the inputs are read.

    Surely, when all own their memory; arrays that begin at a cache line don't, so their bounds are compared.
    """
    for each in inputs:
        if each is out or ((out.base is not None or each.base is not None) and may_share_memory(out, each)):
            return False
    return True


def memory_shared() -> RuntimeError:
    """torch's error for a write to what an input reads."""
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
        "memory location. Please clone() the tensor before performing the operation."
    )


def _overlap(out: Any, operand: Any) -> bool:
    """Whether two dense arrays share memory. Arrays with gaps are not looked at, as in torch."""
    if not (isinstance(out, np.ndarray) and isinstance(operand, np.ndarray)):
        return False
    if out.base is None is operand.base or not may_share_memory(out, operand):  # each with memory of its own
        return False
    return geometry.is_dense(out) and geometry.is_dense(operand)


def _extent(array: np.ndarray) -> tuple:
    return array.__array_interface__["data"][0], array.nbytes, array.strides
