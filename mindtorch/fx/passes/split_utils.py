"""`split_by_tags`: a graph as modules that are named in tags of its nodes."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.fx.passes.utils.common import HolderModule, lift_subgraph_as_module
from mindtorch.fx.proxy import Proxy
from mindtorch.nn.modules.container import ModuleList

__all__ = ["Component", "getattr_recursive", "setattr_recursive", "split_by_tags"]


@compatibility(is_backward_compatible=False)
def getattr_recursive(obj: Any, name: str) -> Any:
    """The attribute with a dotted name, None if there is none."""
    for part in name.split("."):
        if isinstance(obj, ModuleList):
            obj = obj._modules.get(part)
        else:
            obj = getattr(obj, part, None)
        if obj is None:
            return None
    return obj


@compatibility(is_backward_compatible=False)
def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Set the attribute with a dotted name."""
    *path, last = attr.split(".")
    for part in path:
        obj = getattr(obj, part)
    setattr(obj, last, value)


@compatibility(is_backward_compatible=False)
@dataclass
class Component:
    """The part of a graph with one tag."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


def _nodes_in(value: Any) -> list[Node]:
    found: list[Node] = []
    map_arg(value, found.append)
    return found


@compatibility(is_backward_compatible=False)
def split_by_tags(
    gm: GraphModule,
    tags: list[str],
    return_fqn_mapping: bool = False,
    return_tuple: bool = False,
    GraphModuleCls: Any = GraphModule,
) -> Any:
    """A module that calls one for each tag, in the order of the tags; nodes have theirs as the attribute `tag`.

    With `return_fqn_mapping` also a dictionary: by the names of attributes, their names in the parts.
    """
    components = {tag: Component(Graph(), number, f"{tag}") for number, tag in enumerate(tags)}
    main = Graph()
    values: dict[Node, Node] = {}  # in the main graph
    copies: dict[Node, Node] = {}  # in those of the parts
    home: dict[Node, Component] = {}
    used: dict[Node, None] = {}
    output = None
    for node in gm.graph.nodes:
        if node.op == "output":
            if output is not None:
                raise RuntimeError("Multiple output nodes in graph!")
            output = node
        elif node.op == "placeholder":
            values[node] = main.placeholder(node.name, type_expr=node.type)
            values[node].meta = copy.copy(node.meta)
        elif node.op != "get_attr":
            if not hasattr(node, "tag"):
                raise AssertionError(f"Node does not have tag: {node.format_node()}")
            component = home[node] = components[node.tag]
            _check_order(node, component, home)
            copies[node] = component.graph.node_copy(node, _Inputs(component, home, copies, used))
            copies[node].tag = node.tag  # type: ignore[attr-defined]
    if output is None:
        raise RuntimeError("Graph had no output node!")
    for node in _nodes_in(output.args[0]):
        if node.op == "get_attr":
            values[node] = main.get_attr(node.name, type_expr=node.type)
        else:
            used[node] = None
    for node in used:
        if node.op != "placeholder":
            home[node].orig_outputs.append(node)
    names: dict[str, str] = {}
    for component in components.values():
        names.update(_call(component, gm, main, values, copies, return_tuple))
    main.output(map_arg(output.args[0], values.__getitem__))
    root = HolderModule({each.name: each.gm for each in components.values() if each.gm is not None})
    main._codegen = gm.graph._codegen
    for node in _nodes_in(output.args[0]):
        if node.op == "get_attr":
            setattr(root, node.name, getattr_recursive(gm, node.target))
    made = GraphModuleCls(root, main)
    return (made, names) if return_fqn_mapping else made


def _check_order(node: Node, component: Component, home: dict[Node, Component]) -> None:
    above = [home[each].order for each in _nodes_in((node.args, node.kwargs)) if each in home]
    if component.order < max(above, default=0):
        raise AssertionError(
            f"Component {component.name} order must be >= max of its upstream components, "
            f"order={component.order} and max={max(above)}"
        )


class _Inputs:
    """What stands for the inputs of a node in the graph of its part."""

    def __init__(
        self, component: Component, home: dict[Node, Component], copies: dict[Node, Node], used: dict[Node, None]
    ) -> None:
        self.component, self.home, self.copies, self.used = component, home, copies, used

    def __call__(self, node: Node) -> Node:
        component = self.component
        if node.op == "get_attr":
            if node not in component.getattr_maps:
                made = component.getattr_maps[node] = component.graph.get_attr(node.target, type_expr=node.type)
                made.meta = copy.copy(node.meta)
            return component.getattr_maps[node]
        if self.home.get(node) is component:
            return self.copies[node]
        if node not in component.orig_inputs:
            component.orig_inputs.append(node)
            made = component.graph.placeholder(node.name, type_expr=node.type)
            made.meta = copy.copy(node.meta)
            component.input_placeholders.append(made)
            self.used[node] = None
        return component.input_placeholders[component.orig_inputs.index(node)]


def _call(
    component: Component,
    gm: GraphModule,
    main: Graph,
    values: dict[Node, Node],
    copies: dict[Node, Node],
    return_tuple: bool,
) -> dict[str, str]:
    """End the graph of a part and call it in the main graph; gives the names of its attributes."""
    outputs = tuple([copies[node] for node in component.orig_outputs])
    is_single = len(outputs) == 1 and not return_tuple
    component.graph.output(outputs[0] if is_single else outputs)
    component.gm, names = lift_subgraph_as_module(gm, component.graph, component.name)
    result = main.call_module(component.name, tuple([values[node] for node in component.orig_inputs]))
    for number, node in enumerate(component.orig_outputs):
        values[node] = result if is_single else Proxy(result)[number].node
    return names
