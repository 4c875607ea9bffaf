"""`Parameter` and `Buffer`: the tensors that a module lists as its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch import state
from mindtorch.dispatch.torch_function import disabled_torch_function
from mindtorch.tensor import Tensor, alias_of, wrap


class Parameter(Tensor):
    """A tensor that a module which gets it as an attribute adds to its parameters."""

    # Calls see a plain tensor; only assigning to a module tells the difference.
    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        parameter = alias_of(_data_of(data, cls), cls)
        return parameter.requires_grad_(requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that a module which gets it as an attribute adds to its buffers."""

    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        buffer = alias_of(_data_of(data, cls), cls)
        buffer.persistent = persistent
        return buffer.requires_grad_(data is not None and data.requires_grad)


def _data_of(data: Tensor | None, cls: type) -> Tensor:
    if data is None:
        return wrap(np.empty(0, state.default_dtype.numpy))
    if not isinstance(data, Tensor):
        raise TypeError(f"cannot make a {cls.__name__} from {type(data).__name__}")
    return data
