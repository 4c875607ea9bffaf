"""Tensors that outlive the transform for whose function they were made.

A function may keep what it makes, in a list or a closure. When the transform is over, such a tensor is two things. To
ops it is what it is outside: it has the history that it has in the transforms around, and with leaves from outside.
But what a program asks of the tensor itself (`requires_grad`, `grad_fn`, `backward`, its gradient) is still about the
transform that is over, whose graph ends in the inputs of the function and in leaves that the function has made.

Note [Graphs that are over]: there is one graph for all transforms (mindtorch/_functorch/levels.py). The part of it that
belongs to one alone is copied when a program asks for it, and not before, as hardly any does. Copies have the way to
that transform's inputs only, which are leaves there; what they keep of tensors are these as they are outside.
"""

import copy
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary, ref

from mindtorch._core.autograd_meta import AutogradMeta, OverMeta, ViewMeta, lefts_of
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.tensor import ASK, Tensor, autograd_meta, edge_to, new_object, share_version, wrap
from mindtorch.autograd._engine.accumulate_grad import AccumulateGrad
from mindtorch.autograd._engine.detaching import DetachedInside
from mindtorch.autograd._engine.history import edge_of, may_be_taken_again, noted_edge
from mindtorch.autograd._engine.hooks_in_levels import HooksInside, hooks_inside
from mindtorch.autograd._engine.node_base import Extras, NodeBase
from mindtorch.autograd._engine.saved_tensor import SavedOutput
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.captures import OwnTensors
from mindtorch.dispatch.modes.views_from_no_grad import leads_nowhere, nodes_behind

_NOTHING = ()  # the edge of a tensor that has no history in the transform
_copying = RLock()  # two threads may ask for the same part of a graph


class Left:
    """What a tensor is in a transform that is over. `graph`: that of the transform; `inside`: its edge there, in the
    graph of all transforms, or None; `outer`: what it is in a transform around that one, if that is over, too."""

    __slots__ = ("graph", "inside", "outer", "returned", "_edge")

    def __init__(self, graph: "GraphOver", inside: Any, outer: "Left | None" = None) -> None:
        self.graph = graph
        self.inside = inside
        self.outer = outer
        self.returned: ref[Tensor] | None = None  # what the function has returned if it has returned the tensor
        self._edge: Any = None

    @property
    def edge(self) -> Any:
        """The edge that programs see."""
        if self.inside is None:
            return _NOTHING
        if self._edge is not None:
            return self._edge
        edge = self.graph.edge(self.inside)
        if not edge[0].begins:  # a leaf is not to refer to its node
            self._edge = edge
        return edge

    def require_grad(self, tensor: Tensor) -> None:
        """Make the tensor a leaf, in the transform that is over."""
        if self.inside is None:
            node = AccumulateGrad(tensor)
            node.meta = OverMeta(self.graph)
            self.inside = edge_to(node)

    def stop_requiring_grad(self) -> None:
        self.inside = None

    def of_data(self) -> "Left":
        """What the data of the tensor is."""
        return Left(self.graph, None)


class GraphOver:
    """The part of the graph that belongs to one transform that is over. `depth`: of that transform."""

    has_hooks = False

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._copies: WeakValueDictionary[Any, Any] = WeakValueDictionary()

    def edge(self, inside: Any) -> Any:
        """The edge of a copy, given the edge in the graph of all transforms."""
        node, *rest = self._behind_inner(inside)
        with _copying:
            return (self._copy(node), *rest)

    def _behind_inner(self, edge: Any) -> Any:
        """Where an edge leads to without the inputs of inner transforms, which are the tensors that they were given."""
        while edge is not None and edge[0].begins and not (edge[0].accumulates or edge[0].graph is self):
            (edge,) = edge[0].next_edges
        return edge

    def _copy(self, last: Any) -> Any:
        """The copy of a node, made after those of the nodes behind it."""
        found = self._copies.get(last)
        if found is not None:
            return found
        made: dict = {}  # which would not live without
        for node in self._inside(last):
            copied = self._copies.get(node)
            if copied is None:
                copied = self._leaf_of(node) if self._is_end(node) else self._copied(node, made)
                self._copies[node] = copied
            made[node] = copied
        return made[last]

    def _inside(self, last: Any) -> list:
        """The nodes from which gradients get to the inputs, in an order in which they can be copied."""
        nodes, ends = _history({last}, _next_nodes)
        inside: dict = {}
        for node in [*ends, *sorted(nodes, key=attrgetter("sequence_nr"))]:
            if self._is_end(node) or (self._lets_through(node) and not inside.keys().isdisjoint(_next_nodes(node))):
                inside[node] = True
        inside[last] = True
        return list(inside)

    def _is_end(self, node: Any) -> bool:
        return node.begins and _graph_of_end(node) is self

    def _lets_through(self, node: Any) -> bool:
        if type(node) is DetachedInside:
            return all(each.graph is not self for each in node.inputs)
        return True

    def _leaf_of(self, node: Any) -> AccumulateGrad:
        leaf = node.leaf()
        if leaf is None:
            leaf = wrap(node.array)
            autograd_meta(leaf).left = Left(self, edge_to(node))
        end = AccumulateGrad(leaf)
        end.meta = LeafOver(leaf)  # type: ignore[assignment]
        return end

    def _copied(self, node: Any, made: dict) -> Any:
        copied = _as_outside(node)
        edges = map(self._behind_inner, node.next_edges if self._lets_through(node) else (None,))
        copied.next_edges = tuple([edge and edge[0] in made and (made[edge[0]], *edge[1:]) or None for edge in edges])
        return copied


def _graph_of_end(node: Any) -> GraphOver | None:
    """The graph that ends in a leaf or an input of a transform, if that is over."""
    if node.accumulates:
        return node.meta.graph if type(node.meta) is OverMeta else None
    return node.graph


class LeafOver:
    """The autograd fields of a leaf of a graph that is over, for its node there, which keeps the leaf."""

    base = None

    def __init__(self, leaf: Tensor) -> None:
        self._leaf = leaf

    @property
    def _meta(self) -> AutogradMeta:
        return autograd_meta(self._leaf)

    @property
    def requires_grad(self) -> bool:
        left = self._meta.left
        return left is not None and left.inside is not None

    @property
    def hooks(self) -> Any:
        hooks = self._meta.hooks
        return hooks and HooksInside(hooks)  # to which more may be added

    @property
    def post_accumulate_hooks(self) -> Any:
        return self._meta.post_accumulate_hooks

    @property
    def grad(self) -> Any:
        return self._meta.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        self._meta.grad = value

    @property
    def storing(self) -> Any:
        return self._meta.storing

    @storing.setter
    def storing(self, lock: Any) -> None:
        self._meta.storing = lock


def is_over_leaf(node: Any) -> bool:
    """Whether a node is that of a leaf which the function of a transform that is over has made."""
    return node.accumulates and type(node.meta) is OverMeta


# -------------------- copies --------------------


def _as_outside(node: Any) -> Any:
    """A copy of a node that keeps its tensors as they are outside."""
    copied = copy.copy(node)
    if getattr(node, "_mt_saved", None):
        copied._mt_saved = tuple([_kept_outside(held, node) for held in node._mt_saved])
    extras = node.extras
    if extras is not None:
        copied._extras = _extras_inside(extras)
    return copied


def _kept_outside(held: Any, node: Any) -> Any:
    if isinstance(held, list):
        return [_kept_outside(each, node) for each in held]
    if isinstance(held, SavedOutput):
        owner = (held.view_node and held.view_node()) or node
        return held.on_graph(edge_to(owner, held.output_nr) if _gets_outside(owner) else None), held.version
    return _as_outside(held) if isinstance(held, NodeBase) else held


def _gets_outside(node: Any) -> bool:
    """Whether the history of a node has an end that is not over."""
    nodes, ends = _history({node}, nodes_behind)
    if any(not is_over_leaf(end) for end in ends):
        return True
    return any(leads_nowhere(each) or (each.begins and (each.is_open or each.requires_grad_outside)) for each in nodes)


def _extras_inside(extras: Extras) -> Extras:
    """What a node has besides, for its copy: hooks of the function are those of the copy."""
    inside = Extras()
    inside.tensor_hooks = [(output_nr, HooksInside(hooks)) for output_nr, hooks in extras.tensor_hooks]
    inside.retained = dict(extras.retained)
    inside.pre_hooks = hooks_inside(extras.pre_hooks)
    inside.hooks = hooks_inside(extras.hooks)
    inside.metadata = extras.metadata
    inside.shown_sequence_nr = extras.shown_sequence_nr
    return inside


# -------------------- leaving --------------------


def let_go(
    tensors: Iterable[Tensor],
    returned: Sequence[tuple[Tensor, Tensor]],
    graph: GraphOver,
    inputs: set,
    own: OwnTensors,
    is_outside: Callable,
) -> None:
    """Have the tensors of a transform that is over be what they are outside.

    `returned`: pairs of what has left it as it should and what that is outside; `inputs`: the nodes of its inputs;
    `is_outside`: whether an end of the graph is outside.
    """
    results = [result for _, result in returned]
    edges = {id(tensor): (tensor, _edge_at_the_end(tensor)) for tensor in (*tensors, *results)}
    inside, outside = _ways({edge[0] for _, edge in edges.values() if edge}, graph, inputs, own, is_outside)
    kept = set(map(id, results))
    for number, (tensor, edge) in edges.items():
        if number not in kept:
            _show(tensor, edge if edge and edge[0] in inside else None, graph)
        if edge and edge[0] not in outside:
            _cut_off(tensor)
    for tensor, result in returned:
        if tensor is not result and tensor._mt_meta is not None and tensor._mt_meta.left is not None:
            _follow(tensor, result)


def _follow(tensor: Tensor, result: Tensor) -> None:
    """Have a tensor that the function has kept and returned be what it has returned: outside these are one tensor,
    which a write to either moves in the graph."""
    edge = noted_edge(tensor) or None
    is_another = result.is_inference() or tensor.is_inference() or not may_be_taken_again(tensor)
    if is_another or (edge and edge[0].accumulates):
        tensor._mt_meta.left.returned = ref(result)
        return
    meta = new_object(ViewMeta)
    vars(meta).update(vars(tensor._mt_meta))
    of = result._mt_meta
    meta.is_same, meta.shown_base = True, tensor._base
    meta.base, meta.parent = result, of if type(of) is ViewMeta else None
    meta.replay, meta.output_nr = (ops.alias, ()), None
    meta.edge, meta.version = edge, share_version(tensor)[0]
    tensor._mt_edge, tensor._mt_meta = ASK, meta


def _edge_at_the_end(tensor: Tensor) -> Any:
    return edge_of(tensor) if may_be_taken_again(tensor) else noted_edge(tensor)


def _ways(starts: set, graph: GraphOver, inputs: set, own: OwnTensors, is_outside: Callable) -> tuple[set, set]:
    """The nodes whose history gets to what the transform differentiates, and those whose history gets outside; nodes
    are younger than those behind them."""
    inside: set = set()
    outside: set = set()
    nodes, ends = _history(starts, nodes_behind)
    for node in [*ends, *sorted(nodes, key=attrgetter("sequence_nr"))]:
        behind = nodes_behind(node)
        if leads_nowhere(node) or (node.begins and is_outside(node)) or not outside.isdisjoint(behind):
            outside.add(node)
        if node in inputs:
            node.graph = graph
            inside.add(node)
        elif node.accumulates:
            if own.made.has(node.leaf) and not is_over_leaf(node):
                node.meta = OverMeta(graph)
                inside.add(node)
        elif not inside.isdisjoint(behind) and (type(node) is not DetachedInside or node.inputs.isdisjoint(inputs)):
            inside.add(node)
    return inside, outside


def _history(starts: set, behind: Callable[[Any], set]) -> tuple[list, list]:
    """All nodes behind some, and apart from them the leaves."""
    waiting, seen = list(starts), set(starts)
    nodes: list = []
    ends: list = []
    while waiting:
        node = waiting.pop()
        (ends if node.accumulates else nodes).append(node)
        following = behind(node) - seen
        seen |= following
        waiting.extend(following)
    return nodes, ends


def _next_nodes(node: Any) -> set:
    return {edge[0] for edge in node.next_edges if edge is not None}


def _show(tensor: Tensor, edge: Any, graph: GraphOver) -> None:
    """Have a tensor show what it is inside, unless what stands in for it has done so."""
    lefts = lefts_of(tensor)
    if lefts and lefts[-1].graph is graph:
        return
    array = tensor._mt_array
    is_sample = type(array) is BatchedArray and array.level.depth > graph.depth  # which shows nothing
    left = Left(graph, None if is_sample else edge)
    meta = autograd_meta(tensor)
    meta.requires_grad = False
    if lefts:
        lefts[-1].outer = left
    else:
        meta.left = left


def _cut_off(tensor: Tensor) -> None:
    meta = tensor._mt_meta
    if type(meta) is ViewMeta:
        meta.edge = None
    else:
        tensor._mt_edge = None
