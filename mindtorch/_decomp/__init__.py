"""`torch._decomp`: ops as functions of simpler ones, for `make_fx`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mindtorch._decomp import decompositions
from mindtorch._decomp.registry import decomposition_table as decomposition_table
from mindtorch._decomp.registry import overloads_in
from mindtorch._decomp.registry import register_decomposition as register_decomposition
from mindtorch.dispatch.overloads import OpOverload
from mindtorch.dispatch.schema.tags import Tag

__all__ = ["core_aten_decompositions", "decomposition_table", "get_decompositions", "register_decomposition"]

Function = TypeVar("Function", bound=Callable[..., Any])

assert decompositions.__name__  # which fills the table


def get_decompositions(aten_ops: Iterable[Any], type: str = "post_autograd") -> dict[OpOverload, Callable[..., Any]]:
    """The functions for these ops (overloads, or all overloads of an op), those that there are."""
    wanted = {overload for op in aten_ops for overload in overloads_in(op)}
    return {overload: function for overload, function in decomposition_table.items() if overload in wanted}


def core_aten_decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """The functions for ops that are not of the core of ATen."""
    return {overload: function for overload, function in decomposition_table.items() if Tag.core not in overload.tags}
