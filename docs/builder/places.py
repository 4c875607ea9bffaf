"""Where a user finds an op: ``torch.add``, ``torch.nn.functional.gelu``, ``torch.ops.aten.nll_loss_nd``."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

import mindtorch
from codegen.model import Op

_MODULES = {"nn": "nn.functional"}


def function_of(op: Op) -> str:
    """The function that calls the op; the last resort has them all."""
    return next(place for place in _candidates(op) if _exists(place))


def example_call(op: Op) -> str:
    """How an example calls the op: by its function, or ``x.add_`` for one that is a method only."""
    return function_of(op) if op.is_function or not op.is_method else f"x.{op.schema.name}"


def _candidates(op: Op) -> Iterator[str]:
    name, module = op.schema.name, op.python_module
    if module:
        yield f"torch.{_MODULES.get(module, module)}.{name.removeprefix(f'{module}_')}"
    yield f"torch.{name}"
    yield f"torch.ops.aten.{name}"


def _exists(place: str) -> bool:
    try:
        attrgetter(place.removeprefix("torch."))(mindtorch)
    except AttributeError:
        return False
    return True
