"""Tensors that outlive the transform for whose function they were made.

A function may keep what it makes, in a list or a closure. When the transform is over, such a tensor is what it is
outside: unless its history reaches outside, too, it has none for any op that uses it. Only what a program asks of the
tensor itself (`requires_grad`, `is_leaf`, `grad_fn`) is still about the transform that is over.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from mindtorch.autograd.history import noted_edge
from mindtorch.autograd_meta import ViewMeta
from mindtorch.dispatch.views_from_no_grad import leads_nowhere, nodes_behind
from mindtorch.tensor import Tensor, autograd_meta


def let_go(tensors: Iterable[Tensor], is_outside: Callable[[Any], bool]) -> None:
    """Take the tensors of a transform that is over out of the graph that ends in it. `is_outside`: whether an end of
    it is outside."""
    edges = [(tensor, edge) for tensor in tensors if (edge := noted_edge(tensor))]
    if edges:
        inside = _nodes_inside({edge[0] for _, edge in edges}, is_outside)
        for tensor, edge in edges:
            if edge[0] in inside:
                _leave(tensor, edge)


def _nodes_inside(starts: set, is_outside: Callable[[Any], bool]) -> set:
    """The nodes whose history does not get outside; nodes are younger than those behind them."""
    inside: set = set()
    nodes, ends = _history(starts)
    for node in [*ends, *sorted(nodes, key=attrgetter("sequence_nr"))]:
        gets_outside = leads_nowhere(node) or (node.begins and is_outside(node))
        if not gets_outside and inside.issuperset(nodes_behind(node)):
            inside.add(node)
    return inside


def _history(starts: set) -> tuple[list, list]:
    """All nodes behind some, and apart from them the leaves."""
    waiting, seen = list(starts), set(starts)
    nodes: list = []
    ends: list = []
    while waiting:
        node = waiting.pop()
        (ends if node.accumulates else nodes).append(node)
        following = nodes_behind(node) - seen
        seen |= following
        waiting.extend(following)
    return nodes, ends


def _leave(tensor: Tensor, edge: Any) -> None:
    meta = autograd_meta(tensor)
    meta.left = meta.left or edge
    meta.requires_grad = False
    if type(meta) is ViewMeta:
        meta.edge = None
    else:
        tensor._mt_edge = None
