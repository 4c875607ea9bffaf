"""Parts of a graph by the functions and modules of the program that they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]


@compatibility(is_backward_compatible=False)
@dataclass
class SourcePartition:
    """The nodes of one call of the program, what goes in and out, and the attributes that it reads."""

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    output_nodes: list[Node] = field(default_factory=list)
    params: list[Node] = field(default_factory=list)


@compatibility(is_backward_compatible=False)
def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """By source (a function or the class of a module): the parts of the graph, as `meta` of the nodes tells them."""
    found: dict[Any, dict[str, list[Node]]] = {}
    for node in graph.nodes:
        source = _source_of(node, wanted_sources)
        if source is not None:
            name, key = source
            found.setdefault(key, {}).setdefault(name, []).append(node)
    return {
        key: [_partition(nodes, key) for nodes in parts.values() if filter_fn is None or all(map(filter_fn, nodes))]
        for key, parts in found.items()
    }


def _source_of(node: Node, wanted: list[Any]) -> tuple[str, Any] | None:
    """The name of the call that a node comes from and the function or class, if that is wanted."""
    stack = node.meta.get("source_fn_stack")
    if stack is not None:
        name, source = stack[-1]
        return (name, source) if source in wanted else None
    if node.meta.get("torch_fn") is not None:
        name, source = node.meta["torch_fn"]
        short = source.split(".")[1]
        if short in wanted:
            return name, short
    modules = node.meta.get("nn_module_stack")
    if node.op != "call_function" or not modules:
        return None
    name, cls = list(modules.values())[-1]
    for source in wanted:
        if isinstance(source, type) and isinstance(cls, type):
            if issubclass(cls, source):
                return name, source
        elif cls == source or (isinstance(source, type) and cls == f"{source.__module__}.{source.__qualname__}"):
            return name, source
    return None


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inside = set(nodes)
    inputs: dict[Node, None] = {}
    for node in nodes:
        given = [arg for arg in node.args if isinstance(arg, Node) and arg not in inside and arg.op != "get_attr"]
        inputs.update(dict.fromkeys(given))
    params = [node for node in nodes if node.op == "get_attr"]
    outputs = [node for node in nodes if node.op != "get_attr" and any(user not in inside for user in node.users)]
    return SourcePartition(nodes, source, list(inputs), outputs, params)


@compatibility(is_backward_compatible=False)
def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Whether the second part uses a value of the first one."""
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)
