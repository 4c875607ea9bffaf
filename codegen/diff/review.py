"""How strictly a rule is taken: schemas/review.yaml, which people write.

    - rule: M001
      severity: warn
      reason: memory is cheap here

``fail`` makes the command exit with 1, ``warn`` and ``note`` do not. A rule that is not listed is taken as its verdict
says. The list of BASE counts, where BASE has one: a change cannot make its own review milder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from ..errors import Diagnostic, Problems, did_you_mean
from ..keys import Key
from ..read.entries import Checker, read_entries
from ..read.yaml_source import Scalar
from .rules import RULES

FILE = "review.yaml"
Severity = Literal["fail", "warn", "note"]
_WORDS: tuple[Severity, ...] = get_args(Severity)
KEYS = (
    Key("rule", "rule", "the code of a rule, such as M001", tuple(RULES), required=True),
    Key("severity", "word", "fail, warn or note", _WORDS, required=True),
    Key("reason", "text", "why", required=True),
)


@dataclass(frozen=True, slots=True)
class Review:
    """The severities by the codes of rules, and what is wrong with the list."""

    severities: Mapping[str, Severity] = field(default_factory=dict)
    errors: tuple[Diagnostic, ...] = ()
    is_there: bool = False


def read_review(path: Path, file: str) -> Review:
    """The list in a file, which need not exist."""
    if not path.is_file():
        return Review()
    problems = Problems()
    checker = Checker(KEYS, problems)
    severities: dict[str, Severity] = {}
    for mapping in read_entries(path, file, problems):
        for name, _ in checker.unknown_keys(mapping):
            checker.report_unknown(name)
        values = {key: value for key, value in checker.values(mapping).items() if isinstance(value, Scalar)}
        rule, word = values.get("rule"), values.get("severity")
        if rule is not None and rule.text not in RULES:
            hint = did_you_mean(rule.text, RULES) or "docs/compatibility.md lists the rules"
            problems.add("E120", f"unknown rule '{rule.text}'", rule.location, hint)
        elif rule is not None and word is not None:
            severity = next((each for each in _WORDS if each == word.text), None)
            if severity is None:
                problems.add("E124", f"'{word.text}' is no severity", word.location, f"one of {', '.join(_WORDS)}")
            else:
                severities[rule.text] = severity
    return Review(severities, problems.diagnostics, is_there=True)
