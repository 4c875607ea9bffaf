"""What changed about the results of a schema, and about the memory that arguments and results share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model import Argument, FunctionSchema, Return
from .alignment import Pair, align
from .compat import alias_key, is_subtype, list_size, plain
from .python_types import same_values
from .report import Finding
from .subject import Subject


def result_findings(subject: Subject) -> Iterator[Finding]:
    old, new = subject.old.returns, subject.new.returns
    if len(old) != len(new):
        caller = f"what unpacks or uses the result of `{subject.call()}` stops working"
        message = f"{_counted(len(new))} instead of {len(old)}"
        yield subject.changed("S054", message, _listed(old), _listed(new), subject.new.location, caller)
    else:
        for i, (before, after) in enumerate(zip(old, new)):
            yield from _result(subject, i, before, after)
    if len(old) == len(new) == 1 and subject.old.tuple_return != subject.new.tuple_return:
        message = "the result is written with other brackets"
        yield subject.changed("S055", message, _arrow(subject.old), _arrow(subject.new), subject.new.location)


def _counted(number: int) -> str:
    return "1 result" if number == 1 else f"{number} results"


def _listed(results: Iterable[Return]) -> str:
    return ", ".join(map(str, results))


def _arrow(schema: FunctionSchema) -> str:
    return str(schema).rpartition(" -> ")[2]


def _title(subject: Subject, i: int) -> str:
    return "the result" if len(subject.new.returns) == 1 else f"result {i}"


def _result(subject: Subject, i: int, old: Return, new: Return) -> Iterator[Finding]:
    if old.name != new.name:
        yield from _name(subject, i, old, new)
    if old.type != new.type:
        yield from _type(subject, i, old, new)


def _name(subject: Subject, i: int, old: Return, new: Return) -> Iterator[Finding]:
    was = f"it was called `{old.name}`" if old.name else "it had no name"
    now = f"is now called `{new.name}`" if new.name else "has no name any more"
    is_field = len(subject.old.returns) > 1 and old.name is not None
    caller = f"`{subject.call()}.{old.name}` stops working" if is_field else ""
    message = f"{_title(subject, i)} {now}, {was}"
    yield _changed(subject, "S053", message, old, new, caller)
    if not is_field:
        why = "a single result is used without its name" if old.name else "it had no name to use"
        yield subject.harmless(why, subject.new.location)


def _type(subject: Subject, i: int, old: Return, new: Return) -> Iterator[Finding]:
    code = _type_code(old, new)
    caller = f"`{subject.call()}` gives `{new.type}` where it gave `{old.type}`" if code in ("S050", "S052") else ""
    message = f"{_title(subject, i)} is `{new.type}`, it was `{old.type}`"
    yield _changed(subject, code, message, old, new, caller)
    if code in ("S024", "S051") and plain(old.type) == plain(new.type) and not same_values(old.type, new.type):
        message = f"{_title(subject, i)} is another kind of value in Python: `{new.type}` instead of `{old.type}`"
        yield _changed(subject, "P010", message, old, new, f"`{subject.call()}` gives `{new.type}`")


def _type_code(old: Return, new: Return) -> str:
    if list_size(old.type) != list_size(new.type):
        return "S052"
    if plain(old.type) == plain(new.type):
        return "S024"
    if is_subtype(new.type, old.type):
        return "S051"
    return "S050" if is_subtype(old.type, new.type) else "S052"


def _changed(subject: Subject, code: str, message: str, old: Return, new: Return, caller: str = "") -> Finding:
    return subject.changed(code, message, str(old), str(new), subject.new.location, caller)


# -------------------- aliases --------------------


def alias_findings(subject: Subject) -> Iterator[Finding]:
    """Changed annotations; then what they mean for callers: new and lost writes and views."""
    pairs = align(subject.old, subject.new).pairs
    changes = [*_argument_aliases(subject, pairs), *_result_aliases(subject)]
    meanings = [*_writes(subject, pairs), *_views(subject)]
    yield from changes
    yield from meanings
    if changes and not meanings and any(change.rule.code != "S062" for change in changes):
        yield subject.harmless("the op shares and writes the same memory as before", changes[0].location)


def _argument_aliases(subject: Subject, pairs: Iterable[Pair]) -> Iterator[Finding]:
    for pair in pairs:
        if pair.old.alias != pair.new.alias:
            same = alias_key(pair.old.alias) == alias_key(pair.new.alias)
            message = f"argument `{pair.new.name}` {_annotation(pair.old, pair.new)}"
            code = "S062" if same else "S060"
            yield subject.changed(code, message, str(pair.old), str(pair.new), pair.new.location)


def _result_aliases(subject: Subject) -> Iterator[Finding]:
    if len(subject.old.returns) != len(subject.new.returns):
        return
    for i, (old, new) in enumerate(zip(subject.old.returns, subject.new.returns)):
        if old.alias != new.alias:
            code = "S062" if alias_key(old.alias) == alias_key(new.alias) else "S061"
            message = f"{_title(subject, i)} {_annotation(old, new)}"
            yield _changed(subject, code, message, old, new)


def _annotation(old: Argument | Return, new: Argument | Return) -> str:
    if old.alias is None:
        return f"gains the alias annotation `({new.alias})`"
    if new.alias is None:
        return f"loses the alias annotation `({old.alias})`"
    return f"has the alias annotation `({new.alias})`, it had `({old.alias})`"


def _writes(subject: Subject, pairs: Iterable[Pair]) -> Iterator[Finding]:
    for pair in pairs:
        if pair.new.is_written and not pair.old.is_written:
            caller = f"`{subject.call()}` now changes `{_python_name(pair.old.name, subject.old)}`"
            message = f"argument `{pair.new.name}` is now written to"
            yield subject.changed("V010", message, str(pair.old), str(pair.new), pair.new.location, caller)
        elif pair.old.is_written and not pair.new.is_written:
            caller = f"`{subject.call()}` leaves `{_python_name(pair.old.name, subject.old)}` as it is"
            message = f"argument `{pair.new.name}` is no longer written to"
            yield subject.changed("V011", message, str(pair.old), str(pair.new), pair.new.location, caller)


def _views(subject: Subject) -> Iterator[Finding]:
    """Results that become, or stop being, views of what is passed."""
    if len(subject.old.returns) != len(subject.new.returns):
        return
    for i, (before, after) in enumerate(zip(_sources(subject.old), _sources(subject.new))):
        old, new = subject.old.returns[i], subject.new.returns[i]
        if after and not before:
            caller = f"a write to the result of `{subject.call()}` now changes `{_python_name(after, subject.new)}`"
            message = f"{_title(subject, i)} is now a view of `{after}`"
            yield _changed(subject, "V001", message, old, new, caller)
        elif before and not after:
            name = _python_name(before, subject.old)
            caller = f"a write to the result of `{subject.call()}` no longer changes `{name}`"
            yield _changed(subject, "V002", f"{_title(subject, i)} is no longer a view of `{before}`", old, new, caller)


def _sources(schema: FunctionSchema) -> Iterator[str]:
    """For every result the argument that it is a view of, or ""; what is written and returned is no view."""
    for result in schema.returns:
        shared = (argument.name for argument in schema.arguments if _shares(argument, result))
        yield next(shared, "")


def _shares(argument: Argument, result: Return) -> bool:
    if argument.alias is None or result.alias is None or argument.alias.write:
        return False
    return bool(set(argument.alias.before) & set(result.alias.before))


def _python_name(name: str, schema: FunctionSchema) -> str:
    argument = schema.argument(name)
    return "x" if name == "self" or argument is None else argument.python_name
