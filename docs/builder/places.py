"""Where a user finds an op: ``torch.add``, ``torch.nn.functional.gelu``, ``torch.ops.aten.nll_loss_nd``."""

from __future__ import annotations

from operator import attrgetter

import mindtorch
from codegen.model import Op
from codegen.read.places import place_of


def function_of(op: Op) -> str:
    """The function that calls the op; `torch.ops.aten` has them all."""
    place = place_of(op, "torch")
    return place if _exists(place) else f"torch.ops.aten.{op.schema.name}"


def example_call(op: Op) -> str:
    """How an example calls the op: by its function, or ``x.add_`` for one that is a method only."""
    return function_of(op) if op.is_function or not op.is_method else f"x.{op.schema.name}"


def _exists(place: str) -> bool:
    try:
        attrgetter(place.removeprefix("torch."))(mindtorch)
    except AttributeError:
        return False
    return True
