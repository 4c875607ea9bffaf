"""Types of what is taken out of typed containers."""

from __future__ import annotations

import operator
import typing
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.fx.graph import Graph


def annotate_getitem_nodes(graph: Graph) -> None:
    """Give nodes `container[index]` the type that the type of the container has for it."""
    for node in graph.nodes:
        if node.target is operator.getitem:
            container, index = node.args
            if container.type:
                node.type = _item_type(container.type, index, node.type)


def _item_type(of: Any, index: int, default: Any) -> Any:
    inside = typing.get_args(of)
    origin = typing.get_origin(of)
    if origin is list:
        return inside[0]
    if origin is tuple:
        return inside[0] if len(inside) == 2 and inside[1] is ... else inside[index]
    if of is not Tensor and hasattr(of, "_fields"):
        return of.__annotations__[of._fields[index]]
    return default
