"""What the ``versions`` and ``deprecated`` entries of an op make of a change: a break that they cover is none.

``versions`` covers saved programs, which PyTorch's check of schemas protects, and ``deprecated`` Python callers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..model import FunctionSchema, OldForm, Op
from ..rules.history_rules import is_told_apart
from . import calls
from .report import Finding, Verdict
from .rules import RULES
from .state import State
from .subject import Subject

_EXAMPLE = re.compile(r"`[^`]+\([^`]*\)`")
_ALSO_CALLERS = "list the old call under `deprecated` as well: `versions` helps saved programs only"
_ALSO_PROGRAMS = "list the old schema under `versions` as well, so that saved programs keep working"


def former_names(removed: Iterable[FunctionSchema], head: State) -> dict[str, str]:
    """The ops that say what they were called before: new names by old ones."""
    gone = {schema.full_name: schema for schema in removed}
    found: dict[str, str] = {}
    for op in head.model.ops.values() if head.model else ():
        names = {form.schema.full_name for form in op.versions}
        old_calls = [form.schema for form in op.deprecated if form.schema.name != op.schema.name]
        names |= {name for name, schema in gone.items() if any(_same_call(schema, call) for call in old_calls)}
        found |= {name: op.name for name in names if name in gone}
    return found


def judged(subject: Subject, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings about one op, with breaks that it takes care of turned into what is left of them."""
    op = subject.new_op
    is_upgraded = op is not None and any(str(form.schema) == str(subject.old) for form in op.versions)
    is_called = op is not None and any(_same_call(form.schema, subject.old) for form in op.deprecated)
    breaks = [f for f in findings if f.rule.topic == "schema" and f.rule.verdict is Verdict.breaking]
    is_harmless = sum(finding.rule.code == "P001" for finding in findings) >= len(breaks)
    for finding in findings:
        if finding in breaks and (is_upgraded or is_called):
            yield _judged(subject, finding, is_upgraded, is_called, is_called or is_harmless)
        else:
            yield finding
    yield from _entries(subject)


def _judged(subject: Subject, finding: Finding, is_upgraded: bool, is_called: bool, suits_callers: bool) -> Finding:
    caller = f"{_example(subject, finding)} works, with a warning" if is_called else ""
    if not is_upgraded:
        caller = f"{caller}, but a saved program that calls `{subject.name}` cannot be run"
        return replace(finding, caller=caller, remedy=_ALSO_PROGRAMS)
    if not suits_callers:
        could_be = subject.old.name != subject.new.name or is_told_apart(subject.old, subject.new)
        return replace(finding, remedy=_ALSO_CALLERS) if could_be else finding
    return replace(finding, rule=RULES["S090"], caller=caller, remedy="")


def _example(subject: Subject, finding: Finding) -> str:
    """The call that the finding would stop."""
    found = _EXAMPLE.search(finding.caller)
    return found.group() if found else f"`{subject.call()}`"


def _entries(subject: Subject) -> Iterator[Finding]:
    """Deprecated calls and old versions that come and go."""
    old, new = subject.old_op, subject.new_op
    if old is None or new is None or new.derived_from is not None:
        return
    where = new.location
    for form in _only_in(new.deprecated, old.deprecated):
        text, caller = _call(form.schema), f"`{_old_call(new, form.schema)}` works, with a warning"
        yield subject.changed("P060", f"`{text}` is deprecated", None, text, form.schema.location, caller)
    for form in _only_in(old.deprecated, new.deprecated):
        text, caller = _call(form.schema), f"`{_old_call(old, form.schema)}` stops working"
        yield subject.changed("P061", f"`{text}` is no longer taken", text, None, where, caller)
    for form in _only_in(old.versions, new.versions):
        caller = f"a program that was saved with version {form.version} of `{subject.name}` cannot be run"
        message = f"version {form.version} is no longer known"
        yield subject.changed("S091", message, str(form.schema), None, where, caller)
    yield from _edited(subject, old, new)


def _edited(subject: Subject, old: Op, new: Op) -> Iterator[Finding]:
    """Deprecated calls and old versions that are described in other words."""
    for before, after in _in_both(old.deprecated, new.deprecated):
        text, where = _call(after.schema), after.schema.location
        replacements, releases = (before.expression.text, after.expression.text), (_releases(before), _releases(after))
        if replacements[0] != replacements[1]:
            yield subject.changed("P062", f"`{text}` is replaced by another call", *replacements, where)
        if releases[0] != releases[1]:
            yield subject.changed("P063", f"`{text}` has other releases", *releases, where)
    for before, after in _in_both(old.versions, new.versions):
        upgrades = before.expression.text, after.expression.text
        if upgrades[0] != upgrades[1]:
            message = f"programs of version {after.version} are upgraded in another way"
            yield subject.changed("S092", message, *upgrades, after.schema.location)


def _releases(form: OldForm) -> str:
    """When a call was deprecated, and when it will be gone."""
    since, removal = form.since.text if form.since else "", form.removal.text if form.removal else "never"
    return f"since {since}, removal {removal}"


def _in_both(forms: Iterable[OldForm], others: Iterable[OldForm]) -> Iterator[tuple[OldForm, OldForm]]:
    known = {_key(form): form for form in others}
    return ((form, known[_key(form)]) for form in forms if _key(form) in known)


def _old_call(op: Op, schema: FunctionSchema) -> str:
    """A call that only the old form takes: by another name, or with an argument that the op has not."""
    gone = [argument for argument in schema.inputs if op.schema.argument(argument.name) is None]
    if schema.name != op.schema.name or not gone:
        return calls.plain_call(op, schema)
    return calls.keyword_call(op, schema, gone[0])


def _only_in(forms: Iterable[OldForm], others: Iterable[OldForm]) -> list[OldForm]:
    known = {_key(form) for form in others}
    return [form for form in forms if _key(form) not in known]


def _key(form: OldForm) -> tuple[str, int]:
    return str(form.schema), form.version


def _call(schema: FunctionSchema) -> str:
    """A call by what Python callers see of it: no overload, no results."""
    return str(replace(schema, overload="")).rpartition(" -> ")[0]


def _same_call(one: FunctionSchema, other: FunctionSchema) -> bool:
    return str(replace(one, overload="")) == str(replace(other, overload=""))
