"""Making parts of a graph modules that it calls."""

from __future__ import annotations

import copy
import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes._reachable import is_fusible
from mindtorch.fx.passes.tools_common import stable_topological_sort
from mindtorch.fx.passes.utils.common import lift_subgraph_as_module
from mindtorch.fx.proxy import Proxy

__all__ = [
    "erase_nodes",
    "fuse_as_graphmodule",
    "fuse_by_partitions",
    "insert_subgm",
    "topo_sort",
    "validate_partition",
]


@compatibility(is_backward_compatible=False)
def topo_sort(nodes: Sequence[Node]) -> list[Node]:
    """The nodes in an order in which each comes behind those of them that it uses."""
    places = {node: place for place, node in enumerate(nodes)}
    waiting = {node: sum(each in places for each in node.all_input_nodes) for node in nodes}
    ready = [(places[node], node) for node in nodes if waiting[node] == 0]
    heapq.heapify(ready)
    found = []
    while ready:
        _, node = heapq.heappop(ready)
        found.append(node)
        for user in node.users:
            if user in waiting:
                waiting[user] -= 1
                if waiting[user] == 0:
                    heapq.heappush(ready, (places[user], user))
    if len(found) != len(nodes):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return found


@compatibility(is_backward_compatible=False)
def validate_partition(partition: Iterable[Node]) -> bool:
    """Whether nodes can become one without a cycle."""
    return is_fusible(partition)


@compatibility(is_backward_compatible=False)
def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: Sequence[Node],
    module_name: str,
    partition_lookup_table: Mapping[Node, Any] | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """A module of nodes of a graph, the nodes that it needs, and those of its own that are used outside."""
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
        if node not in gm.graph._find_nodes_lookup_table:
            raise AssertionError(f"{node} is not found in graph module {gm._get_name()}")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    inside = dict.fromkeys(nodes) if partition_lookup_table is None else partition_lookup_table
    graph = Graph()
    inputs: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}

    def input_of(node: Node) -> Node:
        if node in inside:
            return copies[node]
        if node not in inputs:
            inputs[node] = graph.placeholder(node.name, type_expr=node.type)
            inputs[node].meta = copy.copy(node.meta)
        return inputs[node]

    for node in nodes:
        copies[node] = graph.node_copy(node, input_of)
    returned = [node for node in nodes if any(user not in inside for user in node.users)]
    outputs = tuple([copies[node] for node in returned])
    graph.output(outputs[0] if len(outputs) == 1 and not always_return_tuple else outputs)
    graph.lint()
    fused, _ = lift_subgraph_as_module(gm, graph, comp_name="", class_name=module_name)
    return fused, tuple(inputs), tuple(returned)


@compatibility(is_backward_compatible=False)
def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Call a module of nodes instead of these, whose users use its results."""
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    place = insertion_point or next((node for node in reversed(gm.graph.nodes) if node in orig_outputs), None)
    if place is None:
        raise AssertionError(
            "Cannot determine insertion point: no insertion_point provided and orig_outputs is empty. "
            "Pass the last partition node as insertion_point."
        )
    with gm.graph.inserting_after(place):
        call = gm.graph.call_module(name, args=orig_inputs, kwargs=None)
    if not orig_outputs:
        return gm
    with gm.graph.inserting_before(call.next):
        if len(orig_outputs) == 1 and not isinstance(sub_gm.graph.output_node().args[0], tuple):
            orig_outputs[0].replace_all_uses_with(call, propagate_meta=True)
            return gm
        for number, old in enumerate(orig_outputs):
            old.replace_all_uses_with(Proxy(call)[number].node, propagate_meta=True)
    call.meta["val"] = tuple([old.meta.get("val") for old in orig_outputs])
    return gm


@compatibility(is_backward_compatible=False)
def erase_nodes(gm: GraphModule, nodes: Sequence[Node]) -> None:
    """Take nodes out of a graph, the last one first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


@compatibility(is_backward_compatible=False)
def fuse_by_partitions(
    gm: GraphModule,
    partitions: Sequence[Mapping[Node, Any]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Make each of these sets of nodes a module that the graph calls."""
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        fused, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{number}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, fused, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm
