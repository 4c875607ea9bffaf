"""The schema diff as annotations: workflow commands, which GitHub shows at the lines that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..report import Finding, OpChange, Report, Verdict

MOST_SHOWN = 10  # GitHub shows no more annotations of one level and step

_LEVELS = {
    Verdict.breaking: "error",
    Verdict.forward_only: "warning",
    Verdict.unproven: "warning",
    Verdict.compatible: "notice",
    Verdict.text: "notice",
}
_PLACE = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+):(?P<col>\d+): (?:error(?:\[\w+\])? )?(?P<message>.*)", re.DOTALL)


def render(report: Report) -> str:
    found = [(finding, change) for change in report.changes for finding in change.findings]
    found.sort(key=lambda pair: (-pair[0].verdict, pair[0].allowance is None))
    commands = [*map(_list_error, report.list_errors), *(_annotation(finding, change) for finding, change in found)]
    return "".join(f"{line}\n" for level in ("error", "warning", "notice") for line in _shown(level, commands))


def _shown(level: str, commands: Sequence[str]) -> Iterator[str]:
    """The commands of one level; if there are more than GitHub shows, the last one says how many."""
    own = [command for command in commands if command.startswith(f"::{level} ")]
    if len(own) <= MOST_SHOWN:
        yield from own
        return
    yield from own[: MOST_SHOWN - 1]
    hidden = len(own) - MOST_SHOWN + 1
    yield _command(level, f"and {hidden} more: the summary of the job lists them", title="Schema diff")


def _annotation(finding: Finding, change: OpChange) -> str:
    """A break that is allowed is still one that reviewers should see: a warning."""
    allowed, level = (" (allowed)", "warning") if finding.allowance else ("", _LEVELS[finding.verdict])
    title = f"{finding.rule.code}{allowed}: {finding.rule.title}"
    return _command(level, "\n".join(_message(finding)), **_place(finding, change), title=title)


def _message(finding: Finding) -> Iterator[str]:
    yield f"{finding.op}: {finding.message}"
    if finding.caller:
        yield f"Callers: {finding.caller}"
    if finding.remedy:
        yield f"Instead: {finding.remedy}"
    if finding.allowance:
        yield f"Allowed until {finding.allowance.expires}: {finding.allowance.reason}"


def _place(finding: Finding, change: OpChange) -> dict[str, str]:
    """File, line and column. An op that was removed has no line in the new file: it is shown at its beginning."""
    location = finding.location
    if location is None:
        return {}
    if change.is_removed:
        return {"file": location.file}
    return {"file": location.file, "line": str(location.line), "col": str(location.column)}


def _list_error(error: str) -> str:
    """An error of the allow-list, at the place that it begins with."""
    place = _PLACE.fullmatch(error)
    if place is None:
        return _command("error", error, title="Allow-list")
    properties = place.groupdict()
    return _command("error", properties.pop("message"), **properties, title="Allow-list")


def _command(level: str, message: str, **properties: str) -> str:
    described = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {described}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
