"""How Python callers reach an op: functions, methods, modules, operators, numbers in the place of tensors."""

from __future__ import annotations

from collections.abc import Iterator

from ..keys import INPLACE_OPERATORS
from ..model import Model, Op
from . import calls
from .alignment import align
from .report import Finding
from .subject import Subject


def caller_findings(subject: Subject, new_model: Model) -> Iterator[Finding]:
    old, new = subject.old_op, subject.new_op
    if old is None or new is None or new.kind == "out":
        return
    yield from _signature(subject, old, new, new_model)
    if not old.hidden and not new.hidden:
        yield from _function(subject, old, new)
        yield from _method(subject, old, new)
        if old.derived_from is None or new.derived_from is None:
            yield from _python_names(subject, old)
            yield from _numbers(subject, old, new)
            yield from _factory(subject, old, new)
    yield from _operators(subject, old, new, new_model)


def _signature(subject: Subject, old: Op, new: Op, new_model: Model) -> Iterator[Finding]:
    if new.hidden and not old.hidden:
        group = new_model.groups[new.schema.name]
        caller = calls.stops_working(subject.call(), (other.name for other in group if not other.hidden))
        yield _changed(subject, "P025", "the op has no Python signature of its own any more", None, "hidden", caller)
    elif old.hidden and not new.hidden:
        yield _changed(subject, "P026", "the op has a Python signature of its own", "hidden", None)


def _function(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    old_name, new_name = calls.function_name(old, subject.old), calls.function_name(new, subject.new)
    variants = _words(old.variants), _words(new.variants)
    caller = f"`{calls.function_call(old, subject.old)}` stops working"
    if old.is_function and not new.is_function and "function" not in new.by_hand:
        yield _changed(subject, "P020", f"the function `{old_name}` is gone", *variants, caller)
    elif new.is_function and not old.is_function:
        yield _changed(subject, "P021", f"the function `{new_name}` is added", *variants)
    elif old.is_function and old.python_module != new.python_module:
        modules = old.python_module or old.package, new.python_module or new.package
        yield _changed(subject, "P024", f"`{old_name}` is now `{new_name}`", *modules, caller)


def _method(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    variants = _words(old.variants), _words(new.variants)
    if old.is_called_as_method and not new.is_method and "method" not in new.by_hand:
        caller = f"`{calls.method_call(subject.old)}` stops working"
        yield _changed(subject, "P022", f"the method `{calls.method_name(subject.old)}` is gone", *variants, caller)
    elif new.is_method and not old.is_method:
        yield _changed(subject, "P023", f"the method `{calls.method_name(subject.new)}` is added", *variants)


def _python_names(subject: Subject, old: Op) -> Iterator[Finding]:
    """An argument that the schema calls as before. What else is renamed is reported with the schema."""
    for pair in align(subject.old, subject.new).pairs:
        names = pair.old.python_name, pair.new.python_name
        if not pair.is_renamed and names[0] != names[1]:
            message = f"argument `{pair.old.name}` is called `{names[1]}` in Python, it was `{names[0]}`"
            caller = f"`{calls.keyword_call(old, subject.old, pair.old)}` by keyword stops working"
            yield _changed(subject, "P012", message, *names, caller)


def _numbers(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    words = _words(old.numbers), _words(new.numbers)
    pairs = align(subject.old, subject.new).pairs
    for pair in pairs:
        had, has = pair.old.name in old.numbers, pair.new.name in new.numbers
        name = pair.new.python_name
        if had and not has and pair.new.type.is_tensor:
            caller = f"`{calls.number_call(old, subject.old, pair.old)}` stops working"
            yield _changed(subject, "P040", f"`{name}` no longer takes a number", *words, caller)
        elif has and not had and pair.old.type.is_tensor:
            yield _changed(subject, "P041", f"`{name}` also takes a number", *words)


def _factory(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    name = calls.function_name(new, subject.new)
    if old.factory and not new.factory:
        call = f"{calls.function_call(old, subject.old)[:-1]}, requires_grad=True)"
        message = f"`{name}` no longer takes `requires_grad`"
        yield _changed(subject, "P050", message, "factory", None, f"`{call}` stops working")
    elif new.factory and not old.factory:
        yield _changed(subject, "P051", f"`{name}` takes `requires_grad`", None, "factory")


def _operators(subject: Subject, old: Op, new: Op, new_model: Model) -> Iterator[Finding]:
    words = _words(old.operators), _words(new.operators)
    for name in old.operators:
        if name not in new.operators:
            caller = f"`{_SPELLED[name]}` {_without(name, new_model)}"
            yield _changed(subject, "P030", f"the operator `{name}` is no longer this op", *words, caller)
    for name in new.operators:
        if name not in old.operators:
            yield _changed(subject, "P031", f"the operator `{name}` calls this op", *words)


def _without(name: str, model: Model) -> str:
    """What Python does now where it used the operator; for one that writes in place it has another way."""
    callers = {operator: op.name for op in model.ops.values() for operator in op.operators}
    if name in callers:
        return f"now calls `{callers[name]}`"
    is_replaced = name in INPLACE_OPERATORS and name.replace("__i", "__", 1) in callers
    return "makes a new tensor: it wrote to `x`" if is_replaced else "stops working"


_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SPELLED = {
    **{f"__{name}__": f"x {symbol} y" for name, symbol in (_SYMBOLS | _COMPARISONS).items()},
    **{f"__r{name}__": f"2 {symbol} x" for name, symbol in _SYMBOLS.items()},
    **{f"__i{name}__": f"x {symbol}= y" for name, symbol in _SYMBOLS.items()},
    "__neg__": "-x",
    "__pos__": "+x",
    "__abs__": "abs(x)",
    "__invert__": "~x",
}


def _words(words: tuple[str, ...]) -> str:
    return ", ".join(words)


def _changed(subject: Subject, code: str, message: str, old: str | None, new: str | None, caller: str = "") -> Finding:
    location = subject.new_op.location if subject.new_op else None
    return subject.changed(code, message, old or None, new or None, location, caller)
