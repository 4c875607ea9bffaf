"""What a tangent depends on through terms that are zero.

In forward mode a tensor without a tangent has one of zeros, and products with it are zero, whatever the other factors
are. A tangent with such a term requires grad if a factor does, and the gradient of the factor is zero. It is given to
the leaves themselves: a formula on the way could make nan of it, as 0 times an infinity is. Only where a hook
sees the way, it takes the way from there.
"""

from collections.abc import Sequence
from typing import Any

from mindtorch._core import state
from mindtorch._core.dtype import from_numpy_dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.history import edge_of, set_history
from mindtorch.autograd._engine.node_base import NodeBase, next_sequence_nr
from mindtorch.dispatch import ops

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
        return grad, *[edge and _zeros_for(edge, grad) for edge in edges[1:]]

    def name(self) -> str:
        return "AddBackward0"


def _zeros_for(edge: Any, grad: Tensor) -> Tensor:
    """The gradient behind an edge, a product of zeros with another gradient: it requires grad if that does."""
    node, output_nr, _, _ = edge
    shape, dtype = node.output_metadata(output_nr)
    zeros = ops.zeros(shape, dtype=from_numpy_dtype(dtype), device=grad.device)
    return depending(zeros, grad) if _thread.grad_enabled else zeros


def _ends_behind(edges: Sequence[Any]) -> list[Any]:
    waiting, ends = list(edges), {}
    seen = set()
    while waiting:
        edge = waiting.pop()
        if edge is None or edge[0] in seen:
            continue
        seen.add(edge[0])
        if edge[0].begins or edge[0].extras:
            ends[edge[0]] = edge
        else:
            waiting.extend(edge[0].next_edges)
    return list(ends.values())


def depending(tangent: Tensor, factor: Tensor) -> Tensor:
    """A tangent that is new, made to depend on a factor of a term that is zero."""
    edge = edge_of(factor)
    if edge is not None:
        set_history(tangent, ZeroWays(edge_of(tangent) or None, (edge or None,)))
    return tangent
