"""Finding a pattern whose values have names."""

from __future__ import annotations

from typing import Any

from mindtorch._support.pytree import tree_flatten, tree_unflatten
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["InternalMatch", "SubgraphMatcherWithNameNodeMap"]


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """A pattern without the dictionary of names that it returns last, and this dictionary."""
    output = gm.graph.output_node()
    codegen: Any = gm.graph._codegen
    returned = tree_unflatten(output.args[0], gm._out_spec)
    if not isinstance(returned, tuple):
        raise AssertionError("Expecting the pattern graph to return a tuple")
    if len(returned) < 2:
        raise AssertionError("Expecting the pattern graph to have at least two outputs")
    *values, names = returned
    if not isinstance(names, dict):
        raise AssertionError("Expecting the input graph to have a dict output as the last element")
    leaves, spec = tree_flatten(values)
    output.args = (leaves,)
    codegen.pytree_info = codegen.pytree_info._replace(out_spec=spec)
    gm.recompile()
    return gm, names


@compatibility(is_backward_compatible=False)
class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Finds a pattern that returns its values and, last, a dictionary: matches have its nodes by these names."""

    def __init__(
        self,
        pattern_gm: GraphModule,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        pattern_gm, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        super().__init__(pattern_gm.graph, match_output, match_placeholder, remove_overlapping_matches, ignore_literals)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        matches = super().match(graph, node_name_match)
        for match in matches:
            match.name_node_map.update({name: match.nodes_map[node] for name, node in self.name_node_map.items()})
        return matches
