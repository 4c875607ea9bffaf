"""The report as JSON, for other programs. The format is described by ``SCHEMA``, which is schemas/diff.schema.json.

``format`` is 2; a change that could break a reader gives it another number, an added field does not.
"""

from __future__ import annotations

import json
from typing import Any

from ...model import Location
from ..report import Allowance, Finding, Marked, OpChange, Report, Verdict

FORMAT = 2


def render(report: Report) -> str:
    return json.dumps(_report(report), indent=2, ensure_ascii=False) + "\n"


def _report(report: Report) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "base": report.base,
        "head": report.head,
        "verdict": str(report.verdict),
        "counts": {str(verdict): report.count(verdict) for verdict in sorted(Verdict, reverse=True)},
        "unchanged": report.unchanged,
        "notes": list(report.notes),
        "list_errors": list(report.list_errors),
        "severities": dict(report.severities),
        "link": report.link,
        "changes": [_change(change) for change in report.changes],
    }


def _change(change: OpChange) -> dict[str, Any]:
    return {
        "op": change.op,
        "root": change.root,
        "family": change.family,
        "verdict": str(change.verdict),
        "old_schema": _marked(change.old_schema),
        "new_schema": _marked(change.new_schema),
        "findings": [_finding(finding) for finding in change.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule.code,
        "topic": finding.rule.topic,
        "title": finding.rule.title,
        "verdict": str(finding.verdict),
        "message": finding.message,
        "caller": finding.caller,
        "remedy": finding.remedy,
        "old": _marked(finding.old),
        "new": _marked(finding.new),
        "location": _location(finding.location),
        "allowance": _allowance(finding.allowance),
        "ops": list(finding.ops),
        "is_public": finding.is_public,
        "is_proven": finding.is_proven,
    }


def _marked(marked: Marked | None) -> dict[str, Any] | None:
    return None if marked is None else {"text": marked.text, "spans": [list(span) for span in marked.spans]}


def _location(location: Location | None) -> dict[str, Any] | None:
    if location is None:
        return None
    return {"file": location.file, "line": location.line, "column": location.column}


def _allowance(allowance: Allowance | None) -> dict[str, Any] | None:
    if allowance is None:
        return None
    return {
        "reason": allowance.reason,
        "expires": allowance.expires.isoformat(),
        "location": _location(allowance.location),
    }


# -------------------- its JSON Schema --------------------


def _object(**properties: Any) -> dict[str, Any]:
    """All properties are always there; others may come."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 0}
_OPEN = {"type": "object"}
_VERDICT = {"enum": [str(verdict) for verdict in sorted(Verdict, reverse=True)]}
_LOCATION = _object(file=_TEXT, line=_NUMBER, column=_NUMBER)
_MARKED = _object(text=_TEXT, spans=_list({"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}))
_FINDING = _object(
    rule={"type": "string", "pattern": "^[A-Z][0-9]{3}$"},
    topic=_TEXT,
    title=_TEXT,
    verdict=_VERDICT,
    message=_TEXT,
    caller=_TEXT,
    remedy=_TEXT,
    old=_or_null(_MARKED),
    new=_or_null(_MARKED),
    location=_or_null(_LOCATION),
    allowance=_or_null(_object(reason=_TEXT, expires={"type": "string", "format": "date"}, location=_LOCATION)),
    ops=_list(_TEXT),
    is_public={"type": "boolean"},
    is_proven={"type": "boolean"},
)
_CHANGE = _object(
    op=_TEXT,
    root=_TEXT,
    family=_TEXT,
    verdict=_VERDICT,
    old_schema=_or_null(_MARKED),
    new_schema=_or_null(_MARKED),
    findings=_list(_FINDING),
)
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "What python -m codegen diff --format json prints",
    **_object(
        format={"const": FORMAT},
        base=_TEXT,
        head=_TEXT,
        verdict=_VERDICT,
        counts=_object(**{str(verdict): _NUMBER for verdict in sorted(Verdict, reverse=True)}),
        unchanged=_NUMBER,
        notes=_list(_TEXT),
        list_errors=_list(_TEXT),
        severities=_OPEN,
        link=_TEXT,
        changes=_list(_CHANGE),
    ),
}
