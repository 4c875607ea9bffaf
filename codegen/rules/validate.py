"""Runs every rule over the loaded input: the rules of ops and of derivatives are in modules of their own."""

from __future__ import annotations

from ..errors import Problems
from ..read.derivative_entries import DerivativeEntry
from ..read.op_entries import OpEntry
from ..sources.hand_written import HandWritten
from . import derivative_rules, op_rules


def validate(
    ops: list[OpEntry], derivatives: list[DerivativeEntry], hand_written: HandWritten, problems: Problems
) -> None:
    """Report every broken rule."""
    op_rules.check(ops, hand_written, problems)
    derivative_rules.check(derivatives, problems)
