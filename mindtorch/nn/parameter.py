"""`Parameter` and `Buffer`, the tensors that a module lists as its own, and those whose shape is not known yet."""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any, NoReturn

import numpy as np

from mindtorch._core import state
from mindtorch._core.interop import require_grad
from mindtorch._core.tensor import Tensor, alias_of, be_of_inference, share_version, wrap
from mindtorch._tensor_methods.copying import state_of
from mindtorch._tensor_methods.rebuilding import rebuild_from_type_v2, with_state
from mindtorch.dispatch import ops
from mindtorch.dispatch.torch_function import begin, disabled_torch_function


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
    __torch_function__: Any = disabled_torch_function

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        parameter: Parameter = _made_of(data, cls, Parameter)
        if requires_grad:
            require_grad(parameter)
        else:
            parameter.requires_grad = False
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple:
        if type(self) is not Parameter:
            return super().__reduce_ex__(protocol)
        arguments: tuple = (self.data, self.requires_grad, OrderedDict())
        state = state_of(self)
        return (rebuild_parameter_with_state, (*arguments, state)) if state else (rebuild_parameter, arguments)

    # mypy does not compare keywords of such methods.
    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()


def rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Parameter:
    """What pickles and files of parameters call."""
    return Parameter(data, requires_grad)


def rebuild_parameter_with_state(data: Tensor, requires_grad: bool, backward_hooks: Any, state: Any) -> Parameter:
    """The same for parameters with attributes of their own."""
    return with_state(Parameter(data, requires_grad), state)


class Buffer(Tensor, metaclass=_TaggedMeta):
    """A tensor that a module which gets it as an attribute adds to its buffers."""

    _tag = "_is_buffer"
    persistent: bool
    __torch_function__: Any = disabled_torch_function

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        # Not an object of this class but, as in torch, a tensor with a tag: modules keep it as what it is.
        buffer: Any = wrap(np.empty(0, state.default_dtype.numpy)) if data is None else data.detach()
        buffer.requires_grad = data is not None and data.requires_grad
        buffer.persistent = persistent
        setattr(buffer, Buffer._tag, True)
        return buffer

    def __reduce_ex__(self, protocol: Any) -> tuple:
        if type(self) is not Buffer:
            return super().__reduce_ex__(protocol)
        # In torch it is a plain tensor with a tag, and so it is in files.
        function, arguments = alias_of(self).__reduce_ex__(protocol)
        return rebuild_from_type_v2, (function, Tensor, arguments, {**vars(self), self._tag: True})


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
        be_of_inference(alias)
    else:
        alias._mt_version = share_version(data)
    return alias


# -------------------- without a shape --------------------


class _Watch:
    """While it lives, `__torch_function__` is looked for: a program without lazy layers does not pay for theirs."""

    def __init__(self) -> None:
        begin()
        state.count_active_mode(1)

    def __del__(self, count: Any = state.count_active_mode, is_finalizing: Any = sys.is_finalizing) -> None:
        if not is_finalizing():  # at the end of the program the modules may be empty already
            count(-1)


class UninitializedTensorMixin:
    """A tensor that gets its shape by `materialize`; until then there is little to do with it."""

    counts_its_objects = True
    cls_to_become: Any
    _watch: _Watch

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Make the memory, and become an ordinary tensor."""
        before = self.data
        device, dtype = before.device if device is None else device, before.dtype if dtype is None else dtype
        self.data = ops.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become
        del self._watch

    @property
    def shape(self) -> NoReturn:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> NoReturn:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _ALLOWED:
            return _watched(super().__torch_function__(func, types, args, kwargs))  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
            f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )


# What may be done without a shape: moving and converting, and looking at what there is.
_ALLOWED = frozenset(
    (
        "__get__", "__set__", "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double",
        "char", "short", "int", "long", "cuda", "cpu", "to", "get_device",
    )
)  # fmt: skip


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]  # __repr__, as above
    """A parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> UninitializedParameter:
        return _nothing(cls, device, dtype, requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]  # __repr__, as above
    """A buffer whose shape is not known yet."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> UninitializedBuffer:
        buffer = _nothing(cls, device, dtype, requires_grad)
        buffer.persistent = persistent
        setattr(buffer, Buffer._tag, True)
        return buffer


def _nothing(cls: type, device: Any, dtype: Any, requires_grad: bool) -> Any:
    empty = _watched(alias_of(ops.empty((0,), device=device, dtype=dtype), cls))
    if requires_grad:
        empty.requires_grad = True
    return empty


def _watched(result: Any) -> Any:
    """The result, which is watched if it has no shape: so has what a conversion to another dtype gives."""
    if isinstance(result, UninitializedTensorMixin) and "_watch" not in result.__dict__:
        result._watch = _Watch()
    return result


def is_lazy(param: Any) -> bool:
    """Whether the shape of a parameter or buffer is not known yet."""
    return isinstance(param, UninitializedTensorMixin)
