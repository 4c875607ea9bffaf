"""What the formats for reviewers have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from ..report import Finding, OpChange, Report

# The key of an entry that a rule is about: what it was before is what keeps the op as it was.
_KEYS = {
    "N001": "node",
    "T001": "promotion",
    "H001": "shape",
    "T010": "dtypes",
    "P020": "variants",
    "P022": "variants",
    "P030": "operators",
    "P040": "numbers",
    "G001": "tags",
    "V003": "view",
}
_WHOLE = ("Q001",)  # their old text is a line of YAML
_PAGE = "docs/compatibility.md"
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def plain_and_code(message: str) -> Iterator[tuple[str, bool]]:
    """The parts of a message, each with whether it is code: what stands between single backticks."""
    return ((part, bool(number % 2)) for number, part in enumerate(_CODE.split(message)))


def worst_first(change: OpChange) -> list[Finding]:
    return sorted(change.findings, key=lambda finding: -finding.verdict)


def has_own_texts(finding: Finding, change: OpChange) -> bool:
    """Whether the finding has texts to compare besides the schemas, which are shown anyway."""
    return finding.old != finding.new and (finding.old, finding.new) != (change.old_schema, change.new_schema)


def suggestion(finding: Finding) -> str:
    """The line of YAML that keeps the op as it was; "" where there is no exact one."""
    if finding.old is None:
        return ""
    if finding.rule.code in _WHOLE:
        return finding.old.text
    key = _KEYS.get(finding.rule.code)
    return f"{key}: {finding.old.text}" if key else ""


def rule_link(finding: Finding, report: Report) -> str:
    """Where the rule is described; "" where the files cannot be linked to."""
    return f"{report.link}/{_PAGE}#{finding.rule.code.lower()}" if report.link else ""


def place_link(finding: Finding, report: Report) -> str:
    """The line to look at."""
    if not report.link or finding.location is None:
        return ""
    return f"{report.link}/{quote(finding.location.file)}#L{finding.location.line}"
