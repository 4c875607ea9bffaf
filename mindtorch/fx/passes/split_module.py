"""`split_module`: a graph as a chain of modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mindtorch.autograd.grad_mode import set_grad_enabled
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._lazy_graph_module import _make_graph_module
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.fx.proxy import Proxy
from mindtorch.nn.modules.module import Module

__all__ = ["Partition", "split_module"]


@compatibility(is_backward_compatible=True)
class Partition:
    """The nodes of one of the modules, by name: what goes in and out, and the partitions before and behind it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, None] = {}
        self.outputs: dict[str, None] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n"
            f" nodes: {self.node_names},\n"
            f" inputs: {self.inputs},\n"
            f" outputs: {self.outputs},\n"
            f" partitions depended on: {self.dependencies},\n"
            f" partition dependents: {self.dependents}"
        )


def _get_attr_from_qualname(mod: Module, qualname: str) -> Any:
    value: Any = mod
    for name in qualname.split("."):
        if not hasattr(value, name):
            raise AttributeError(f"Node target {qualname} not found!")
        value = getattr(value, name)
    return value


class _Splitting:
    """Splits one graph."""

    def __init__(self, m: GraphModule, qualname_map: dict[str, str] | None) -> None:
        self.m = m
        self.qualname_map = qualname_map
        self.partitions: dict[str, Partition] = {}
        self.of_node: dict[Node, str] = {}
        self.nodes = {node.name: node for node in m.graph.nodes}

    def assign(self, split_callback: Callable[[Node], int], affix: str | None) -> None:
        for node in self.m.graph.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            if node.target is set_grad_enabled:
                raise NotImplementedError("split_module cannot split graphs that switch the grad mode")
            name = str(split_callback(node))
            name = name if affix is None else f"{affix}_{name}"
            self.partitions.setdefault(name, Partition(name)).node_names.append(node.name)
            self.of_node[node] = node._fx_partition = name

    def find_uses(self) -> None:
        for node in self.m.graph.nodes:
            if node.op == "output":
                for value in node.all_input_nodes:
                    self._note_use(value, None)
            elif node in self.of_node:
                name = self.of_node[node]
                for value in node.all_input_nodes:
                    self._note_use(value, name)

    def _note_use(self, value: Node, used: str | None) -> None:
        defined = self.of_node.get(value)
        if defined != used:
            if defined is not None:
                self.partitions[defined].outputs.setdefault(value.name)
                if used is not None:
                    self.partitions[defined].dependents.setdefault(used)
            if used is not None:
                self.partitions[used].inputs.setdefault(value.name)
                if defined is not None:
                    self.partitions[used].dependencies.setdefault(defined)

    def sorted_names(self) -> list[str]:
        """The partitions, each behind those that it depends on."""
        ready = [name for name, each in self.partitions.items() if not each.dependencies]
        found = []
        while ready:
            name = ready.pop()
            found.append(name)
            for dependent in self.partitions[name].dependents:
                dependencies = self.partitions[dependent].dependencies
                dependencies.pop(name)
                if not dependencies:
                    ready.append(dependent)
        if len(found) != len(self.partitions):
            raise RuntimeError("cycle exists between partitions!")
        return found

    def add_inputs(self, name: str, keep_names: bool) -> None:
        """Give the graph of a partition its inputs; modules that are read come with it."""
        partition = self.partitions[name]
        kept: dict[str, None] = {}
        values = [self.nodes[each] for each in partition.inputs]
        modules = [node for node in values if node.op == "get_attr" and isinstance(self._value(node), Module)]
        for node in [*[node for node in values if node not in modules], *modules]:
            if node in modules:
                made = partition.graph.get_attr(node.target)
                partition.targets[node.target] = self._value(node)
            else:
                made = partition.graph.placeholder(node.name if keep_names else f"arg_{len(kept)}", type_expr=node.type)
                kept[node.name] = None
            made.meta = node.meta.copy()
            partition.environment[node] = made
        partition.inputs = kept

    def _value(self, node: Node) -> Any:
        return _get_attr_from_qualname(self.m, node.target)

    def copy_nodes(self, keep_names: bool) -> None:
        for node, name in self.of_node.items():
            partition = self.partitions[name]
            target = node.target
            if node.op == "call_module":
                target = node.target.replace(".", "_")
                partition.targets[target] = self._value(node)
                if self.qualname_map is not None:
                    self.qualname_map[f"{partition.submod_name}.{target}"] = node.target
            args, kwargs = map_arg((node.args, node.kwargs), partition.environment.__getitem__)
            made = partition.graph.create_node(
                node.op, target, args, kwargs, name=node.name if keep_names else None, type_expr=node.type
            )
            made.meta = node.meta.copy()
            partition.environment[node] = made


@compatibility(is_backward_compatible=True)
def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool = False,
    keep_original_node_name: bool = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """A module that calls `submod_0`, `submod_1` ..., each of which does the calls of one partition.

    `split_callback` gives the partition of a node. `qualname_map` is filled with the names of modules in the whole, by
    their names in the parts.
    """
    splitting = _Splitting(m, qualname_map)
    splitting.assign(split_callback, partition_affix)
    original = list(splitting.partitions)
    splitting.find_uses()
    names = splitting.sorted_names()
    for name in names:
        splitting.add_inputs(name, keep_original_input_name)
    splitting.copy_nodes(keep_original_node_name)
    base = _Base(splitting, keep_original_node_name)
    if not keep_original_order:
        for node in m.graph.nodes:
            base.add(node)
    for name in original if keep_original_order else names:
        if keep_original_order:
            inputs = [splitting.nodes[each] for each in splitting.partitions[name].inputs]
            for node in [*m.graph.find_nodes(op="placeholder"), *inputs]:
                base.add(node)
        base.call(splitting.partitions[name], tuple_return)
    for node in m.graph.nodes:
        base.add(node)
    base.graph.output(map_arg(m.graph.output_node().args[0], lambda node: base.values[node.name]))
    made = _make_graph_module(base.attributes, base.graph)
    made.meta["partition_names"] = {each.submod_name for each in splitting.partitions.values()}
    return made


class _Base:
    """The graph that calls the parts."""

    def __init__(self, splitting: _Splitting, keep_names: bool) -> None:
        self.m = splitting.m
        self.nodes = splitting.nodes
        self.keep_names = keep_names
        self.graph = Graph()
        self.values: dict[str, Node] = {}
        self.attributes: dict[str, Any] = {}

    def add(self, node: Node) -> None:
        """Copy an input or the reading of an attribute, once."""
        if node.name in self.values or node.op not in ("placeholder", "get_attr"):
            return
        if node.op == "get_attr":
            made = self.graph.get_attr(node.target)
            self.attributes[node.target] = _get_attr_from_qualname(self.m, node.target)
        elif self.keep_names:
            made = self.graph.create_node("placeholder", node.name, args=node.args, type_expr=node.type)
        else:
            default = node.args[0] if node.args else inspect.Signature.empty
            made = self.graph.placeholder(node.target, type_expr=node.type, default_value=default)
        made.meta = node.meta.copy()
        self.values[node.name] = made

    def call(self, partition: Partition, tuple_return: bool) -> None:
        """End the graph of a part, and call it."""
        outputs = tuple([partition.environment[self.nodes[name]] for name in partition.outputs])
        is_single = len(outputs) == 1 and not tuple_return
        partition.graph.output(outputs[0] if is_single else outputs)
        self.attributes[partition.submod_name] = _make_graph_module(partition.targets, partition.graph)
        inputs = tuple([self.values[name] for name in partition.inputs])
        result = self.graph.call_module(partition.submod_name, inputs)
        if is_single:
            self.values[next(iter(partition.outputs))] = result
            return
        for number, name in enumerate(partition.outputs):
            self.values[name] = Proxy(result)[number].node
