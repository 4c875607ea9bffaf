"""Replacing a pattern in a graph: `replace_pattern`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._symbolic_trace import symbolic_trace
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from mindtorch.nn.modules.module import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


@compatibility(is_backward_compatible=True)
class Match(NamedTuple):
    """A place where a pattern was found: the node that its last call was matched with, and what all were."""

    anchor: Node
    nodes_map: dict[Node, Node]


@compatibility(is_backward_compatible=False)
@dataclass
class ReplacedPatterns:
    """The same, with the nodes that were put there."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


@compatibility(is_backward_compatible=True)
def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Callable[..., Any] | GraphModule
) -> list[Match]:
    """Put a replacement in the place of every occurrence of a pattern; gives these.

    Both are functions or modules of the same parameters, which are traced. The occurrences do not overlap, and what is
    inside of one may have no users outside.
    """
    return [Match(found.anchor, found.nodes_map) for found in _replace_pattern(gm, pattern, replacement)]


@compatibility(is_backward_compatible=False)
def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """The same for the occurrences that all filters accept; `replacement_callback` may make a replacement for each.

    With `ignore_literals` numbers in the pattern stand for any; `node_name_match` is what the name of the last node
    has in it.
    """
    return _replace_pattern(
        gm, pattern, replacement, match_filters, ignore_literals, replacement_callback, node_name_match
    )


def _graph_of(program: Any) -> Graph:
    if isinstance(program, Graph):
        return program
    graph = program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph
    return graph


def _replace_pattern(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: Any = None,
    ignore_literals: bool = False,
    replacement_callback: Any = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(
        pattern_graph,
        match_output=False,
        match_placeholder=False,
        remove_overlapping_matches=True,
        ignore_literals=ignore_literals,
    )
    matches = [
        match
        for match in matcher.match(graph, node_name_match=node_name_match)
        if all(accepts(match, graph, pattern_graph) for accepts in match_filters or ())
    ]
    common: Any = None
    if callable(replacement) or isinstance(replacement, Graph):
        common = _graph_of(replacement)
    elif replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    replaced: dict[Node, Node] = {}  # what was returned by earlier occurrences, and what is instead
    found = []
    for match in matches:
        made = replacement_callback(match, graph, pattern_graph) if replacement_callback is not None else common
        found.append(_replace(gm, match, pattern_graph, made, replaced))
    gm.recompile()
    if isinstance(replacement, Module):
        _replace_attributes(gm, replacement)
    return found


def _replace(
    gm: GraphModule, match: InternalMatch, pattern_graph: Graph, replacement: Graph, replaced: dict[Node, Node]
) -> ReplacedPatterns:
    """Put a replacement in one place."""
    graph = gm.graph
    inputs = [node for node in replacement.nodes if node.op == "placeholder"]
    if len(match.placeholder_nodes) != len(inputs):
        raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(inputs)}")
    values: dict[Node, Any] = {}
    for place, (name, given) in enumerate(zip(inputs, list(match.placeholder_nodes))):
        values[name] = replaced.get(given, given) if isinstance(given, Node) else given
        if isinstance(given, Node) and values[name] is not given:
            match.placeholder_nodes[place] = values[name]
            key = next(key for key, value in match.nodes_map.items() if value is given)
            match.nodes_map[key] = values[name]
    with graph.inserting_before(_place_for(match, graph)):
        returned = graph.graph_copy(replacement, values)
    returned = (returned,) if isinstance(returned, Node) else returned
    made = [node for node in values.values() if node not in match.placeholder_nodes]
    if len(match.returning_nodes) != len(returned):
        raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(returned)}")
    for old, new in zip(match.returning_nodes, returned):
        old.replace_all_uses_with(new)
        replaced[old] = new
    for node in reversed(pattern_graph.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(match.nodes_map[node])
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)


def _place_for(match: InternalMatch, graph: Graph) -> Node:
    """The node before which a replacement goes: the first that uses its values, else the one behind them."""
    users = {user for node in match.returning_nodes for user in node.users}
    place = min(users) if users else max(match.returning_nodes).next
    if place is graph._root:
        raise AssertionError("The insert point can't be None")
    return place


def _replace_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give a module what its new nodes read and call, and take out what nothing needs any more."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _attribute(gm, node.target) is not None:
            continue
        value = _attribute(replacement, node.target)
        if value is None:
            raise RuntimeError(
                'Attempted to create a "',
                node.op,
                f'" node during subgraph rewriting with target {node.target}, but the referenced attribute does not '
                "exist in the replacement GraphModule",
            )
        if isinstance(value, Module):
            gm.add_submodule(node.target, copy.deepcopy(value))
        else:
            setattr(gm, node.target, copy.deepcopy(value))
    gm.graph.lint()


def _attribute(module: Module, target: str) -> Any:
    path, _, name = target.rpartition(".")
    try:
        return getattr(module.get_submodule(path), name, None)
    except AttributeError:
        return None
