"""Kernels for generated ops: they take arrays, while users of `mindtorch.library` write functions of tensors."""

from collections.abc import Callable
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor, wrap
from mindtorch.dispatch.keys import backend_named, backend_of
from mindtorch.dispatch.registry import OpEntry, kernel_table
from mindtorch.library.keys import AUTOGRAD, EXPLICIT, IMPLICIT

_thread = state.thread


def replace_kernel(entry: OpEntry, key: str, function: Callable) -> Callable[[], None]:
    """Make a function of tensors the kernel of a generated op; returns what undoes it."""
    if key.startswith(AUTOGRAD) or key in (EXPLICIT, IMPLICIT):
        raise NotImplementedError(
            f"{entry.name} is generated from ops.yaml: mindtorch.library can replace its kernel for a backend, but "
            f"not what it does for {key}"
        )
    table = kernel_table(entry.name)
    array_class = backend_named(key).array_class
    before = table.get(array_class)
    table[array_class] = _array_kernel(function)

    def undo() -> None:
        if before is not None:
            table[array_class] = before
        elif array_class in table:
            del table[array_class]

    return undo


def _array_kernel(function: Callable) -> Callable:
    def kernel(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        keywords = {"input" if name == "self" else name: _wrapped(value) for name, value in kwargs.items()}
        grad_enabled = _thread.grad_enabled
        state.set_grad_enabled(False)
        try:
            result = function(*map(_wrapped, args), **keywords)
            return _unwrapped(result) if out is None else _unwrapped(_written(_wrapped(out), result))
        finally:
            state.set_grad_enabled(grad_enabled)

    return kernel


def _written(out: Any, result: Any) -> Any:
    if isinstance(out, Tensor):
        return out.copy_(result)
    return tuple(each.copy_(value) for each, value in zip(out, result, strict=True))


def _wrapped(value: Any) -> Any:
    if backend_of(type(value)) is not None:
        return wrap(value)
    return [_wrapped(each) for each in value] if isinstance(value, (list, tuple)) else value


def _unwrapped(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._mt_array
    return tuple(map(_unwrapped, value)) if isinstance(value, (list, tuple)) else value
