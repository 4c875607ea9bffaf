"""The table of decompositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mindtorch.dispatch.overloads import OpOverload, OpOverloadPacket

Function = TypeVar("Function", bound=Callable[..., Any])

decomposition_table: dict[OpOverload, Callable[..., Any]] = {}


def overloads_in(op: Any) -> list[OpOverload]:
    """The overloads of an op; an overload itself."""
    if isinstance(op, OpOverloadPacket):
        return [getattr(op, name) for name in op.overloads()]
    return [op]


def register_decomposition(
    aten_op: Any, registry: dict[OpOverload, Callable[..., Any]] | None = None, *, type: str = "post_autograd"
) -> Callable[[Function], Function]:
    """A decorator: the function computes the op, or each op of a list."""
    table = decomposition_table if registry is None else registry

    def register(function: Function) -> Function:
        for op in aten_op if isinstance(aten_op, (list, tuple)) else [aten_op]:
            table.update(dict.fromkeys(overloads_in(op), function))
        return function

    return register
