"""What the schema diff says: the data that the comparison makes and that every format prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from typing import Literal

from ..model import Location

Topic = Literal[
    "schema",
    "python",
    "gradient",
    "memory",
    "view",
    "dtype",
    "shape",
    "backend",
    "tag",
    "node",
    "function",
    "code",
    "test",
    "run",
]


class Verdict(IntEnum):
    """How bad a change is; the worst one decides.

    ``text``          nothing that runs can tell the difference
    ``compatible``    everything that worked works as before
    ``unproven``      what is computed may differ, which its text does not tell: tests do, or a run of both states
    ``forward_only``  what is written for the new version may not run on the old one
    ``breaking``      something that worked stops working, or gives another result
    """

    text = 0
    compatible = 1
    unproven = 2
    forward_only = 3
    breaking = 4

    def __str__(self) -> str:
        return self.name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of change. ``code`` keeps its meaning for ever; ``title`` and ``remedy`` are sentences for people."""

    code: str
    verdict: Verdict
    topic: Topic
    title: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Allowance:
    """An entry of the allow-list: this finding is known and wanted, until a day."""

    op: str
    rule: str
    reason: str
    expires: date
    location: Location


@dataclass(frozen=True, slots=True)
class Marked:
    """A text with its changed parts: ``spans`` are [start, end) positions in ``text``, in order, never overlapping."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One change of one op, judged by one rule.

    ``message``   what changed: "argument 'dim' is now called 'axis'"
    ``caller``    what a user of the op sees: "`x.sum(dim=0)` stops working"; "" when that is nothing
    ``remedy``    what to do instead, the rule's or a more exact one
    ``old new``   the schema, formula or value before and after; None where there is none
    ``location``  the line to look at: in HEAD, or in BASE for what was removed; None for a release snapshot
    ``allowance`` the entry of the allow-list that covers it
    ``ops``       the ops that come to run changed code, where these are others than ``op``
    ``is_public`` whether functions written by hand run it as well, which have no samples
    ``is_proven`` whether a run of both states gave the same for all of these ops
    """

    rule: Rule
    op: str
    message: str
    caller: str = ""
    remedy: str = ""
    old: Marked | None = None
    new: Marked | None = None
    location: Location | None = None
    allowance: Allowance | None = None
    ops: tuple[str, ...] = ()
    is_public: bool = False
    is_proven: bool = False

    @property
    def verdict(self) -> Verdict:
        """The rule's, unless the allow-list covers the finding, or a run has shown that nothing differs."""
        is_settled = self.allowance is not None or self.is_proven
        return min(self.rule.verdict, Verdict.compatible) if is_settled else self.rule.verdict


@dataclass(frozen=True, slots=True)
class OpChange:
    """Everything that changed about one op. A schema is None where the op does not exist.

    Code that several ops run is an entry of its own: ``op`` is the function, ``multiply()``, and there are no schemas.
    ``root`` is the op that a variant is derived from, or the op itself: an entry of the allow-list for it covers both.
    """

    op: str
    family: str
    old_schema: Marked | None
    new_schema: Marked | None
    findings: tuple[Finding, ...]
    root: str = ""

    @property
    def is_removed(self) -> bool:
        return self.old_schema is not None and self.new_schema is None

    @property
    def verdict(self) -> Verdict:
        return worst(finding.verdict for finding in self.findings)

    @property
    def is_allowed(self) -> bool:
        """Whether it would be worse, were it not for the allow-list."""
        return self.verdict < worst(finding.rule.verdict for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Report:
    """The comparison of two states of the operators.

    ``base head``     how the two states are called: "v0.1.0", "origin/main", "the working tree"
    ``changes``       the ops that differ, worst first, then in the order of ops.yaml
    ``unchanged``     how many ops are the same
    ``notes``         what a reader should know: a snapshot has no formulas, so derivatives were not compared
    ``list_errors``   what is wrong with the allow-list: expired, unused and unknown entries. Any of them is a break
    ``severities``    how strictly rules are taken that schemas/review.yaml lists, by code: fail, warn or note
    ``link``          where the files of HEAD can be read, such as https://.../blob/<commit>; "" if that is not known
    """

    base: str
    head: str
    changes: tuple[OpChange, ...]
    unchanged: int
    notes: tuple[str, ...] = ()
    list_errors: tuple[str, ...] = ()
    severities: Mapping[str, str] = field(default_factory=dict)
    link: str = ""

    def severity(self, finding: Finding) -> str:
        """How strictly a finding is taken: as schemas/review.yaml says of its rule, or else its verdict."""
        if finding.allowance is not None or finding.is_proven:
            return "note"
        word = "fail" if finding.verdict is Verdict.breaking else "warn" if finding.verdict > Verdict.compatible else ""
        return self.severities.get(finding.rule.code) or word or "note"

    @property
    def verdict(self) -> Verdict:
        return Verdict.breaking if self.list_errors else worst(change.verdict for change in self.changes)

    def count(self, verdict: Verdict) -> int:
        """How many ops have this verdict."""
        return sum(change.verdict is verdict for change in self.changes)

    @property
    def allowed(self) -> int:
        """How many ops would have a worse verdict without the allow-list."""
        return sum(change.is_allowed for change in self.changes)

    def exit_code(self, strict_forward: bool = False) -> int:
        """0 compatible, 1 breaking, 2 forward-only (with ``strict_forward`` 1)."""
        findings = [finding for change in self.changes for finding in change.findings]
        if self.list_errors or any(self.severity(finding) == "fail" for finding in findings):
            return 1
        forward = (each for each in findings if each.verdict is Verdict.forward_only)
        if any(self.severity(finding) == "warn" for finding in forward):
            return 1 if strict_forward else 2
        return 0


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; of none, ``text``."""
    return max(verdicts, default=Verdict.text)
