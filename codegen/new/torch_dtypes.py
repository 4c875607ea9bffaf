"""Which dtypes an op of PyTorch takes, and the word that ops.yaml has for them.

Nothing that is written down tells, so PyTorch is asked: ``ask_torch.py`` calls the op, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from ..diff.properties import DTYPES
from ..model import FunctionSchema

Ask: TypeAlias = Callable[[FunctionSchema], frozenset[str] | None]
_SCRIPT = Path(__file__).with_name("ask_torch.py")
_SECONDS = 60
_EVERY_DTYPE = DTYPES["all"].split()


def accepted_dtypes(schema: FunctionSchema) -> frozenset[str] | None:
    """The names of the dtypes with which a small call of the op succeeds; None when no call could be made."""
    command = [sys.executable, str(_SCRIPT), schema.name, schema.overload or "default", *_EVERY_DTYPE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return frozenset(done.stdout.split()) or None if done.returncode == 0 else None


def dtype_word(accepted: frozenset[str]) -> tuple[str, str]:
    """The word that comes closest to the dtypes, and the reason for it, which says what is different."""
    groups = {word: frozenset(names.split()) for word, names in DTYPES.items()}
    word = min(groups, key=lambda each: len(groups[each] ^ accepted))
    more, less = _listed(accepted - groups[word]), _listed(groups[word] - accepted)
    if not more and not less:
        return word, "what PyTorch takes"
    remarks = [f"takes {more}, too"] * bool(more) + [f"does not take {less}"] * bool(less)
    return word, f"check it: PyTorch {' and '.join(remarks)}"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(name for name in _EVERY_DTYPE if name in names)
