"""Whether nodes of a graph may become one."""

from collections.abc import Iterable

from mindtorch.fx.node import Node


def is_fusible(nodes: Iterable[Node]) -> bool:
    """Whether no node outside lies on a way from one of the nodes to another: as one node they would be a cycle."""
    inside = set(nodes)
    waiting = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in inside:
            return False
        if node not in seen:
            seen.add(node)
            waiting += node.users
    return True
