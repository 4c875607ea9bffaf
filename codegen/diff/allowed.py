"""The allow-list, schemas/allowed.yaml: breaking changes that are known and wanted, until a day.

An entry covers the findings of one rule about one op and the variants derived from it. Entries that are wrong, have
expired or cover nothing are errors, so that the list never holds more than it has to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from ..errors import Diagnostic, Problems, did_you_mean, did_you_mean_op
from ..keys import Key
from ..read.entries import Checker, read_entries
from ..read.yaml_source import Mapping, Scalar
from .report import Allowance, Finding, OpChange, Verdict
from .rules import RULES
from .state import AllowList, State

FILE = "allowed.yaml"
_RUN = "R"
_BROKEN = tuple(code for code, rule in RULES.items() if rule.verdict > Verdict.unproven)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
KEYS = (
    Key("op", "text", "the full name of the op, such as mul.Tensor; its variants are covered too", required=True),
    Key("rule", "rule", "the code of the rule that the change breaks, such as S018", _BROKEN, required=True),
    Key("reason", "text", "why the change is wanted, and what users were told", required=True),
    Key("expires", "day", "the last day on which the entry holds, YYYY-MM-DD; then it is an error", required=True),
)


def read_allow_list(path: Path, file: str) -> AllowList:
    """The list in a file, which need not exist. What is wrong with it is part of the list."""
    if not path.is_file():
        return AllowList()
    problems = Problems()
    checker = Checker(KEYS, problems)
    entries = tuple(_entries(read_entries(path, file, problems), checker, problems))
    return AllowList(entries, problems.diagnostics)


def _entries(mappings: Iterable[Mapping], checker: Checker, problems: Problems) -> Iterator[Allowance]:
    for mapping in mappings:
        for name, _ in checker.unknown_keys(mapping):
            checker.report_unknown(name)
        values = {key: value for key, value in checker.values(mapping).items() if isinstance(value, Scalar)}
        if len(values) == len(KEYS):
            entry = _entry(mapping, values, problems)
            if entry is not None:
                yield entry


def _entry(mapping: Mapping, values: dict[str, Scalar], problems: Problems) -> Allowance | None:
    rule, day = values["rule"], _day(values["expires"].text)
    if rule.text not in RULES:
        hint = did_you_mean(rule.text, RULES) or "docs/compatibility.md lists the rules"
        problems.add("E120", f"unknown rule '{rule.text}'", rule.location, hint)
    if day is None:
        message = f"'{values['expires'].text}' is no day"
        problems.add("E121", message, values["expires"].location, "write it as YYYY-MM-DD")
    reason = values["reason"]
    if not any(map(str.isalpha, reason.text)):
        problems.add("E014", f"'{reason.text}' is no reason", reason.location, "say why the change is wanted")
    if rule.text not in RULES or day is None:
        return None
    return Allowance(values["op"].text, rule.text, values["reason"].text, day, mapping.location)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None  # later versions of Python take other forms
    except ValueError:
        return None


# -------------------- applying the list --------------------


def apply(base: State, head: State, changes: Iterable[OpChange], today: date) -> tuple[list[OpChange], tuple[str, ...]]:
    """The changes with the entries that cover their findings, and what is wrong with the list.

    A variant's change is covered by an entry of the op that it is derived from.
    """
    entries = {(entry.op, entry.rule): entry for entry in head.allow_list.entries if entry.expires >= today}
    covered = [_covered(change, entries, base, head) for change in changes]
    used = {finding.allowance for change in covered for finding in change.findings if finding.allowance}
    errors = (*head.allow_list.errors, *_expired(head, today), *_unused(base, head, used, today))
    return covered, tuple(map(str, errors))


def _covered(change: OpChange, entries: dict[tuple[str, str], Allowance], base: State, head: State) -> OpChange:
    op = head.op(change.op) or base.op(change.op)
    root = op.derived_from if op is not None and op.derived_from else change.op
    findings = [_with_allowance(finding, [change.op, root], entries) for finding in change.findings]
    return replace(change, root=root, findings=tuple(findings))


def _with_allowance(finding: Finding, names: list[str], entries: dict[tuple[str, str], Allowance]) -> Finding:
    """Only a break has to be allowed."""
    if finding.rule.verdict <= Verdict.unproven:
        return finding
    found = (entries.get((name, finding.rule.code)) for name in names)
    return replace(finding, allowance=next((entry for entry in found if entry), None))


def _expired(head: State, today: date) -> Iterator[Diagnostic]:
    for entry in head.allow_list.entries:
        if entry.expires < today:
            message = f"the entry for {entry.rule} of {entry.op} has expired: it held until {entry.expires}"
            hint = "undo the change, or give the entry another day and the reason for it"
            yield Diagnostic("E122", message, entry.location, hint=hint)


def _unused(base: State, head: State, used: set[Allowance], today: date) -> Iterator[Diagnostic]:
    """Entries that cover nothing.

    One that BASE has, too, may be there for an older change; not so if BASE is a release, after which the list starts
    anew.
    """
    older = set() if base.is_release else {(entry.op, entry.rule) for entry in base.allow_list.entries}
    for entry in head.allow_list.entries:
        if entry.rule.startswith(_RUN):
            continue  # only a run can tell
        if entry not in used and entry.expires >= today and (entry.op, entry.rule) not in older:
            message = f"the entry for {entry.rule} of {entry.op} covers nothing that changed since {base.name}"
            yield Diagnostic("E123", message, entry.location, hint=_hint_for_unused(entry, base, head))


def _hint_for_unused(entry: Allowance, base: State, head: State) -> str:
    """It was meant for another op if there is none of that name."""
    names = {*base.schemas, *head.schemas}
    return "remove it" if entry.op in names else did_you_mean_op(entry.op, names) or f"there is no op '{entry.op}'"
