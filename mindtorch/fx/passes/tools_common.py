"""What passes share: names of targets, orders of nodes."""

from __future__ import annotations

import collections
import heapq
import operator
from collections.abc import Mapping
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._names import module_in_torch
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, _get_qualified_name
from mindtorch.nn.modules.module import Module

__all__ = ["get_acc_ops_name", "get_node_target", "is_node_output_tensor", "legalize_graph", "stable_topological_sort"]

NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}

# Calls that come first among those that can: they are mostly about sizes.
_FIRST = frozenset(
    (
        operator.add, operator.mul, operator.sub, operator.floordiv, operator.truediv, operator.mod, operator.le,
        operator.lt, operator.ge, operator.gt, operator.eq, operator.ne,
    )
)  # fmt: skip


@compatibility(is_backward_compatible=False)
def get_acc_ops_name(k: Any) -> str:
    """The name of a function or class with its module."""
    if isinstance(k, str):
        return k
    module = module_in_torch(k) or ""
    if "acc_ops" in module:
        return f"acc_ops.{k.__name__}"
    return f"{module.replace('torch._ops', 'torch.ops')}.{k.__name__}"


@compatibility(is_backward_compatible=False)
def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """What a node calls: the class of a module, the qualified name of a function, the name of a method."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError("Expect op types of " + ", ".join(CALLABLE_NODE_OPS) + f", but found {node.op}")
    if node.op == "call_module":
        module = submodules[node.target]
        return get_acc_ops_name(getattr(module, "_base_class_origin", type(module)))
    if node.op == "call_function":
        is_acc = "acc_ops" in (node.target.__module__ or "")
        return f"acc_ops.{node.target.__name__}" if is_acc else _get_qualified_name(node.target)
    return str(node.target)


@compatibility(is_backward_compatible=False)
def is_node_output_tensor(node: Node) -> bool:
    """Whether the value of a node is a tensor, which `ShapeProp` has noted."""
    found = node.meta.get("type")
    return found is not None and issubclass(found, Tensor)


def _waiting_for(graph: Graph) -> dict[Node, int]:
    """By node: how many nodes it uses."""
    return {node: len(node._input_nodes) for node in graph.nodes}


@compatibility(is_backward_compatible=False)
def legalize_graph(gm: GraphModule) -> GraphModule:
    """Put the nodes of a graph in an order in which each comes behind what it uses."""
    graph = gm.graph
    waiting = _waiting_for(graph)
    queue = collections.deque([node for node in graph.nodes if waiting[node] == 0])
    ordered = Graph()
    copies: dict[Node, Node] = {}
    while queue:
        node = queue.popleft()
        copies[node] = ordered.node_copy(node, copies.__getitem__)
        for user in node.users:
            waiting[user] -= 1
            if waiting[user] == 0:
                is_first = user.op == "call_function" and user.target in _FIRST
                (queue.appendleft if is_first else queue.append)(user)
    if len(ordered.nodes) < len(graph.nodes):
        raise RuntimeError(
            f"Input graph has cycles, unable to add {[node for node, count in waiting.items() if count != 0]}"
        )
    ordered._codegen = graph._codegen
    gm.graph = ordered
    return gm


@compatibility(is_backward_compatible=False)
def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """The same, moving as few nodes as possible."""
    graph = gm.graph
    waiting = _waiting_for(graph)
    places = {node: place for place, node in enumerate(graph.nodes)}
    ready = [(places[node], node) for node in graph.nodes if waiting[node] == 0]
    heapq.heapify(ready)
    ordered = Graph()
    copies: dict[Node, Node] = {}
    while ready:
        _, node = heapq.heappop(ready)
        copies[node] = ordered.node_copy(node, copies.__getitem__)
        for user in node.users:
            waiting[user] -= 1
            if waiting[user] == 0:
                heapq.heappush(ready, (places[user], user))
    if len(ordered.nodes) != len(graph.nodes):
        raise AssertionError(
            f"Input graph has cycles, unable to add {[node for node, count in waiting.items() if count != 0]}"
        )
    ordered._codegen = graph._codegen
    gm.graph = ordered
    return gm
