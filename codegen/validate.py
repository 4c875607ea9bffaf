"""Runs every rule over the loaded input: the rules of ops and of derivatives are in modules of their own."""

from __future__ import annotations

from . import derivative_rules, op_rules
from .derivatives import DerivativeEntry
from .errors import Problems
from .kernels import HandWritten
from .ops import OpEntry


def validate(
    ops: list[OpEntry], derivatives: list[DerivativeEntry], hand_written: HandWritten, problems: Problems
) -> None:
    """Report every broken rule."""
    op_rules.check(ops, hand_written, problems)
    derivative_rules.check(derivatives, problems)
