"""Modules of parts of graphs, and comparing graphs."""

from __future__ import annotations

from typing import Any

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.passes.utils.matcher_utils import SubgraphMatcher
from mindtorch.nn.modules.module import Module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


@compatibility(is_backward_compatible=False)
class HolderModule(Module):
    """A module that has the modules of a dictionary."""

    def __init__(self, d: dict[str, Module]) -> None:
        super().__init__()
        for name, module in d.items():
            self.add_module(name, module)


@compatibility(is_backward_compatible=False)
def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """A module for a part of a graph, which has what that part reads; and, by the names of these things, their names
    below a module `comp_name`."""
    root = HolderModule({})
    names: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        *path, field = node.target.split(".")
        owner: Any = root
        found: Any = gm
        for part in path:
            if not hasattr(owner, part):
                owner.add_module(part, HolderModule({}))
            owner, found = getattr(owner, part), getattr(found, part)
        setattr(owner, field, getattr(found, field))
        names[node.target] = f"{comp_name}.{node.target}"
    return GraphModule(root, subgraph, class_name), names


@compatibility(is_backward_compatible=False)
def compare_graphs(left: Graph, right: Graph) -> bool:
    """Whether two graphs do the same calls in the same way."""
    return len(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right)) > 0
