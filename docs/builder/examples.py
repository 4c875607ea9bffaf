"""The examples on the pages of the ops: from a table, or else made from the samples of the tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from codegen.model import Model, Op

from .samples import example_of
from .session import transcript

TABLE = Path(__file__).parent / "examples.yaml"


def example(model: Model, op: Op) -> str:
    """What an interactive Python shows; empty for an overload that is never called by itself."""
    written = table().get(op.name)
    if written is not None:
        return transcript(written.splitlines())
    return transcript(example_of(model, op)) if op.samples and not op.hidden else ""


@cache
def table() -> dict[str, str]:
    text = TABLE.read_text(encoding="utf-8")
    entries: dict[str, str] = yaml.safe_load(text)
    return entries
