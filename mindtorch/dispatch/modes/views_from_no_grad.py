"""Views from `no_grad` mode that the function of a transform uses.

Such a view requires grad if its base does, but no gradient gets there, so that the edge to it is None. What is computed
from it requires grad where the base does: outside of a transform that has captured it, say. To tell, nodes that have
been given such views are known, with the edges of the bases.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from mindtorch._core import state
from mindtorch._core.autograd_meta import ViewMeta, takes_part
from mindtorch._core.tensor import ASK, Tensor
from mindtorch.dispatch.call_form import tensors_among

_bases: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()  # node -> the edges of the bases of its views


def note_views(args: Iterable[Any], result: Any) -> None:
    """Remember which nodes have been given views from no_grad mode: those of what an op has made of its arguments."""
    views = [tensor for tensor in tensors_among(args) if _leads_nowhere(tensor)]
    if views:
        edges = [_noted_edge(view._mt_meta.base) for view in views]
        for tensor in tensors_among(result if isinstance(result, (tuple, list)) else (result,)):
            edge = _noted_edge(tensor)
            if edge and not edge[0].begins:
                _bases.setdefault(edge[0], []).extend(edge for edge in edges if edge)


def _leads_nowhere(tensor: Tensor) -> bool:
    meta = tensor._mt_meta
    if tensor._mt_edge is not ASK or type(meta) is not ViewMeta:
        return False
    return meta.edge is None and not meta.requires_grad and takes_part(meta.base)


def _noted_edge(tensor: Tensor) -> Any:
    """The edge of a tensor as it was noted last, or that of what it is a view of."""
    meta = tensor._mt_meta
    if tensor._mt_edge or type(meta) is not ViewMeta:
        return tensor._mt_edge
    return meta.edge or _noted_edge(meta.base)


@contextmanager
def noting_views() -> Iterator[None]:
    """In this block ops that use such views are noted, if any have been: in the backward pass of a transform."""
    is_on = bool(_bases)
    state.count_thread_mode(is_on)
    try:
        yield
    finally:
        state.count_thread_mode(-is_on)


def edges_of_bases(node: Any) -> list[Any]:
    """The edges of what a node has been given views of that lead nowhere."""
    return _bases.get(node, [])


def leads_nowhere(node: Any) -> bool:
    """Whether a node in the middle of a graph has no edge. It was given such views, before a transform began, and what
    it has made requires grad."""
    return not node.begins and not nodes_behind(node)


def nodes_behind(node: Any) -> set[Any]:
    """The nodes that decide whether what a node has made requires grad: the next ones, and those of bases."""
    return {edge[0] for edge in (*node.next_edges, *edges_of_bases(node)) if edge is not None}
