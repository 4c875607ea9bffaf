"""What a tangent depends on through terms that are zero.

In forward mode a tensor without a tangent has one of zeros, and products with it are zero, whatever the other factors
are. A tangent with such a term requires grad if a factor does, and the gradient of the factor is zero. It is given to
the leaves themselves: a formula on the way could make nan of it, as 0 times an infinity is. Only where a hook
sees the way, it takes the way from there. What the nodes on the way have kept may not have been written, all the same:
the zeros are those of a function of what it was.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from mindtorch._core import state
from mindtorch._core.dtype import from_numpy_dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import edge_of, set_history
from mindtorch.autograd._engine.node import Node
from mindtorch.autograd._engine.node_base import NodeBase, next_sequence_nr

_thread = state.thread


class ZeroWays(NodeBase):
    """Lets a gradient through, and gives zeros to the leaves and hooks behind some edges, which are looked for when a
    pass comes."""

    __slots__ = ("_edge", "_behind", "_found")

    def __init__(self, edge: Any, behind: Sequence[Any]) -> None:
        self.sequence_nr = next_sequence_nr()
        self._edge, self._behind = edge, behind
        self._found: tuple | None = None

    @property
    def next_edges(self) -> tuple:
        if self._found is None:
            self._found = (self._edge, *_ends_behind(self._behind))
        return self._found

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        (grad,) = grads
        if grad is None:
            return (None,) * len(edges)
        _check_ways(self._behind, {edge[0] for edge in edges[1:] if edge})
        return grad, *[edge and _zeros_for(edge, grad) for edge in edges[1:]]

    def name(self) -> str:
        return "AddBackward0"


def _zeros_for(edge: Any, grad: Tensor) -> Tensor:
    """The gradient behind an edge, a product of zeros with another gradient: it requires grad if that does."""
    node, output_nr, _, _ = edge
    shape, dtype = node.output_metadata(output_nr)
    zeros = grad.new_zeros(shape, dtype=from_numpy_dtype(dtype))  # of each sample that the gradient has
    return depending(zeros, grad) if _thread.grad_enabled else zeros


def _ends_behind(edges: Sequence[Any]) -> list[Any]:
    return [edge for edge in _edges_behind(edges) if _is_end(edge[0])]


def _edges_behind(edges: Sequence[Any]) -> list[Any]:
    """An edge to each node behind some edges, as far as the ends."""
    waiting, found = list(edges), {}
    while waiting:
        edge = waiting.pop()
        if edge is None or edge[0] in found:
            continue
        found[edge[0]] = edge
        if not _is_end(edge[0]):
            waiting.extend(edge[0].next_edges)
    return list(found.values())


def _is_end(node: Any) -> bool:
    return bool(node.begins or node.extras)


def _check_ways(edges: Sequence[Any], wanted: set[Any]) -> None:
    """Refuse what was written since the nodes on the ways to some ends have kept it; what they have kept no more, as
    this pass has used them, was looked at."""
    leading = set(wanted)
    for node in sorted([edge[0] for edge in _edges_behind(edges)], key=attrgetter("sequence_nr")):
        if _is_end(node) or leading.isdisjoint([edge[0] for edge in node.next_edges if edge]):
            continue
        leading.add(node)
        if isinstance(node, Node) and node.saved and node._mt_saved is not None:
            node.unpack()


def depending(tangent: Tensor, factor: Tensor) -> Tensor:
    """A tangent that is new, made to depend on a factor of a term that is zero."""
    edge = edge_of(factor)
    if edge is not None:
        set_history(tangent, ZeroWays(edge_of(tangent) or None, (edge or None,)))
    return tangent
