"""The functions written by hand that the entries of an op name: what of an op runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..model import Model, Op
from ..sources.hand_written import SHAPE_RULES


class Place(NamedTuple):
    """Where a function, class or constant is defined."""

    file: str
    name: str


class Use(NamedTuple):
    """What of an op runs a function: the rule that a change falls under, and what to call it, of one op and of many."""

    rule: str
    one: str
    many: str


FORMULAS = Use("D050", "a formula", "formulas")
_COMPOSITE = Use("B031", "the composite function", "composite functions")
DECOMPOSITION = Use("B031", "the decomposition", "decompositions")
_SHAPE_RULE = Use("H004", "the shape rule", "shape rules")


def named_by(op: Op, model: Model) -> Iterator[tuple[Use, Place]]:
    """The functions that the entries of an op name."""
    derivative = model.derivatives.get(op.name)
    for formula in (*derivative.backward, *derivative.forward) if derivative else ():
        yield from ((FORMULAS, Place(model.helper_files[helper], helper)) for helper in formula.helpers)
    for backend, name in (op.dispatch or {}).items():
        kernel = model.kernels.get((backend, op.family), {}).get(name)
        if kernel:
            yield Use("B030", f"the {backend} kernel", f"{backend} kernels"), Place(kernel.file, name)
    for helper in op.decomposition.helpers if op.decomposition else ():
        yield DECOMPOSITION, Place(model.parts[helper][1], helper)
    composite = model.composites.get(op.family, {}).get(op.composite or "")
    if composite:
        yield _COMPOSITE, Place(composite.file, composite.name)
    if op.shape:
        yield _SHAPE_RULE, Place(SHAPE_RULES, op.shape)
