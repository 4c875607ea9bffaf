"""Generated functions as methods and operators of Tensor: the same code, and another way to end or to be named."""

from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

from mindtorch.dispatch.shown_signature import ShownSignature

METHOD_PREFIX = "Tensor."

# Whether generated code takes the ints of a list one by one: `x.permute(1, 0)`, but not `permute(x, 1, 0)`. It asks for
# the first name, which is the second one in methods.
SEPARATE_INTS = False
SEPARATE_INTS_IN_METHODS = True

_DISPATCH = __name__.rpartition(".")[0]


def is_method_call(frame: FrameType) -> bool:
    """Whether the generated function that runs in a frame was called as a method of a tensor."""
    return frame_of_call(frame).f_code.co_name.startswith(METHOD_PREFIX)


def frame_of_call(frame: FrameType) -> FrameType:
    """The frame of the function that the program called, of one that may have been called on its behalf.

    In between are the overloads of an op, its `out=` variant and the dispatcher.
    """
    while _is_of_dispatch(frame) and frame.f_back is not None:
        frame = frame.f_back
    found, caller = frame, frame.f_back
    while caller is not None and (_is_of_dispatch(caller) or _are_of_one_op(caller, frame)):
        if not _is_of_dispatch(caller):
            found = caller
        caller = caller.f_back
    return found


def _are_of_one_op(caller: FrameType, frame: FrameType) -> bool:
    """Whether two generated functions run for the same op; all that an op has is in one module."""
    return caller.f_globals is frame.f_globals and _base_of(caller) == _base_of(frame)


def calling_frame(frame: FrameType) -> FrameType | None:
    """The frame of the program that called: what `__torch_function__` may take over has a frame in between."""
    caller = frame_of_call(frame).f_back
    while caller is not None and caller.f_globals.get("__name__") == "mindtorch._functions.overridable":
        caller = caller.f_back
    return caller


def _is_of_dispatch(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").startswith(_DISPATCH)


def function_in(frame: FrameType) -> Any:
    """The generated function that runs in a frame: a method is the same code as the function."""
    return frame.f_globals.get(frame.f_code.co_name.removeprefix(METHOD_PREFIX))


def _base_of(frame: FrameType) -> str | None:
    """The base name of the op of a generated function. Resolvers, which have no op of their own, are called by it."""
    function = function_in(frame)
    if function is None:
        return None
    entry = getattr(function, "op", None)
    return getattr(function, "__name__", None) if entry is None else entry.base


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

    Methods take no `out=`: the parameter is there, under another name. They take separate ints.
    """
    code = function.__code__
    names = tuple(["_out" if name == "out" else name for name in code.co_varnames])
    others = tuple([f"{name}_IN_METHODS" if name == "SEPARATE_INTS" else name for name in code.co_names])
    code_of_method = code.replace(co_name=METHOD_PREFIX + function.__name__, co_varnames=names, co_names=others)
    method = _copied(function, code_of_method)
    if names != code.co_varnames:  # `out` stays among the defaults, for those who leave out of a call what is one
        method.__kwdefaults__ = {**(function.__kwdefaults__ or {}), "_out": None}
    method.__signature__ = ShownSignature(method, is_method=True)  # type: ignore[attr-defined]
    return method


def _copied(function: FunctionType, code: CodeType) -> FunctionType:
    copied = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copied.__kwdefaults__ = function.__kwdefaults__
    copied.__doc__ = function.__doc__
    vars(copied).update(vars(function))
    return copied
