"""Tensors from data: `tensor`, `as_tensor`, `asarray`, `sparse_coo_tensor` and `Tensor.new_tensor`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core import nested_data, state
from mindtorch._core.device import accelerator, as_device, device
from mindtorch._core.dtype import PYTHON_TYPES, dtype, get_default_dtype, int64
from mindtorch._core.interop import from_dlpack, frombuffer, require_grad, shareable
from mindtorch._core.tensor import Tensor, extend_tensor, fresh, wrap
from mindtorch._support import errors
from mindtorch._support.warnings import warn, warn_once
from mindtorch.dispatch import operators
from mindtorch.dispatch.arguments.by_hand import check_arguments
from mindtorch.dispatch.arguments.overload_texts import no_overload
from mindtorch.dispatch.modes import torch_dispatch
from mindtorch.dispatch.modes.captures import itself

_thread = state.thread

# What `tensor` reads without asking further questions, when it is given nothing else.
_ORDINARY = frozenset((list, float, int, bool))


def tensor(
    data: Any,
    *,
    dtype: dtype | None = None,
    device: "device | str | None" = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested sequences of numbers, an array or a tensor."""
    if type(data) in _ORDINARY and dtype is None and device is None and requires_grad is False and pin_memory is False:
        if not _thread.active and _thread.default_devices is None:
            return wrap(nested_data.read(data))
    if isinstance(data, Tensor):
        _warn_copy("torch.tensor(sourceTensor)")
    return _new_tensor("tensor", data, dtype, device, requires_grad, pin_memory)


def as_tensor(data: Any, dtype: dtype | None = None, device: "device | str | None" = None) -> Tensor:
    """`data` as a tensor: a tensor itself, an array shared, anything else copied; converted where asked for."""
    dtype = _element_type("as_tensor", dtype)
    if isinstance(data, Tensor):
        found = _converted(data, dtype, data.device if device is None else as_device(device))
        return itself(data) if found is data else found
    return lifted(_converted(_cpu_tensor(data, dtype, copy=False), dtype, as_device(device)))


_ASARRAY_OPTIONS = "asarray(*, ScalarType? dtype, Device? device, bool? copy, bool? requires_grad) -> Tensor"


def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: "device | str | None" = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Any tensor, array, buffer, DLPack exporter or sequence as a tensor; `copy` forces a copy or forbids it."""
    check_arguments(_ASARRAY_OPTIONS, dtype, device, copy, requires_grad)
    dtype = _element_type("asarray", dtype)
    source = _alias(obj, dtype)
    if source is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return _new_tensor("asarray", obj, dtype, device, bool(requires_grad), False)
    result = _converted(source, dtype, source.device if device is None else as_device(device))
    if copy is False and result is not source:
        raise ValueError(_cannot_alias(source, result))
    if copy and result is source:
        result = source.clone()
    return _with_grad(result, source, requires_grad)


def _alias(obj: Any, dtype: dtype | None) -> Tensor | None:
    """A tensor on the memory of `obj`, if it has memory to share."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray | np.generic):
        return fresh(shareable(np.asarray(obj)))
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    if isinstance(obj, bytes | bytearray | memoryview):
        return frombuffer(obj, dtype=dtype or get_default_dtype())
    return None


def _cannot_alias(source: Tensor, result: Tensor) -> str:
    if source.device != result.device:
        return f"can't alias tensor from device '{source.device}' to '{result.device}'."
    return f"can't alias tensor with dtype '{source.dtype.storage_name}' into dtype '{result.dtype.storage_name}'."


def _with_grad(result: Tensor, source: Tensor, requires_grad: bool | None) -> Tensor:
    """The result as a leaf that does or does not require grad, or as it came when nothing was said."""
    if requires_grad is None:
        if source.requires_grad:
            warn_once(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
                "requires_grad=False explicitly to get the old behavior and silence this warning."
            )
        return require_grad(result) if source.requires_grad and not result.requires_grad else result
    if result.requires_grad and not (requires_grad and result.is_leaf):
        result = result.detach()
    return require_grad(result) if requires_grad and not result.requires_grad else result


_COO_OPTIONS = (
    "torch.dtype dtype = None",
    "torch.device device = None",
    "bool pin_memory = False",
    "bool requires_grad = False",
    "bool check_invariants = None",
    "bool is_coalesced = None",
)
_COO_FORMS = (
    ("object indices", "object values", "*", *_COO_OPTIONS),
    ("object indices", "object values", "tuple of ints size", "*", *_COO_OPTIONS),
    ("tuple of ints size", "*", *[option for option in _COO_OPTIONS[:5] if "pin_memory" not in option]),
)


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    device: "device | str | None" = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A sparse tensor with `values[k]` at `indices[:, k]`; equal indices add up. `size` is inferred when not given.

    The indices are always checked, whatever `check_invariants` says.
    """
    if pin_memory:
        raise errors.no_pinned_memory()
    if values is None and (indices is None) != (size is None):  # nothing but zeros of a size
        size = tuple(indices if size is None else size)
        indices, values = np.zeros((len(size), 0), np.int64), np.zeros(0, get_default_dtype().numpy)
    if values is None or indices is None:
        raise _no_coo_form(values)
    values = as_tensor(values, dtype, device)
    indices = as_tensor(indices, int64, values.device)
    if size is None:
        result = operators.aten.sparse_coo_tensor.indices(indices, values, is_coalesced=is_coalesced)
    else:
        result = operators.aten.sparse_coo_tensor.indices_size(indices, values, tuple(size), is_coalesced=is_coalesced)
    return require_grad(result.detach()) if requires_grad else result


def _no_coo_form(values: Any) -> TypeError:
    if values is None:
        return no_overload("sparse_coo_tensor", _COO_FORMS, (), {})
    return TypeError('sparse_coo_tensor() missing 1 required positional arguments: "size"')


# -------------------- steps --------------------


def lifted(tensor: Tensor) -> Tensor:
    """A tensor made of Python values, as dispatch modes know it."""
    if state.active_modes and torch_dispatch.is_wanted(()):
        return torch_dispatch.ask_op("lift_fresh", tensor)
    return tensor


def _new_tensor(function: str, data: Any, dtype: Any, device: Any, requires_grad: Any, pin_memory: bool) -> Tensor:
    """A tensor with a copy of the data."""
    for name, value in (("pin_memory", pin_memory), ("requires_grad", requires_grad)):
        if type(value) is not bool:
            raise errors.argument_type(function, name, None, "bool", value)
    if pin_memory and accelerator() is None:
        raise errors.no_pinned_memory()
    dtype = _element_type(function, dtype)
    if isinstance(data, Tensor):
        target = data.device if device is None else as_device(device)
        result = _converted(data.detach().clone(), dtype, target)
    else:
        result = lifted(_converted(_cpu_tensor(data, dtype, copy=True), dtype, as_device(device)))
    result = result.pin_memory() if pin_memory else result
    return require_grad(result) if requires_grad else result


def _cpu_tensor(data: Any, dtype: dtype | None, copy: bool) -> Tensor:
    """The data on the CPU; arrays keep their own dtype."""
    shared = isinstance(data, np.ndarray) or hasattr(data, "__dlpack__")
    if shared and not isinstance(data, np.generic):
        tensor = fresh(shareable(data)) if isinstance(data, np.ndarray) else from_dlpack(data)
        return tensor.clone() if copy else tensor
    return fresh(nested_data.read(data, None if dtype is None else dtype.numpy))


def _converted(tensor: Tensor, dtype: dtype | None, target: device) -> Tensor:
    """The tensor itself when it has this dtype and is there already."""
    if target != tensor.device:
        return tensor.to(target, dtype or tensor.dtype)
    return tensor if dtype is None or dtype is tensor.dtype else tensor.to(dtype)


def _element_type(function: str, value: Any) -> dtype | None:
    """The dtype that a `dtype=` argument means."""
    if value is None or isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in PYTHON_TYPES:
        return PYTHON_TYPES[value]
    raise errors.argument_type(function, "dtype", None, "torch.dtype", value)


def _warn_copy(call: str) -> None:
    warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {call}.",
        UserWarning,
    )


@extend_tensor
class CreationMethods:
    """The method that makes a tensor like another one, from data."""

    def new_tensor(  # type: ignore[misc]
        self: Tensor,
        data: Any,
        *,
        dtype: dtype | None = None,
        device: "device | str | None" = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        """A new tensor with a copy of `data`, of this tensor's dtype and on its device unless told otherwise."""
        if isinstance(data, Tensor):
            _warn_copy("tensor.new_tensor(sourceTensor)")
        device = self.device if device is None else device
        return _new_tensor("new_tensor", data, dtype or self.dtype, device, requires_grad, pin_memory)
