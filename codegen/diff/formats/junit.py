"""The report as JUnit's XML, which build servers show: a test case for each op that changes, failed if that breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from ..report import OpChange, Report, Verdict

# What XML does not allow, not even as an entity.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    cases = [line for change in report.changes for line in _case(change, report)]
    cases += [line for error in report.list_errors for line in _failed("allow-list", "the allow-list", error, "error")]
    failures = sum(_fails(change, report) for change in report.changes) + len(report.list_errors)
    count = len(report.changes) + len(report.list_errors)
    name = _attribute(f"{report.base} -> {report.head}")
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name={name} tests="{count}" failures="{failures}" errors="0" skipped="0">',
            *cases,
            "</testsuite>",
            "",
        ]
    )


def _fails(change: OpChange, report: Report) -> bool:
    return any(report.severity(finding) == "fail" for finding in change.findings)


def _case(change: OpChange, report: Report) -> Iterator[str]:
    lines = [f"{each.rule.code} {each.verdict}: {each.message}" for each in change.findings]
    lines += [f"callers: {each.caller}" for each in change.findings if each.caller]
    lines += [f"allowed: {each.allowance.reason}" for each in change.findings if each.allowance]
    if _fails(change, report):
        yield from _failed(str(Verdict(change.verdict)), change.op, "\n".join(lines), lines[0])
        return
    yield f"  <testcase classname={_attribute(str(change.verdict))} name={_attribute(change.op)}>"
    yield f"    <system-out>{_text(chr(10).join(lines))}</system-out>"
    yield "  </testcase>"


def _failed(group: str, name: str, text: str, message: str) -> Iterator[str]:
    yield f"  <testcase classname={_attribute(group)} name={_attribute(name)}>"
    yield f"    <failure message={_attribute(message)}>{_text(text)}</failure>"
    yield "  </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("?", text))


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("?", text))
