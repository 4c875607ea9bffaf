"""Computing once what does not depend on inputs."""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import tensor
from mindtorch.fx._symbolic_trace import symbolic_trace
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.fx.passes.split_module import split_module
from mindtorch.nn.modules.container import ParameterList
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A module that computes its constants in the first call, and keeps them as an attribute."""

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Compute the constants."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        values = self.const_subgraph_module()
        found = (
            ParameterList([self._kept(each) for each in values]) if isinstance(values, tuple) else self._kept(values)
        )
        setattr(self, self.fx_const_folded_attrs_name, found)

    def _kept(self, value: Any) -> Parameter:
        if isinstance(value, Tensor):
            return Parameter(value.detach().clone(), requires_grad=value.requires_grad)
        return Parameter(tensor([float(value)], device=self.device_for_folded_attrs), requires_grad=False)


def get_unique_attr_name_in_module(mod_traced: Module, name: str) -> str:
    """A name like `name` that a module has no attribute of."""
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    name = f"_{name}" if name[0].isdigit() else name
    while hasattr(mod_traced, name):
        found = re.match(r"(.*)_(\d+)$", name)
        name = f"{name}_1" if found is None else f"{found[1]}_{int(found[2]) + 1}"
    return name


def _inline_module(gm: GraphModule, inline_mod_name: str, run_dce: bool = True) -> dict[Node, Any]:
    """Put the nodes of a module in the place of its call."""
    inner = dict(gm.named_modules())[inline_mod_name]
    assert isinstance(inner, GraphModule)
    call = next(node for node in gm.graph.nodes if node.op == "call_module" and node.target == inline_mod_name)
    given = iter(call.args)
    values: dict[Node, Any] = {}
    for node in inner.graph.nodes:
        if node.op == "placeholder":
            values[node] = call.kwargs[node.name] if node.name in call.kwargs else next(given)
        elif node.op == "output":
            result = map_arg(node.args[0], values.__getitem__)
            if isinstance(result, (list, tuple)):
                for user in [user for user in call.users if user.target is operator.getitem]:
                    user.replace_all_uses_with(result[user.args[1]])
                    gm.graph.erase_node(user)
            else:
                call.replace_all_uses_with(result)
        else:
            with gm.graph.inserting_before(call):
                values[node] = gm.graph.node_copy(node, values.__getitem__)
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return values


def _constants(traced: GraphModule, skip: Callable[[Node], bool] | None) -> set[Node]:
    """The nodes that depend on no input, and do nothing but give a value."""
    found: set[Node] = set()
    for node in traced.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "get_attr" and not found.issuperset(node.all_input_nodes):
            continue
        if (skip and skip(node)) or node.is_impure() or _calls_impure(traced, node):
            continue
        found.add(node)
    return found


def _calls_impure(traced: GraphModule, node: Node) -> bool:
    module = traced.get_submodule(node.target) if node.op == "call_module" else None
    return isinstance(module, GraphModule) and any(
        (each.op == "call_function" and each.is_impure()) or _calls_impure(module, each) for each in module.graph.nodes
    )


def split_const_subgraphs(
    module: Module,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """A module that computes what does not depend on its inputs once, in the first call."""
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constants = _constants(traced, skip_folding_node_fn)
    if all(node.op == "get_attr" for node in constants):
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, module, lambda node: 0 if node in constants else 1)
    inner: Any = split.submod_0
    for part in [inner, *([split.submod_1] if hasattr(split, "submod_1") else [])]:
        for node in part.graph.nodes:
            if node.op == "call_module":
                setattr(split, node.target, getattr(part, node.target))
    call = next(node for node in split.graph.nodes if node.op == "call_module" and node.target == "submod_0")
    folding = GraphModule(split, copy.deepcopy(inner.graph))
    inputs = [node for node in folding.graph.nodes if node.op == "placeholder"]
    for node, given in zip(inputs, call.args):
        if given.op != "get_attr":
            raise AssertionError(f"Expected get_attr, got {given.op}")
        with folding.graph.inserting_before(node):
            read = folding.graph.get_attr(given.target)
        read.meta = node.meta.copy()
        node.replace_all_uses_with(read)
        folding.graph.erase_node(node)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    has_several = isinstance(folding.graph.output_node().args[0], tuple)
    setattr(split, name, ParameterList() if has_several else Parameter(tensor([])))
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    if hasattr(split, "submod_1"):
        _inline_module(split, "submod_1")
    split.graph.eliminate_dead_code()
    return FoldedGraphModule(split, split.graph, folding.graph, name, device_for_folded_attrs)
