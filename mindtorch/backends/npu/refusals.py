"""Calls that ACLNN does not take.

Where an array has no elements, the CPU's kernel computes. Of what was refused it says what is wrong, for CANN only
gives a number. What is right to the CPU runs there, if nothing was launched before.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.runtime.descriptors import NoElements
from mindtorch.errors import AcceleratorError

# What a kernel ends with that is given what it cannot compute, besides torch's own errors.
_UNEXPLAINED = (AcceleratorError, IndexError, KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError)


def answered(kernel: Callable, op: str) -> Callable:
    """A kernel with the CPU's behind it."""
    is_one_call = "._generated." in kernel.__module__  # generated kernels are

    @wraps(kernel)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return kernel(*args, **kwargs)
        except NoElements:
            on_cpu = cpu_kernel_for(op)
        except _UNEXPLAINED as error:
            is_of_device = isinstance(error, AcceleratorError)
            is_refusal = is_of_device and error.is_of_arguments
            if not is_of_device or is_refusal:
                cpu_kernel_for(op, is_trial=True)(*args, **kwargs)
            if not (is_one_call and is_refusal):
                raise
            on_cpu = kernel_for(op)
        return on_cpu(*args, **kwargs)

    return call
