"""Generated functions as methods and operators of Tensor: the same code, and another way to end or to be named."""

from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

METHOD_PREFIX = "Tensor."
_DISPATCHER = f"{__name__.rpartition('.')[0]}.dispatcher"


def is_method_call(frame: FrameType) -> bool:
    """Whether the generated function that runs in a frame was called as a method of a tensor."""
    return _frame_of_call(frame).f_code.co_name.startswith(METHOD_PREFIX)


def _frame_of_call(frame: Any) -> FrameType:
    """The frame of the call that the program made: if the dispatcher has called again, that before the dispatcher."""
    caller = frame.f_back
    if caller is None or caller.f_globals.get("__name__") != _DISPATCHER:
        return frame
    while (caller.f_globals.get("__name__"), caller.f_code.co_name) != (_DISPATCHER, "call"):
        caller = caller.f_back
    return caller.f_back


def not_implemented(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """The end of an operator with an operand that isn't a tensor: Python asks the other operand."""
    return NotImplemented


def as_operator(function: FunctionType, reject: Callable = not_implemented) -> FunctionType:
    """The same code as a Python operator: `x * y` costs one frame, and an unknown operand gives NotImplemented.

    Only the interpreter calls it, with its operands. The keywords become positions: their defaults are quicker to find.
    """
    code = function.__code__
    defaults = (function.__kwdefaults__ or {}) | {"_reject": reject}
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    operator = _copied(
        function, code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    )
    operator.__defaults__ = (*(function.__defaults__ or ()), *[defaults[name] for name in keywords])
    operator.__kwdefaults__ = None
    return operator


def as_method(function: FunctionType) -> FunctionType:
    """The same code as a method, under a name that tracebacks show and that tells the error texts what was called.

    Methods take no `out=`: the parameter is there, under another name.
    """
    code = function.__code__
    names = tuple(["_out" if name == "out" else name for name in code.co_varnames])
    method = _copied(function, code.replace(co_name=METHOD_PREFIX + function.__name__, co_varnames=names))
    if names != code.co_varnames:  # `out` stays among the defaults, for those who leave out of a call what is one
        method.__kwdefaults__ = {**(function.__kwdefaults__ or {}), "_out": None}
    return method


def _copied(function: FunctionType, code: CodeType) -> FunctionType:
    copied = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__doc__ = function.__doc__
    vars(copied).update(vars(function))
    return copied
