"""Calls that ACLNN does not take: what generated functions, each around the calls of one kernel, do about them.

Where an array has no elements, the CPU's kernel computes. Of what was refused it says what is wrong, for CANN only
gives a number. What is right to the CPU runs there, if nothing was launched before.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._support.errors import AcceleratorError
from mindtorch.backends.device_array import DeviceArray
from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.runtime.descriptors import NoElements
from mindtorch.dispatch.registry import find_op

# What a kernel ends with that is given what it cannot compute, besides torch's own errors.
_UNEXPLAINED = (AcceleratorError, IndexError, KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError)
UNANSWERED = (NoElements, *_UNEXPLAINED)


def answered(error: Exception, args: tuple, out: Any, *ops: str, is_one_call: bool = True) -> Any:
    """The result of a kernel that has ended with an error; or torch's error.

    `is_one_call`: it launches once, or not at all, so that all of it can be computed on the CPU instead.
    """
    given = {} if out is None else {"out": out}
    try:
        on_cpu = _in_its_place(error, _overload(ops, args), args, given, is_one_call)
        if on_cpu is None:
            raise error
    finally:
        del error  # whose traceback has this frame
    return on_cpu(*args, **given)


def _in_its_place(error: Exception, op: str, args: tuple, given: dict[str, Any], is_one_call: bool) -> Callable | None:
    """The CPU's kernel, where it is right to compute with it."""
    if isinstance(error, NoElements):
        return cpu_kernel_for(op)
    is_refusal = isinstance(error, AcceleratorError) and error.is_of_arguments
    if is_refusal or not isinstance(error, AcceleratorError):
        cpu_kernel_for(op, is_trial=True)(*args, **given)
    return kernel_for(op) if is_one_call and is_refusal else None


def _overload(ops: Sequence[str], args: tuple) -> str:
    """Which of the ops that share a kernel was called: the one with tensors where there are arrays."""
    arrays = [isinstance(value, DeviceArray) for value in args]
    fitting = [op for op in ops if _takes_tensors(op) == arrays]
    return fitting[0] if fitting else ops[0]


def _takes_tensors(op: str) -> list[bool]:
    """Of each argument, whether it is a tensor."""
    entry = find_op(op)
    assert entry is not None
    return [each.element == "Tensor" for each in entry.schema.arguments]
