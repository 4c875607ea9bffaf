"""Finding a pattern in a graph."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.overloads import OpOverload
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import _get_attr
from mindtorch.fx.node import Node
from mindtorch.fx.operator_schemas import arguments_in_order
from mindtorch.fx.passes._reachable import is_fusible

__all__ = ["InternalMatch", "SubgraphMatcher"]


@compatibility(is_backward_compatible=False)
@dataclass
class InternalMatch:
    """A place where a pattern was found: `nodes_map` has the node of the graph for each of the pattern."""

    anchors: list[Node]
    nodes_map: dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: list[Node] = field(default_factory=list)  # what the inputs of the pattern are
    returning_nodes: list[Node] = field(default_factory=list)  # what it returns
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy()
        )


@compatibility(is_backward_compatible=False)
class SubgraphMatcher:
    """Finds a pattern in graphs.

    With `match_output` it has to end in the output of the graph, with `match_placeholder` its inputs must be inputs of
    the graph; with `ignore_literals` numbers in it stand for any.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and len(node.users) == 0:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        # Matching goes backwards from these, to which nothing of the pattern leads back.
        ends = [node for node in output.all_input_nodes if len(node.users) == 1]
        self.pattern_anchors: list[Node] = [output] if match_output else ends

    def _match_attributes(self, pn: Node, gn: Node) -> bool:
        """Whether two nodes read the same kind of attribute, which must be a tensor."""
        values = []
        for node in (pn, gn):
            assert isinstance(node.target, str) and node.graph.owning_module is not None
            values.append(_get_attr(node.graph.owning_module, node.target))
        if type(values[0]) is not type(values[1]):
            return False
        if not isinstance(values[0], Tensor):
            raise RuntimeError(f"Unsupported type {values[0]} when matching attributes")
        return True

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in ("placeholder", "output"):
            return True
        return self._match_attributes(pn, gn) if pn.op == "get_attr" else pn.target == gn.target

    def _is_contained(self, nodes_map: dict[Node, Node]) -> bool:
        """Whether only what the pattern returns is used outside."""
        lookup = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(
            user in lookup for gn, pn in lookup.items() if pn not in self.pattern_returning_nodes for user in gn.users
        )

    def _remove_overlapping_matches(self, matches: Iterable[InternalMatch]) -> list[InternalMatch]:
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in matches:
            nodes = _calls_of(match)
            if taken.isdisjoint(nodes):
                kept.append(match)
                taken.update(nodes)
        return kept

    def _match_literals(self, pn: Any, gn: Any, match: InternalMatch) -> bool:
        """Whether two arguments fit that are not both nodes: an input of the pattern takes any value."""
        if isinstance(pn, Node):
            if pn.op != "placeholder":
                return False
            return bool(match.nodes_map.setdefault(pn, gn) == gn)
        return not isinstance(gn, Node) and type(gn) is type(pn) and bool(gn == pn)

    def _match_args(self, wanted: Sequence[Any], given: Sequence[Any], match: InternalMatch) -> bool:
        return len(wanted) == len(given) and all(self._match_arg(*pair, match) for pair in zip(wanted, given))

    def _match_arg(self, wanted: Any, given: Any, match: InternalMatch) -> bool:
        if isinstance(wanted, Node) and isinstance(given, Node):
            return self._match_nodes(wanted, given, match)
        if isinstance(wanted, (list, tuple)) and isinstance(given, (list, tuple)):
            return self._match_args(wanted, given, match)
        return self._match_literals(wanted, given, match) or self.ignore_literals

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, node_name_match: str = "") -> bool:
        """Whether two nodes fit, and what they use; the match then has them."""
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if gn in match.nodes_map.values() or not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        if len(pn.args) == len(gn.args) and list(pn.kwargs) == list(gn.kwargs):
            wanted, given = [*pn.args, *pn.kwargs.values()], [*gn.args, *gn.kwargs.values()]
        elif pn.op == "call_function" and isinstance(pn.target, OpOverload):
            wanted = arguments_in_order(pn.target, pn.args, pn.kwargs)
            given = arguments_in_order(pn.target, gn.args, gn.kwargs)
        else:
            return False
        return self._match_args(wanted, given, match)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All places where the pattern is: nothing inside is used outside, and it could be one node."""
        candidates = []
        for anchor in self.pattern_anchors:
            found = [node for node in graph.nodes if self._nodes_are_equal(anchor, node, node_name_match)]
            if found:
                candidates.append((anchor, found))
        matches: list[InternalMatch] = []

        def extend(place: int, match: InternalMatch) -> None:
            """Match the anchors from `place` on, in all ways."""
            if place == len(candidates):
                match.placeholder_nodes = [match.nodes_map[node] for node in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[node] for node in self.pattern_returning_nodes]
                matches.append(match)
                return
            anchor, nodes = candidates[place]
            for node in nodes:
                attempt = copy.copy(match)
                if self._match_nodes(anchor, node, attempt, node_name_match):
                    extend(place + 1, attempt)

        if candidates:
            extend(0, InternalMatch(anchors=self.pattern_anchors))
        contained = [match for match in matches if self._is_contained(match.nodes_map)]
        valid = [match for match in contained if is_fusible(_calls_of(match))]
        # Without the check for overlaps torch gives those that cannot be fused, too.
        return self._remove_overlapping_matches(valid) if self.remove_overlapping_matches else contained


def _calls_of(match: InternalMatch) -> list[Node]:
    return [gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")]
