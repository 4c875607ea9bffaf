"""What a rule means, for the terminal: ``diff --explain S018`` and ``diff --list-rules``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import did_you_mean
from .report import Rule, Verdict
from .rules import RULES, SECTIONS

_MEANINGS = {
    Verdict.breaking: "something that worked stops working, or gives another result: the command exits with 1",
    Verdict.forward_only: "what is written for the new version may not run on the old one: the command exits with 2",
    Verdict.unproven: "what is computed may differ, which only tests or `--run` can tell: the command exits with 0",
    Verdict.compatible: "everything that worked works as before: the command exits with 0",
    Verdict.text: "nothing that runs can tell the difference: the command exits with 0",
}


def explained(code: str, severities: Mapping[str, str]) -> str | None:
    """A rule in some lines; None if there is no such rule."""
    rule = RULES.get(code.upper())
    return "\n".join(_lines(rule, severities)) + "\n" if rule else None


def _lines(rule: Rule, severities: Mapping[str, str]) -> Iterator[str]:
    section = next(title for title, rules in SECTIONS.items() if rule in rules)
    yield f"{rule.code} {rule.verdict}: {rule.title}"
    yield f"  about:    {section}"
    yield f"  verdict:  {_MEANINGS[rule.verdict]}"
    if rule.code in severities:
        yield f"  here:     schemas/review.yaml says `{severities[rule.code]}`"
    if rule.remedy:
        yield f"  instead:  {rule.remedy}"
    if rule.verdict > Verdict.unproven:
        yield "  if it is wanted, schemas/allowed.yaml can list it:"
        yield f"    - op: ...\n      rule: {rule.code}\n      reason: ...\n      expires: YYYY-MM-DD"
    yield f"  docs/compatibility.md#{rule.code.lower()}"


def no_such_rule(code: str) -> str:
    return f"there is no rule '{code}': {did_you_mean(code.upper(), RULES) or '--list-rules lists them'}"


def rules_listed() -> str:
    """All rules, a line each, below their subjects."""
    lines = []
    for title, rules in SECTIONS.items():
        lines += [title, *(f"  {rule.code} {str(rule.verdict):<12} {rule.title}" for rule in rules), ""]
    return "\n".join(lines)
