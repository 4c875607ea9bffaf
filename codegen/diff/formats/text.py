"""The report for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..report import Finding, Marked, OpChange, Report, Verdict

_COLOURS = {
    Verdict.breaking: "31",
    Verdict.forward_only: "33",
    Verdict.unproven: "36",
    Verdict.compatible: "32",
    Verdict.text: "2",
}
_BOLD, _RED, _GREEN = "1", "31", "32"


# Of more harmless changes than this, the first few stand for all.
_MOST_SHOWN = 20
_FIRST_FEW = 5


def render(report: Report) -> str:
    """Every changed op with its findings, then the counts and the verdict."""
    return _Printer(colour=False).report(report)


def render_for_people(report: Report, colour: bool, everything: bool) -> str:
    """The report on a terminal: without ``everything``, a long list of harmless changes is counted."""
    return _Printer(colour).report(report) if everything else _Printer(colour).summary(report)


class _Printer:
    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def report(self, report: Report) -> str:
        return self._text(report, self._changes(report.changes))

    def summary(self, report: Report) -> str:
        """The same, with the first few of many harmless changes."""
        by_verdict = [[change for change in report.changes if change.verdict is each] for each in reversed(Verdict)]
        return self._text(report, [block for changes in by_verdict for block in self._first_few(changes)])

    def _first_few(self, changes: list[OpChange]) -> Iterator[str]:
        if len(changes) <= _MOST_SHOWN or changes[0].verdict > Verdict.compatible:
            yield from self._changes(changes)
            return
        yield from self._changes(changes[:_FIRST_FEW])
        rest = changes[_FIRST_FEW:]
        added = sum(change.old_schema is None and change.new_schema is not None for change in rest)
        of_these = f", {added} of them added ops" if added else ""
        yield f"... and {len(rest)} more that are {changes[0].verdict}{of_these}: --all shows them"

    def _changes(self, changes: Iterable[OpChange]) -> list[str]:
        return ["\n".join(self._change(change)) for change in changes]

    def _text(self, report: Report, changes: Iterable[str]) -> str:
        blocks = [f"{report.base} -> {report.head}", *changes]
        blocks += [self._paint(f"error: {error}", _RED) for error in report.list_errors]
        blocks += [f"note: {note}" for note in report.notes]
        return "\n\n".join([*blocks, self._summary(report)]) + "\n"

    def _summary(self, report: Report) -> str:
        counts = [f"{report.count(verdict)} {verdict}" for verdict in sorted(Verdict, reverse=True)]
        verdict = self._paint(str(report.verdict), _BOLD, _COLOURS[report.verdict])
        if not report.changes and not report.list_errors:
            return f"no changes: {report.unchanged} ops are the same"
        allowed = f" ({report.allowed} allowed)" if report.allowed else ""
        return f"{verdict}: {', '.join(counts)}{allowed}; {report.unchanged} ops are the same"

    def _change(self, change: OpChange) -> Iterator[str]:
        allowed = " (allowed)" if change.is_allowed else ""
        yield f"{self._paint(str(change.verdict), _COLOURS[change.verdict])}{allowed} {self._paint(change.op, _BOLD)}"
        if change.old_schema != change.new_schema:
            yield from self._both(change.old_schema, change.new_schema, "  ")
        for finding in change.findings:
            yield from self._finding(finding, change)

    def _finding(self, finding: Finding, change: OpChange) -> Iterator[str]:
        was_at = "was at " if change.is_removed else ""
        place = f" ({was_at}{finding.location})" if finding.location else ""
        verdict = self._paint(str(finding.rule.verdict), _COLOURS[finding.verdict])
        yield f"  {finding.rule.code} {verdict}: {finding.message}{place}"
        if _is_shown(finding, change):
            yield from self._both(finding.old, finding.new, "      ")
        if finding.caller:
            yield f"    callers: {finding.caller}"
        if finding.allowance:
            yield f"    allowed until {finding.allowance.expires}: {finding.allowance.reason}"
        elif finding.remedy:
            yield f"    instead: {finding.remedy}"

    def _both(self, old: Marked | None, new: Marked | None, indent: str) -> Iterator[str]:
        for sign, marked, colour in (("-", old, _RED), ("+", new, _GREEN)):
            if marked is not None:
                yield f"{indent}{sign} {self._marked(marked, colour)}"
                if not self._colour and _is_partly_marked(marked):
                    yield f"{indent}  {_carets(marked)}"

    def _marked(self, marked: Marked, colour: str) -> str:
        """The text with its changed parts in colour."""
        shown, position = "", 0
        for start, end in marked.spans:
            shown += marked.text[position:start] + self._paint(marked.text[start:end], _BOLD, colour)
            position = end
        return shown + marked.text[position:]

    def _paint(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self._colour else text


def _is_partly_marked(marked: Marked) -> bool:
    return bool(marked.spans) and marked.spans != ((0, len(marked.text)),)


def _carets(marked: Marked) -> str:
    """What marks the changed parts from the line below where there is no colour."""
    line = [" "] * marked.spans[-1][1]
    for start, end in marked.spans:
        line[start:end] = "^" * (end - start)
    return "".join(line)


def _is_shown(finding: Finding, change: OpChange) -> bool:
    """What can be seen in the schemas above is not repeated."""
    return not (finding.rule.topic in ("schema", "view") and change.old_schema != change.new_schema)
