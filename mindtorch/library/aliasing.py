"""The results of a custom op share no memory with its arguments and with each other."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.buffers import root_of
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.call_form import tensors_among

_ALIAS = (
    "{} (with implementation in {}): The output of this custom operator (1) must not also be an input to this custom "
    "operator and (2) may not alias any inputs to this custom operator or other returns. The most common way to "
    "trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone "
    "of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
)


def check_no_alias(name: str, function: Callable, values: Sequence[Any], result: Any) -> None:
    """Refuse a result that shares memory with one of the arguments or with another result."""
    seen = {memory_of(tensor) for tensor in tensors_among(values)}
    for tensor in tensors_among((result,)):
        memory = memory_of(tensor)
        if memory in seen:
            raise RuntimeError(_ALIAS.format(name, inspect.getmodule(function)))
        seen.add(memory)


def memory_of(tensor: Tensor) -> int:
    """Tells memory apart: the same number for a tensor and its views. Backends may have no `root` to share."""
    array = tensor._mt_array
    return id(root_of(array) if isinstance(array, np.ndarray) else getattr(array, "root", array))
