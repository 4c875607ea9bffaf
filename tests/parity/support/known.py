"""Differences from torch that are known: strict expected failures, each with its own reason.

A `Known` is about one operator, for the checks, the dtypes and the samples that it names. What it names has to differ,
and everything else has to agree: a `Table` finds fault with both. So an entry goes when its fault is mended, and it is
right for any choice of samples that a run makes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

# Who would have to change something.
TORCH = "torch"  # the reason proves that torch's answer is wrong
OURS = "mindtorch"  # `takes` tells what it would take
FREE = "free"  # both answers are right
_FAULTS = (TORCH, OURS, FREE)


@dataclass(frozen=True, slots=True)
class Cause:
    """Whose fault a difference is, what differs and why, and what it would take to mend it."""

    fault: str
    reason: str
    takes: str = ""

    def __post_init__(self) -> None:
        assert self.fault in _FAULTS, f"{self}: whose fault is one of {_FAULTS}"
        assert self.reason, f"{self} has no reason"
        assert (self.fault == OURS) == bool(self.takes), f"{self}: what it takes goes with what is mindtorch's fault"


@dataclass(frozen=True, slots=True)
class Known:
    """One expected difference. Without dtypes it is one for all that the check looks at, and so without samples."""

    operator: str
    check: str  # such as "gradient", or several that differ alike: "function, method"
    cause: Cause
    dtypes: str = ""
    samples: str = ""  # such as "0 2-5": places among an operator's samples for a dtype

    def checks(self) -> list[str]:
        return self.check.split(", ")

    def numbers(self) -> Iterator[int]:
        for word in self.samples.split():
            first, _, last = word.partition("-")
            yield from range(int(first), int(last or first) + 1)

    def covers(self, check: str, dtype: str, number: int) -> bool:
        is_named = dtype in self.dtypes.split() or not self.dtypes
        return check in self.checks() and is_named and (number in self.numbers() or not self.samples)


class Table:
    """All that are known of a kind of test."""

    def __init__(self, *entries: Known) -> None:
        self.entries = entries

    def verdict(self, operator: str, check: str, dtype: str, number: int, text: str | None) -> str | None:
        """What is wrong with the outcome of a check, where `text` tells how the two libraries differ, or is None."""
        known = [each for each in self._of(operator) if each.covers(check, dtype, number)]
        place = f"{operator} {check} {dtype} #{number}"
        if len(known) > 1:
            return f"{place} is in {len(known)} entries: {known}"
        if text and not known:
            return f"{place} {text}"
        if known and not text:
            return f"{place} agrees with torch: take it out of {known[0]}"
        return None

    def beyond(self, operator: str, check: str, dtype: str, count: int) -> str | None:
        """An entry that names a sample that there is not, of so many."""
        for each in self._of(operator):
            last = max(each.numbers(), default=-1)
            if last >= count and each.covers(check, dtype, last):
                return f"there are {count} samples of {dtype}, but {each}"
        return None

    def _of(self, operator: str) -> list[Known]:
        return [each for each in self.entries if each.operator == operator]
