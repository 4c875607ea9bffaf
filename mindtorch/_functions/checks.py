"""Conditions that programs check: `_check` and its kin, which raise the error that the caller words."""

import builtins
from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch.torch_function import ask, has_torch_function, no_implementation, overriding_arguments

_NO_MESSAGE = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise the error, with what `message()` gives, if the condition does not hold."""
    if not isinstance(cond, bool):
        raise TypeError(_wrong_condition(cond))
    if cond:
        return
    if message is None:
        raise error_type(_NO_MESSAGE)
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(str(message()))


def _wrong_condition(cond: Any) -> str:
    if isinstance(cond, Tensor):
        return (
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
            "that all elements are true."
        )
    return f"cond must be a bool, but got {type(cond)}"


def _check(cond: Any, message: Callable[[], Any] | None = None) -> None:
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], Any] | None = None) -> None:
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], Any] | None = None) -> None:
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], Any] | None = None) -> None:
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], Any] | None = None) -> None:
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Callable[[], Any] | None = None, *, max: int | None = None) -> None:
    """That a number can be a size, and is at most `max`."""
    warn(
        "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious.     Use "
        "_check(i >= 0) instead.",
        FutureWarning,
    )
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Callable[[], Any] | None = None) -> None:
    """Raise the error if not all elements are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.numpy != builtins.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Any, message: Callable[[], Any] | None = None) -> None:
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert(condition: Any, message: str) -> Any:
    """`assert` as a function, which can be taken over."""
    if type(condition) not in (bool, Tensor) and has_torch_function((condition,)):
        overriders = overriding_arguments((condition,))
        answer = ask(_assert, overriders, (condition, message), {})
        if answer is NotImplemented:
            raise no_implementation("torch._assert", overriders)
        return answer
    assert condition, message  # noqa: S101
    return None


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise an error if the one element is zero; on the CPU at once."""
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")
