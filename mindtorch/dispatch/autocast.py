"""Mixed precision: the dtypes in which an op gets its tensors inside `amp.autocast`.

An op's `autocast` in ops.yaml says what it gets: tensors of the lower precision that the block asks for, float32 ones,
or such as have the widest dtype among them. The casts are ordinary calls, which autograd records; the ops that an op is
written in are left alone.

A weight is cast once for a whole block: the graph then has one cast, to which the gradients of all its uses go.
"""

import threading
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from mindtorch import state
from mindtorch.dispatch.namespace import ops
from mindtorch.dtype import bfloat16, dtype, float16, float32, float64
from mindtorch.tensor import Tensor

Function = TypeVar("Function", bound=Callable)

_thread = state.thread
_LOWER_BY_DEFAULT = {"cpu": bfloat16, "xla": bfloat16}


class Settings(threading.local):
    """What a thread has set, by type of device."""

    cache_enabled = True
    nesting = 0  # how many blocks are open

    def __init__(self) -> None:
        self.enabled: dict[str, bool] = {}
        self.dtypes: dict[str, dtype] = {}
        self.weights: dict[int, tuple[Tensor, Tensor]] = {}  # by id, with the weight, so that the id stays its own

    def is_enabled(self, device_type: str) -> bool:
        return self.enabled.get(device_type, False)

    def dtype_of(self, device_type: str) -> dtype:
        return self.dtypes.get(device_type) or _LOWER_BY_DEFAULT.get(device_type, float16)

    def set(self, device_type: str, enabled: bool, fast_dtype: dtype) -> None:
        self.enabled[device_type], self.dtypes[device_type] = enabled, fast_dtype
        if device_type == "cpu":
            _switch(fast_dtype if enabled else None)


settings = Settings()


def _switch(fast_dtype: dtype | None) -> None:
    """Have the calls of this thread cast to a dtype, or not any longer."""
    if (fast_dtype is None) != (_thread.autocast is None):
        state.count_thread_interceptor(-1 if fast_dtype is None else 1)
    _thread.autocast = fast_dtype


def is_meant(function: Callable, kwargs: dict) -> bool:
    """Whether a call is one to cast for. `out=` forms are not: their dtypes are given."""
    return _thread.autocast is not None and function.op.autocast is not None and kwargs.get("out") is None


def call_autocast(policy: str, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Make a call with its tensors cast; the ops in it are left alone."""
    fast_dtype = _thread.autocast
    to = _POLICIES[policy](fast_dtype, [*args, *kwargs.values()])
    _thread.autocast = None
    try:
        args = tuple(_cast(value, to, fast_dtype) for value in args)
        return function(*args, **{name: _cast(value, to, fast_dtype) for name, value in kwargs.items()})
    finally:
        _thread.autocast = fast_dtype


def with_autocast(policy: str) -> Callable[[Function], Function]:
    """A decorator for what is one op in torch, with a policy, and a Python function here."""

    def decorated(function: Function) -> Function:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if _thread.autocast is None:
                return function(*args, **kwargs)
            return call_autocast(policy, function, args, kwargs)

        return called

    return decorated


# -------------------- to which dtype --------------------


def _lower(fast_dtype: dtype, values: list) -> dtype:
    return fast_dtype


def _full(fast_dtype: dtype, values: list) -> dtype:
    return float32


def _widest(fast_dtype: dtype, values: list) -> dtype:
    """float32 if one of the tensors is; double ones are not asked."""
    dtypes = {tensor.dtype for tensor in _tensors(values) if _is_eligible(tensor)}
    if dtypes - {float32, fast_dtype}:
        raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return float32 if float32 in dtypes else fast_dtype


_POLICIES = {"lower_precision_fp": _lower, "fp32": _full, "promote": _widest}


def _tensors(values: Iterable[Any]) -> Iterable[Tensor]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, Tensor):
            yield value


# -------------------- casting --------------------


def _is_eligible(tensor: Tensor) -> bool:
    return tensor.dtype.is_floating_point and tensor.dtype is not float64 and tensor.device.type == "cpu"


def _cast(value: Any, to: dtype, fast_dtype: dtype) -> Any:
    """A tensor, or each one of a list, in another dtype, if it is of those that are cast at all."""
    if isinstance(value, (list, tuple)):
        return [_cast(each, to, fast_dtype) for each in value]
    if not isinstance(value, Tensor) or value.dtype is to or not _is_eligible(value):
        return value
    if to is fast_dtype and settings.cache_enabled and _thread.grad_enabled and _is_weight(value):
        return _cast_weight(value, to)
    return ops._to_copy(value, dtype=to)


def _is_weight(tensor: Tensor) -> bool:
    return tensor.dtype is float32 and tensor.requires_grad and tensor.is_leaf and not tensor._is_view()


def _cast_weight(weight: Tensor, to: dtype) -> Tensor:
    known = settings.weights.get(id(weight))
    if known is None:
        known = settings.weights[id(weight)] = (weight, ops._to_copy(weight, dtype=to))
    return known[1]
