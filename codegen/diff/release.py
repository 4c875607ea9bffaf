"""Release notes from the verdicts of a comparison, and the version number that the changes ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .report import Finding, OpChange, Report, Verdict

Step = Literal["major", "minor", "patch"]
# What users can do that they could not: a new version with it is no mere mend.
_NEW = tuple("S002 S012 F002 F008 P021 P023 P026 P031 P041 P051 D001 D010 D017 D020 D030 T011 B002".split())
_DEPRECATED = ("P060",)
# What callers of the library do not see.
_INSIDE = ("C007", "P027", "B004", "B005", "B020", "B022", "B023", "B024", "B025")
_MOST_CODE = 12


@dataclass(frozen=True, slots=True)
class Call:
    """A line of a package outside that calls what breaks."""

    file: str
    line: int
    text: str
    finding: Finding


def step(report: Report) -> Step:
    """What the changes ask for by semantic versioning, before anything is said of versions below 1."""
    findings = [finding for change in report.changes for finding in change.findings]
    if any(finding.rule.verdict is Verdict.breaking for finding in findings):
        return "major"
    is_more = any(f.rule.code in _NEW + _DEPRECATED or f.rule.verdict is Verdict.forward_only for f in findings)
    return "minor" if is_more else "patch"


def next_version(before: str, report: Report) -> str:
    """The smallest version that the changes allow. Below 1.0.0 a break moves the second number, all else the third."""
    major, minor, patch = (*map(int, before.split(".")), 0, 0, 0)[:3]
    needed = step(report)
    if major == 0:
        needed = "minor" if needed == "major" else "patch"
    if needed == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if needed == "minor" else f"{major}.{minor}.{patch + 1}"


def is_enough(version: str, needed: str) -> bool:
    """Whether a version is at least the one that is needed."""
    numbers = [[*map(int, each.split(".")), 0, 0, 0][:3] for each in (version, needed)]
    return numbers[0] >= numbers[1]


def notes(report: Report, before: str | None, calls: Iterable[Call] = ()) -> str:
    """The release notes as Markdown: breaks first, each with the call that stops working and what to do instead."""
    pairs = [(finding, change) for change in report.changes for finding in change.findings]
    parts = [f"# {report.base} → {report.head}", _asks_for(report, before)]
    for title, chosen in (
        ("Breaking changes", [pair for pair in pairs if pair[0].rule.verdict is Verdict.breaking]),
        ("Deprecated", [pair for pair in pairs if pair[0].rule.code in _DEPRECATED]),
        ("New", [pair for pair in pairs if pair[0].rule.code in _NEW]),
        ("Not for older versions", [pair for pair in pairs if pair[0].rule.verdict is Verdict.forward_only]),
        ("May compute something else", [pair for pair in pairs if _is_open(pair[0])]),
        ("Other changes", [pair for pair in pairs if _is_other(pair[0])]),
    ):
        lines = [line for finding, change in chosen for line in _item(finding, change)]
        if lines:
            parts.append("\n".join([f"## {title}", *lines]))
    own = [*calls]
    if own:
        parts.append("\n".join(["## Callers of what breaks", *map(_called, own)]))
    return "\n\n".join(parts) + "\n"


def _asks_for(report: Report, before: str | None) -> str:
    counts = ", ".join(f"{report.count(verdict)} {verdict}" for verdict in reversed(Verdict) if report.count(verdict))
    if before is None:
        return f"The changes ask for a {step(report)} version: {counts or 'nothing changed'}."
    return f"After {before}, the changes ask for {next_version(before, report)} or more: {counts or 'nothing changed'}."


def _is_open(finding: Finding) -> bool:
    return (
        finding.rule.verdict is Verdict.unproven and finding.rule.topic != "test" and finding.rule.code not in _INSIDE
    )


def _is_other(finding: Finding) -> bool:
    is_told = finding.rule.code in _NEW + _DEPRECATED + _INSIDE or finding.rule.topic == "test"
    return finding.rule.verdict is Verdict.compatible and not is_told


def _item(finding: Finding, change: OpChange) -> Iterator[str]:
    yield f"- **{finding.op}**: {finding.message} ({finding.rule.code})."
    if finding.rule.verdict is Verdict.breaking:
        if finding.caller:
            yield f"  {finding.caller[0].upper() + finding.caller[1:]}."
        if finding.allowance is not None:
            yield f"  Why: {finding.allowance.reason}"
        elif finding.remedy:
            yield f"  To keep it working: {finding.remedy}."


def _called(call: Call) -> str:
    return f"- {call.file}:{call.line}: `{call.text.strip()}` ({call.finding.rule.code} of {call.finding.op})"


# -------------------- callers --------------------


def calls_of_breaks(report: Report, folders: Iterable[Path]) -> Iterator[Call]:
    """The calls in the files of some folders whose name is that of what breaks; nothing of them is run.

    Names are all that a text shows, so a call may be one of another function of that name. Where an argument is renamed
    or removed, only calls by its name count.
    """
    breaks: dict[str, list[Finding]] = {}
    for finding in (each for change in report.changes for each in change.findings):
        if finding.rule.verdict is Verdict.breaking and finding.rule.topic in ("schema", "python", "function", "view"):
            breaks.setdefault(_called_name(finding.op), []).append(finding)
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            yield from _calls_in(path, breaks)


def _called_name(op: str) -> str:
    """How calls name it: the last part of a public name, the op without its overload."""
    return op.rpartition(".")[2] if op.startswith(("torch.", "Tensor.")) else op.partition(".")[0].rpartition("::")[2]


def _calls_in(path: Path, breaks: dict[str, list[Finding]]) -> Iterator[Call]:
    text = path.read_bytes()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.decode("utf-8", "replace").splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            for finding in breaks.get(name, ()):
                if _may_break(node, finding):
                    yield Call(path.as_posix(), node.lineno, lines[node.lineno - 1], finding)


def _may_break(call: ast.Call, finding: Finding) -> bool:
    if finding.rule.code not in ("S018", "P012", "F003", "F004", "S010", "S011"):
        return True
    old = finding.message.split("`")
    name = old[1] if len(old) > 1 else ""
    is_by_name = any(keyword.arg == name for keyword in call.keywords)
    return is_by_name or finding.rule.code in ("S010", "S011", "F004") and len(call.args) > 1
