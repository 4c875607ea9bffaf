"""How a program wrote a call: how many arguments by position, and which by keyword.

Functions bind their arguments before the first of their lines runs, so that nothing in them tells `f(x, 0)` from
`f(x, dim=0)`. The caller's frame does: it stands at the instruction that made the call. Reading that takes its time,
which is no matter where it is only done for the text of an error.
"""

import sys
from dataclasses import dataclass
from dis import Instruction, get_instructions
from types import FrameType
from typing import Any

# Instructions without a trace in the arguments. They come between a call and what it is given.
_FILLERS = frozenset(("CACHE", "EXTENDED_ARG", "NOP", "PRECALL"))
_CALLS = frozenset(("CALL", "CALL_FUNCTION", "CALL_METHOD"))
_KEYWORD_CALLS = frozenset(("CALL_KW", "CALL_FUNCTION_KW"))
_NAMES = frozenset(("LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF"))


_DISPATCH = "mindtorch.dispatch"


def _frame_of_call(frame: FrameType) -> FrameType:
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


def _calling_frame(frame: FrameType) -> FrameType | None:
    """The frame of the program that called what runs in a frame: what `__torch_function__` may take over has one in
    between."""
    caller = frame.f_back
    while caller is not None and caller.f_globals.get("__name__") == "mindtorch._functions.overridable":
        caller = caller.f_back
    return caller


def _are_of_one_op(caller: FrameType, frame: FrameType) -> bool:
    """Whether two generated functions run for the same op; all that an op has is in one module. It may have several
    dictionaries of names: those of methods, operators, and of what runs in a `__torch_dispatch__`."""
    module = frame.f_globals.get("__name__")
    return caller.f_globals.get("__name__") == module and _base_of(caller) == _base_of(frame)


def _is_of_dispatch(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").startswith(_DISPATCH)


def _base_of(frame: FrameType) -> str | None:
    """The base name of the op of a generated function. Resolvers, which have no op of their own, are called by it."""
    function = frame.f_globals.get(frame.f_code.co_name)
    if function is None:
        return None
    entry = getattr(function, "op", None)
    return getattr(function, "__name__", None) if entry is None else entry.base


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """The form of a call. What stands in front of the dot of a method is in neither.

    `first` is the first positional argument where the code tells, as in `f(*args)`; otherwise None.
    """

    positional: int
    keywords: tuple[str, ...]
    first: Any = None


def call_that_fails() -> tuple[WrittenCall | None, dict[str, Any], frozenset[str]]:
    """The form of the call that is being refused, what the keyword-only parameters of its function stand for, and which
    of them stand for their defaults: a function that has chosen an overload may have others than the overload."""
    frame = _frame_of_call(sys._getframe())
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = getattr(frame.f_globals.get(code.co_name), "__kwdefaults__", None) or {}
    left_out = frozenset([name for name in names if name in defaults and values[name] is defaults[name]])
    return written_call(_calling_frame(frame)), {name: values[name] for name in names}, left_out


def written_call(frame: FrameType | None) -> WrittenCall | None:
    """The form of the call that a frame is making, None if its code doesn't tell."""
    if frame is None:
        return None
    code = frame.f_code
    done = [each for each in get_instructions(code) if each.offset <= frame.f_lasti and each.opname not in _FILLERS]
    last, before = done[-1], done[-2:-1]
    if last.opname in _KEYWORD_CALLS:
        return _with_keywords(last, before[0].argval)
    if last.opname in _CALLS:
        if before and before[0].opname == "KW_NAMES":
            return _with_keywords(last, code.co_consts[before[0].arg or 0])
        return WrittenCall(last.arg or 0, ())
    return _starred(frame, done) if last.opname == "CALL_FUNCTION_EX" else None


def _with_keywords(call: Instruction, names: tuple[str, ...]) -> WrittenCall:
    return WrittenCall((call.arg or 0) - len(names), names)


def _starred(frame: FrameType, done: list[Instruction]) -> WrittenCall | None:
    """`f(*args)`, `f(*args, **kwargs)`, also with arguments in front, if the starred ones are plain names."""
    rest = done[:-1]
    keywords: Any = {}
    if done[-1].arg:
        *rest, empty, name, merge = rest
        if (empty.opname, empty.arg, merge.opname) != ("BUILD_MAP", 0, "DICT_MERGE"):
            return None
        keywords = _value(frame, name)
    in_front = 0
    if rest[-1].opname == "BUILD_TUPLE":
        return WrittenCall(rest[-1].arg or 0, tuple(keywords)) if isinstance(keywords, dict) else None
    if rest[-2].opname == "LIST_EXTEND":  # the last instruction makes a tuple of the list
        *rest, start, name, _, _ = rest
        if start.opname != "BUILD_LIST":
            return None
        in_front = start.arg or 0
    else:
        name = rest[-1]
    values = _value(frame, name)
    if not isinstance(values, (tuple, list)) or not isinstance(keywords, dict):
        return None
    first = values[0] if values and not in_front else None
    return WrittenCall(in_front + len(values), tuple(keywords), first)


def _value(frame: FrameType, instruction: Instruction) -> Any:
    """What a name or a constant stands for, None for any other expression."""
    if instruction.opname == "LOAD_CONST":
        return instruction.argval
    if instruction.opname not in _NAMES:
        return None
    return frame.f_locals.get(instruction.argval, frame.f_globals.get(instruction.argval))
