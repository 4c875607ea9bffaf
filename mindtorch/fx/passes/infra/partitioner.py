"""`CapabilityBasedPartitioner`: the largest parts of a graph that a backend can run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, _get_qualified_name
from mindtorch.fx.passes.operator_support import OperatorSupportBase
from mindtorch.fx.passes.utils.fuser_utils import fuse_by_partitions

__all__ = ["CapabilityBasedPartitioner", "Partition"]

_GETITEM = "_operator.getitem"


class Partition:
    """Nodes that become one module."""

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int] | None = None,
    ) -> None:
        self.id = id
        self.nodes: dict[Node, int | None] = {}
        if nodes is not None and node_orders is None:
            self.nodes = dict.fromkeys(nodes)
        elif nodes is not None and node_orders is not None:
            keys, values = list(nodes), list(node_orders)
            if len(keys) != len(values):
                raise AssertionError("nodes and node_orders must have the same length")
            self.nodes = dict(zip(keys, values))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        del self.nodes[node]

    def size(self) -> int:
        return len(self.nodes)


class _Merging:
    """The partitions of a graph while they grow, from its end to its head."""

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.partitions: dict[int, Partition] = {}
        self.assignment: dict[Node, int] = {}
        self.order: dict[int, int] = {}

    def add(self, node: Node, place: int) -> int:
        number = next(self.numbers)
        self.partitions[number] = Partition(number, [node], [place])
        self.assignment[node] = number
        self.order[number] = number
        return number

    def merge(self, first: int, second: int) -> int:
        """Put two partitions together if that makes no cycle; gives the number of the one that has the first."""
        nodes = {**self.partitions[first].nodes, **self.partitions[second].nodes}
        if self._is_cyclic(nodes):
            return first
        kept, gone = first, second
        if len(self.partitions[first].nodes) < len(self.partitions[second].nodes):
            kept, gone = second, first
        self.partitions[kept].nodes.update(self.partitions[gone].nodes)
        for node in self.partitions.pop(gone).nodes:
            self.assignment[node] = kept
        self.order[kept] = min(self.order[kept], self.order.pop(gone))
        return kept

    def _is_cyclic(self, nodes: dict[Node, int | None]) -> bool:
        """Whether a way leads from these nodes, as one, through others back to them; partitions count as one node."""
        waiting = [user for node in nodes for user in node.users if user not in nodes]
        seen: set[Node] = set()
        while waiting:
            node = waiting.pop()
            if node in nodes:
                return True
            if node in seen:
                continue
            group = self.partitions[self.assignment[node]].nodes if node in self.assignment else (node,)
            seen.update(group)
            waiting += [user for each in group for user in each.users if user not in group]
        return False

    def move(self, node: Node, number: int | None) -> None:
        """Put a node into another partition, or into none."""
        if node in self.assignment:
            self.partitions[self.assignment.pop(node)].remove_node(node)
        if number is not None:
            self.assignment[node] = number
            self.partitions[number].add_node(node)


class CapabilityBasedPartitioner:
    """Finds the parts of a graph whose nodes an `OperatorSupport` supports, as few and as large as possible."""

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion
        self._submodules = dict(graph_module.named_modules())

    def _is_node_supported(self, node: Node) -> bool:
        return self.operator_support.is_node_supported(self._submodules, node)

    def propose_partitions(self) -> list[Partition]:
        """The parts, each in the order of the graph."""
        merging = _Merging()
        for place, node in enumerate(reversed(self.graph_module.graph.nodes)):
            candidates: dict[int, None] = {}
            if self._is_node_supported(node):
                candidates[merging.add(node, place)] = None
                if self.skip_horizontal_fusion:
                    users = [merging.assignment[user] for user in node.users if user in merging.assignment]
                    candidates.update(dict.fromkeys(users))
            if not self.skip_horizontal_fusion:
                candidates.update(dict.fromkeys(sorted(merging.order, key=merging.order.__getitem__)))
            numbers = list(candidates)
            for other in numbers[1:]:
                numbers[0] = merging.merge(numbers[0], other)
        for partition in merging.partitions.values():
            ordered = sorted(partition.nodes.items(), key=lambda item: item[1] or 0, reverse=True)
            partition.nodes = dict(ordered)
        self._move_getitems(merging)
        if not self.allows_single_node_partition:
            for number in [number for number, each in merging.partitions.items() if self._is_small(each)]:
                del merging.partitions[number]
        return [partition for partition in merging.partitions.values() if partition.size() > 0]

    def _move_getitems(self, merging: _Merging) -> None:
        """What takes one of several results goes where these are made."""
        while True:
            moves: dict[Node, int | None] = {}
            for node in self.graph_module.graph.nodes:
                if all(user.op == "call_function" and _is_getitem(user) for user in node.users):
                    number = merging.assignment.get(node)
                    moves.update({user: number for user in node.users if merging.assignment.get(user) != number})
            if not moves:
                return
            for node, number in moves.items():
                merging.move(node, number)

    def _is_small(self, partition: Partition) -> bool:
        """Whether a part computes with less than two nodes."""
        passive = {"torch.ops.aten.view", _GETITEM, *self.non_compute_ops}
        count = 0
        for node in partition.nodes:
            if node.op == "call_function":
                name = _get_qualified_name(node.target)
                count += (name not in passive) + (name in self.allowed_single_node_partition_ops)
        return count <= 1

    def fuse_partitions(self, partitions: Sequence[Partition], prefix: str = "fused_") -> GraphModule:
        """Make each part a module that the graph calls."""
        return fuse_by_partitions(self.graph_module, [each.nodes for each in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions: Sequence[Partition]) -> None:
        """Leave out of the parts what computes nothing at their heads and ends."""
        for partition in partitions:
            for follow in ("all_input_nodes", "users"):
                self._strip(partition, follow)

    def _strip(self, partition: Partition, follow: str) -> None:
        for node in list(partition.nodes) if follow == "all_input_nodes" else list(reversed(partition.nodes)):
            is_passive = node.op == "call_function" and _get_qualified_name(node.target) in self.non_compute_ops
            if is_passive and all(each not in partition.nodes for each in getattr(node, follow)):
                partition.remove_node(node)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Find the parts and make them modules."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)


def _is_getitem(node: Node) -> bool:
    return _get_qualified_name(node.target) == _GETITEM
