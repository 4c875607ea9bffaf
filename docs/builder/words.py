"""What the words of ``promotion`` and ``shape`` mean, as docs/rules.md says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

RULES = "docs/rules.md"


@dataclass(frozen=True, slots=True)
class Words:
    """The meaning of each word, a phrase about the result."""

    promotion: dict[str, str]
    shape: dict[str, str]


def read_words(root: Path) -> Words:
    promotion, shape = (root / RULES).read_text(encoding="utf-8").split("\n## Shape")
    return Words(_table(promotion), _table(shape))


def _table(text: str) -> dict[str, str]:
    """The rows of a table whose first column has one or several words."""
    rows = re.findall(r"^\| (`.*?`) \| (.*) \|$", text, re.MULTILINE)
    return {word: meaning for words, meaning in rows for word in re.findall(r"`(\w+)`", words)}
