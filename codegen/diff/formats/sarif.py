"""The report as SARIF 2.1.0, which code-scanning services read: a result for each finding, and its rule."""

from __future__ import annotations

import json
from typing import Any

from ..report import Finding, OpChange, Report, Verdict
from ..rules import RULES

_LEVELS = {
    Verdict.breaking: "error",
    Verdict.forward_only: "warning",
    Verdict.unproven: "warning",
    Verdict.compatible: "note",
    Verdict.text: "note",
}
_PAGE = "docs/compatibility.md"


def render(report: Report) -> str:
    found = {finding.rule.code for change in report.changes for finding in change.findings}
    tool = {"name": "mindtorch schema diff", "rules": [_rule(code, report) for code in RULES if code in found]}
    results = [_result(finding, change) for change in report.changes for finding in change.findings]
    results += [{"ruleId": "allow-list", "level": "error", "message": {"text": each}} for each in report.list_errors]
    run = {"tool": {"driver": tool}, "results": results, "columnKind": "unicodeCodePoints"}
    whole = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str, report: Report) -> dict[str, Any]:
    rule = RULES[code]
    found: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": rule.title},
        "defaultConfiguration": {"level": _LEVELS[rule.verdict]},
    }
    if rule.remedy:
        found["help"] = {"text": rule.remedy}
    if report.link:
        found["helpUri"] = f"{report.link}/{_PAGE}#{code.lower()}"
    return found


def _result(finding: Finding, change: OpChange) -> dict[str, Any]:
    parts = [f"{finding.op}: {finding.message}", finding.caller, finding.remedy and f"Instead: {finding.remedy}"]
    result: dict[str, Any] = {
        "ruleId": finding.rule.code,
        "level": _LEVELS[finding.verdict],
        "message": {"text": "\n".join(part for part in parts if part)},
        "partialFingerprints": {"finding": f"{finding.rule.code}:{finding.op}"},
    }
    if finding.location is not None:
        region = {} if change.is_removed else {"region": _region(finding)}
        artifact = {"artifactLocation": {"uri": finding.location.file}, **region}
        result["locations"] = [{"physicalLocation": artifact}]
    if finding.allowance is not None:
        result["suppressions"] = [{"kind": "external", "justification": finding.allowance.reason}]
    return result


def _region(finding: Finding) -> dict[str, int]:
    assert finding.location is not None
    return {"startLine": finding.location.line, "startColumn": finding.location.column}
