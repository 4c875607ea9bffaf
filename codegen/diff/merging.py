"""One finding for an op and its variants: what is said of `add` is not said again of `add_` and `add.out`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from .report import Finding, OpChange

_WHOLE = ("S001", "S002", "S003")  # of the op itself: the words about a variant are others


def merged(changes: Sequence[OpChange]) -> list[OpChange]:
    """The changes without those of variants that say what the change of their op says, which names them."""
    by_op = {change.op: change for change in changes}
    same: dict[tuple[str, int], list[str]] = defaultdict(list)
    result = []
    for change in changes:
        root = by_op.get(change.root) if change.root != change.op else None
        left = []
        for finding in change.findings:
            place = _place_of(finding, root.findings) if root else None
            if place is None:
                left.append(finding)
            else:
                same[change.root, place].append(change.op)
        if left:
            result.append(replace(change, findings=tuple(left)))
    return [_naming(change, same) for change in result]


def _place_of(finding: Finding, others: Iterable[Finding]) -> int | None:
    """The place of the finding that says the same."""
    for i, other in enumerate(others):
        is_alike = other.rule is finding.rule and (other.message == finding.message or finding.rule.code in _WHOLE)
        if is_alike and other.allowance == finding.allowance:
            return i
    return None


def _naming(change: OpChange, same: dict[tuple[str, int], list[str]]) -> OpChange:
    findings = tuple(_named(finding, same.get((change.op, i), ())) for i, finding in enumerate(change.findings))
    return replace(change, findings=findings)


def _named(finding: Finding, variants: Sequence[str]) -> Finding:
    if not variants:
        return finding
    names = ", ".join(f"`{name}`" for name in variants)
    return replace(finding, message=f"{finding.message}; the same for {names}")
