"""Calls that ACLNN does not take. Where an array has no elements, the CPU's kernel computes; of what was refused it says
what is wrong, for CANN only gives a number.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from mindtorch.backends.fallback import cpu_kernel_for
from mindtorch.backends.npu.runtime.codes import is_of_arguments
from mindtorch.backends.npu.runtime.descriptors import NoElements
from mindtorch.errors import AcceleratorError

# What a kernel ends with that is given what it cannot compute, besides torch's own errors.
_UNEXPLAINED = (AcceleratorError, IndexError, KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError)


def answered(kernel: Callable, op: str) -> Callable:
    """A kernel with the CPU's behind it."""

    @wraps(kernel)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return kernel(*args, **kwargs)
        except NoElements:
            pass
        except _UNEXPLAINED as error:
            if not isinstance(error, AcceleratorError) or is_of_arguments(error.error_code):
                cpu_kernel_for(op, is_trial=True)(*args, **kwargs)
            raise
        return cpu_kernel_for(op)(*args, **kwargs)

    return call
