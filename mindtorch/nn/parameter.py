"""`Parameter` and `Buffer`: the tensors that a module lists as its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch import state
from mindtorch.dispatch.torch_function import disabled_torch_function
from mindtorch.tensor import Tensor, alias_of, autograd_meta, wrap


class _TaggedMeta(type):
    """The class of `Parameter` and `Buffer`: a tensor of another class becomes one by a tag, and keeps its class."""

    def __instancecheck__(cls, instance: object) -> bool:
        tag = cls.__dict__.get("_tag")
        return super().__instancecheck__(instance) or (
            tag is not None and isinstance(instance, Tensor) and getattr(instance, tag, False)
        )


class Parameter(Tensor, metaclass=_TaggedMeta):
    """A tensor that a module which gets it as an attribute adds to its parameters."""

    _tag = "_is_param"
    # Calls see a plain tensor; only assigning to a module tells the difference.
    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        parameter = _made_of(data, cls, Parameter)
        parameter.requires_grad = requires_grad
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor, metaclass=_TaggedMeta):
    """A tensor that a module which gets it as an attribute adds to its buffers."""

    _tag = "_is_buffer"
    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        buffer = _made_of(data, cls, Buffer)
        buffer.persistent = persistent
        buffer.requires_grad = data is not None and data.requires_grad
        return buffer


def _made_of(data: Tensor | None, cls: type, kind: Any) -> Any:
    """A tensor on the same memory: of the given class, or of its own one if that is a special one, with a tag."""
    if data is None:
        return alias_of(wrap(np.empty(0, state.default_dtype.numpy)), cls)
    if not isinstance(data, Tensor):
        raise TypeError(f"cannot make a {kind.__name__} from {type(data).__name__}")
    if type(data) in (Tensor, Parameter, Buffer, cls):
        return _alias_of(data, cls)
    result = data.detach()
    if type(result) is not type(data):
        raise RuntimeError(
            f"Creating a {kind.__name__} from an instance of type {type(data).__name__} requires that detach() returns "
            f"an instance of the same type, but return type {type(result).__name__} was found instead. To use the type "
            f"as a {kind.__name__}, please correct the detach() semantics defined by its __torch_dispatch__() "
            "implementation."
        )
    setattr(result, kind._tag, True)
    return result


def _alias_of(data: Tensor, cls: type) -> Any:
    alias = alias_of(data, cls)
    if data.is_inference():
        autograd_meta(alias).inference = True
    return alias
