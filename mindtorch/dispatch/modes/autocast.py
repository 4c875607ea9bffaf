"""Mixed precision: the dtypes in which an op gets its tensors inside `amp.autocast`.

An op's `autocast` in ops.yaml says what it gets on the CPU, `autocast_npu` what on an NPU: tensors of the lower
precision that the block asks for, float32 ones, or such as have the widest dtype among them. Only tensors of that
device are cast. The casts are ordinary calls, which autograd records; the ops that an op is written in are left alone.

A weight is cast once for a whole block: the graph then has one cast, to which the gradients of all its uses go.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from mindtorch._core import state
from mindtorch._core.dtype import bfloat16, dtype, float16, float32, float64
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.namespace import ops
from mindtorch.dispatch.registry import OpEntry

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Schema

Function = TypeVar("Function", bound=Callable)

_thread = state.thread
_LOWER_BY_DEFAULT = {"cpu": bfloat16, "xla": bfloat16}
DEVICES = ("npu", "cpu")  # those whose calls are cast; where tensors of both meet, the first one comes first


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
        if device_type in DEVICES:
            _switch({name: self.dtype_of(name) for name in DEVICES if self.is_enabled(name)} or None)


settings = Settings()


def _switch(fast_dtypes: dict[str, dtype] | None) -> None:
    """Have the calls of this thread cast on some devices to a dtype for each, or not any longer."""
    if (fast_dtypes is None) != (_thread.autocast is None):
        state.count_thread_mode(-1 if fast_dtypes is None else 1)
    _thread.autocast = fast_dtypes


@contextmanager
def without(device_types: Iterable[str]) -> Iterator[None]:
    """A block in which autocast is off for some types of devices."""
    on = [name for name in device_types if settings.is_enabled(name)]
    for name in on:
        settings.set(name, False, settings.dtype_of(name))
    try:
        yield
    finally:
        for name in on:
            settings.set(name, True, settings.dtype_of(name))


def device_meant(policies: Mapping[str, Any], args: Iterable[Any], kwargs: Mapping[str, Any]) -> str | None:
    """The type of device for which a call is to be cast. `out=` forms are not: their dtypes are given."""
    if kwargs.get("out") is not None:
        return None
    enabled = [name for name in _thread.autocast if name in policies]
    if not enabled:
        return None
    used = {tensor.device.type for tensor in _tensors((*args, *kwargs.values()))}
    return next((name for name in enabled if name in used), None)


def call_autocast(device_type: str, policy: str, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Make a call as a policy has it; the ops in it are left alone."""
    before = _thread.autocast
    cast = Cast(device_type, before[device_type])
    _thread.autocast = {name: each for name, each in before.items() if name != device_type} or None
    try:
        return _POLICIES[policy](cast, function, args, kwargs)
    finally:
        _thread.autocast = before


def with_autocast(**policies: str) -> Callable[[Function], Function]:
    """A decorator for what is one op in torch, with a policy for each device, and a Python function here."""

    def decorated(function: Function) -> Function:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            device_type = None if _thread.autocast is None else device_meant(policies, args, kwargs)
            if device_type is None:
                return function(*args, **kwargs)
            return call_autocast(device_type, policies[device_type], function, args, kwargs)

        return called  # type: ignore[return-value]

    return decorated


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, Tensor):
            yield value


# -------------------- casting --------------------


class Cast:
    """What is cast on a device: floating point tensors that are not double."""

    def __init__(self, device_type: str, fast_dtype: dtype) -> None:
        self.device_type = device_type
        self.fast_dtype = fast_dtype

    def is_eligible(self, tensor: Tensor) -> bool:
        kind = tensor.dtype
        return kind.is_floating_point and kind is not float64 and tensor.device.type == self.device_type

    def called(self, to: dtype, function: Callable, args: tuple, kwargs: dict) -> Any:
        """The call with its tensors in a dtype."""
        args = tuple(self._cast(value, to) for value in args)
        return function(*args, **{name: self._cast(value, to) for name, value in kwargs.items()})

    def _cast(self, value: Any, to: dtype) -> Any:
        """A tensor, or each one of a list, in another dtype, if it is of those that are cast at all."""
        if isinstance(value, (list, tuple)):
            return [self._cast(each, to) for each in value]
        if not isinstance(value, Tensor) or value.dtype is to or not self.is_eligible(value):
            return value
        if to is self.fast_dtype and settings.cache_enabled and _thread.grad_enabled and _is_weight(value):
            return _cast_weight(value, to)
        return ops._to_copy(value, dtype=to)


def _is_weight(tensor: Tensor) -> bool:
    return tensor.dtype is float32 and tensor.requires_grad and tensor.is_leaf and not tensor._is_view()


def _cast_weight(weight: Tensor, to: dtype) -> Tensor:
    known = settings.weights.get(id(weight))
    if known is None:
        known = settings.weights[id(weight)] = (weight, ops._to_copy(weight, dtype=to))
    return known[1]


# -------------------- policies --------------------


def _lower(cast: Cast, function: Callable, args: tuple, kwargs: dict) -> Any:
    return cast.called(cast.fast_dtype, function, args, kwargs)


def _full(cast: Cast, function: Callable, args: tuple, kwargs: dict) -> Any:
    return cast.called(float32, function, args, kwargs)


def _widest(cast: Cast, function: Callable, args: tuple, kwargs: dict) -> Any:
    """float32 if one of the tensors is; double ones are not asked."""
    dtypes = {tensor.dtype for tensor in _tensors((*args, *kwargs.values())) if cast.is_eligible(tensor)}
    if dtypes - {float32, cast.fast_dtype}:
        raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return cast.called(float32 if float32 in dtypes else cast.fast_dtype, function, args, kwargs)


def _full_result(cast: Cast, function: Callable, args: tuple, kwargs: dict) -> Any:
    """Nothing is cast; the op is asked for float32 results, unless it is asked for a dtype already."""
    schema: Schema = function.op.schema  # type: ignore[attr-defined]
    place = [argument.name for argument in schema.arguments].index("dtype")
    is_given = kwargs.get("dtype") is not None or (len(args) > place and args[place] is not None)
    if is_given or not cast.is_eligible(next(_tensors((*args, *kwargs.values())))):
        return function(*args, **kwargs)
    return function(*args[:place], **kwargs | {"dtype": float32})


def _full_by_overload(cast: Cast, function: Callable, args: tuple, kwargs: dict) -> Any:
    """The same of an op of which another overload has a dtype."""
    if not cast.is_eligible(next(_tensors((*args, *kwargs.values())))):
        return function(*args, **kwargs)
    return _with_dtype(function.op)(*args, **kwargs, dtype=float32)  # type: ignore[attr-defined]


@cache
def _with_dtype(entry: OpEntry) -> Callable:
    """The overload with the same arguments and a dtype."""
    wanted = [*[argument.name for argument in entry.schema.arguments], "dtype"]
    for other in entry.overloads:
        if [argument.name for argument in other.schema.arguments] == wanted:
            return other.function
    raise LookupError(f"{entry.name} has no overload with a dtype")


def _refuse(cast: Cast, function: Callable, args: tuple, kwargs: dict) -> Any:
    name = function.op.base  # type: ignore[attr-defined]
    raise RuntimeError(_REFUSALS.get(name, f"{name} is unsafe to autocast."))


_REFUSALS = {
    "binary_cross_entropy": (
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
        "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
        "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
        "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
        "safe to autocast."
    )
}
_POLICIES: dict[str, Callable[[Cast, Callable, tuple, dict], Any]] = {
    "lower_precision_fp": _lower,
    "fp32": _full,
    "promote": _widest,
    "fp32_set_opt_dtype": _full_result,
    "fp32_append_dtype": _full_by_overload,
    "refused": _refuse,
}
