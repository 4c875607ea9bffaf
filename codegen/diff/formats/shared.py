"""What the formats for reviewers have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..report import Finding, OpChange

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def plain_and_code(message: str) -> Iterator[tuple[str, bool]]:
    """The parts of a message, each with whether it is code: what stands between single backticks."""
    return ((part, bool(number % 2)) for number, part in enumerate(_CODE.split(message)))


def worst_first(change: OpChange) -> list[Finding]:
    return sorted(change.findings, key=lambda finding: -finding.verdict)


def has_own_texts(finding: Finding, change: OpChange) -> bool:
    """Whether the finding has texts to compare besides the schemas, which are shown anyway."""
    return finding.old != finding.new and (finding.old, finding.new) != (change.old_schema, change.new_schema)
