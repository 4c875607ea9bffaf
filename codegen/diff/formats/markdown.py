"""The schema diff as a comment on a pull request.

A comment of GitHub's has a largest size, so the parts are put together by what fits: the head always, then a table row
per op, then the details of the ops, worst first. What is left out is counted. Parts are taken whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import indent

from ..report import Finding, Marked, OpChange, Report, Verdict
from .shared import has_own_texts, place_link, plain_and_code, rule_link, suggestion, worst_first

MARKER = "<!-- mindtorch schema diff -->"  # by which the workflow finds the comment that it is to update
LIMIT = 65_536

# In bytes, of which a text has at least as many as characters. The details have what the rest leaves.
_LIST_ROOM = 4_000
_TABLE_ROOM = 22_000
_ENTRIES_ROOM = 4_000
_FINDINGS_ROOM = 8_000
_ENDS_ROOM = 1_000  # the lines that say how much is left out

_LONGEST_WORDS = 400
_LONGEST_CODE = 1_000
_LONGEST_NAME = 100

_SYMBOLS = {
    Verdict.breaking: "🔴",
    Verdict.forward_only: "🟠",
    Verdict.unproven: "🔵",
    Verdict.compatible: "🟢",
    Verdict.text: "⚪",
}
_ALLOWED = "🟡"
_HEADLINES = {
    Verdict.breaking: "❌ Breaking changes of operators",
    Verdict.forward_only: "⚠️ Changes of operators that older versions do not understand",
    Verdict.unproven: "🔍 Changes whose results only a run can tell",
    Verdict.compatible: "✅ Compatible changes of operators",
    Verdict.text: "✅ Operators change in spelling only",
}
_NAME = re.compile(r"[\w:.]{1,100}")
_SPECIAL = re.compile(r"[&<>\\`*_\[\]|~$]")
_REFERENCE = re.compile(r"(?<=[@#])(?=\w)")


def render(report: Report) -> str:
    head = [
        MARKER,
        f"## {_headline(report)}",
        _counts(report),
        *_list_errors(report.list_errors),
        *_notes(report.notes),
        *_table(report.changes),
    ]
    entries = _allow_list_entries(report.changes)
    room = LIMIT - _ENDS_ROOM - sum(map(_size, [*head, *entries]))
    return "\n\n".join([*head, *_details(report, room), *entries]) + "\n"


def _headline(report: Report) -> str:
    if report.changes or report.list_errors:
        return _HEADLINES[report.verdict]
    return "✅ No operator changes"


def _counts(report: Report) -> str:
    counts = [f"{report.count(verdict)} {verdict}" for verdict in reversed(Verdict) if report.count(verdict)]
    compared = f"{_code(_cut(report.base, _LONGEST_NAME))} → {_code(_cut(report.head, _LONGEST_NAME))}"
    allowed = [f"{report.allowed} allowed"] if report.allowed else []
    return f"{compared}: {', '.join([*counts, *allowed, f'{report.unchanged} unchanged'])}."


def _list_errors(errors: Sequence[str]) -> Iterator[str]:
    """What is wrong with the allow-list, as the generator prints its errors: with the line and a caret below it."""
    if errors:
        shown = _fitting((_cut(error.strip(), _LONGEST_WORDS) for error in errors), _LIST_ROOM)
        yield "**The allow-list is wrong**"
        yield _block("text", "\n\n".join(shown).splitlines())
        yield from _more(len(errors) - len(shown), "... and {} more errors.")


def _notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        shown = _fitting((f"- {_words(note)}" for note in notes), _LIST_ROOM)
        yield "\n".join(["**Notes**", "", *shown, *_more(len(notes) - len(shown), "- and {} more")])


# -------------------- the table --------------------


def _table(changes: Sequence[OpChange]) -> Iterator[str]:
    if changes:
        shown = _fitting(map(_row, changes), _TABLE_ROOM)
        yield "\n".join(["| verdict | op | what changes |", "|---|---|---|", *shown])
        yield from _left_out(changes[len(shown) :])


def _row(change: OpChange) -> str:
    """One line per op: its worst change, and how many others it has."""
    finding, *others = worst_first(change)
    allowed = f" (allowed until {finding.allowance.expires})" if finding.allowance else ""
    more = f" (and {len(others)} more)" if others else ""
    verdict, op = f"{_symbol(change)} {_verdict(change)}", _code(_cut(change.op, _LONGEST_NAME))
    return f"| {verdict} | {op} | {_words(finding.message)}{allowed}{more} |"


def _symbol(change: OpChange) -> str:
    return _ALLOWED if change.is_allowed else _SYMBOLS[change.verdict]


def _verdict(change: OpChange) -> str:
    return "allowed" if change.is_allowed else str(change.verdict)


def _left_out(changes: Sequence[OpChange]) -> Iterator[str]:
    counts = {verdict: sum(change.verdict is verdict for change in changes) for verdict in reversed(Verdict)}
    named = [f"{count} more {verdict} change{'s' * (count > 1)}" for verdict, count in counts.items() if count]
    if named:
        yield f"... and {', '.join(named)}."


# -------------------- the details --------------------


def _details(report: Report, room: int) -> Iterator[str]:
    shown = _fitting((_detail(change, report) for change in report.changes), room)
    yield from shown
    yield from _more(
        len(report.changes) - len(shown), "The details of {} more ops are in the full report: `--format html`."
    )


def _detail(change: OpChange, report: Report) -> str:
    """A folded part: the schemas, then what each finding says."""
    shown = _fitting((_finding(finding, change, report) for finding in worst_first(change)), _FINDINGS_ROOM)
    title = f"{_symbol(change)} {_html_code(_cut(change.op, _LONGEST_NAME))}: {_verdict(change)}"
    parts = [
        f"<details><summary>{title}</summary>",
        *_diff_block(change.old_schema, change.new_schema),
        *shown,
        *_more(len(change.findings) - len(shown), "... and {} more findings."),
        "</details>",
    ]
    return "\n\n".join(parts)


def _finding(finding: Finding, change: OpChange, report: Report) -> str:
    """A list item: the change, what callers see, the advice, the place."""
    code = _linked(finding.rule.code, rule_link(finding, report))
    lines = [
        f"- {_ALLOWED if finding.allowance else _SYMBOLS[finding.verdict]} **{code}** " f"{_words(finding.message)}",
        *(f"- {label}: {_words(text)}" for label, text in _explanations(finding, change) if text),
        *_place(finding, change, report),
    ]
    block = _diff_block(finding.old, finding.new) if has_own_texts(finding, change) else []
    yaml = suggestion(finding)
    if yaml and finding.verdict is Verdict.breaking:
        block = [*block, f"To keep it, the entry needs\n\n{_block('yaml', [_cut(yaml, _LONGEST_CODE)])}"]
    return indent("\n\n".join(["\n".join(lines), *block]), "  ").lstrip()


def _explanations(finding: Finding, change: OpChange) -> Iterator[tuple[str, str]]:
    yield "Callers", finding.caller
    yield "Instead", finding.remedy
    if finding.allowance:
        yield "Allowed", f"until {finding.allowance.expires}: {finding.allowance.reason}"


def _place(finding: Finding, change: OpChange, report: Report) -> Iterator[str]:
    if finding.location:
        place = _code(f"{finding.location.file}:{finding.location.line}")
        where = "Was at" if change.is_removed else "Where"
        yield f"- {where}: {_linked(place, '' if change.is_removed else place_link(finding, report))}"


def _linked(text: str, link: str) -> str:
    return f"[{text}]({link})" if link else text


def _diff_block(old: Marked | None, new: Marked | None) -> list[str]:
    """The texts before and after as a coloured block, carets below what differs; nothing if nothing does."""
    if old == new:
        return []
    return [_block("diff", [*_marked_lines("-", old), *_marked_lines("+", new)])]


def _marked_lines(sign: str, marked: Marked | None) -> Iterator[str]:
    if marked is None:
        return
    text = _cut(marked.text, _LONGEST_CODE)
    yield from (f"{sign} {line}" for line in text.splitlines())
    if text == marked.text and "\n" not in text:
        yield from _carets(marked)


def _carets(marked: Marked) -> Iterator[str]:
    """A line that points at the changed parts, unless that is nothing or everything."""
    inside = {place for start, end in marked.spans for place in range(start, end)}
    if 0 < len(inside) < len(marked.text):
        yield "? " + "".join("^" if place in inside else " " for place in range(max(inside) + 1))


def _allow_list_entries(changes: Sequence[OpChange]) -> list[str]:
    """What to copy into the allow-list if the breaks are wanted."""
    entries = [
        f"- op: {change.root or finding.op}\n  rule: {finding.rule.code}\n  reason: ...\n  expires: ..."
        for change in changes
        for finding in change.findings
        if finding.verdict is Verdict.breaking and _NAME.fullmatch(finding.op)
    ]
    shown = _fitting(dict.fromkeys(entries), _ENTRIES_ROOM)
    block = _block("yaml", shown)
    title = "If the breaks are wanted: entries for <code>schemas/allowed.yaml</code>"
    return [f"<details><summary>{title}</summary>\n\n{block}\n\n</details>"] if shown else []


# -------------------- room --------------------


def _fitting(texts: Iterable[str], room: int) -> list[str]:
    """The first texts, as many as there is room for."""
    shown = []
    for text in texts:
        room -= _size(text)
        if room < 0:
            break
        shown.append(text)
    return shown


def _size(text: str) -> int:
    """In bytes, with the lines that separate it from the next."""
    return len(text.encode()) + 2


def _more(count: int, sentence: str) -> list[str]:
    return [sentence.format(count)] if count > 0 else []


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# -------------------- texts that Markdown must not read --------------------


def _words(text: str) -> str:
    """A message in a line. What is between backticks is code; nothing else has a meaning to Markdown."""
    line = " ".join(_cut(text, _LONGEST_WORDS).split())
    return "".join(_code(part) if is_code else _plain(part) for part, is_code in plain_and_code(line))


def _plain(text: str) -> str:
    """Special characters as entities. A comment keeps `@name` and `#1` from becoming links, which entities do not."""
    return "<!-- -->".join(map(_entities, _REFERENCE.split(text)))


def _entities(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", text)


def _code(text: str) -> str:
    """A span of code. With characters that end a span or a table cell it is HTML."""
    line = " ".join(text.split())
    return _html_code(line) if re.search(r"[`|\\]", line) or not line else f"`{line}`"


def _html_code(text: str) -> str:
    """Code where Markdown's own form does not work; it is in one line and needs entities."""
    return f"<code>{_entities(' '.join(text.split()))}</code>"


def _block(language: str, lines: Iterable[str]) -> str:
    """A block of code, whose fence is longer than any row of backticks in it."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"
