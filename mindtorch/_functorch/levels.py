"""Levels: what keeps the derivatives of a transform apart from those of the transforms around it.

Note [Levels of reverse mode]: there is one graph. A transform gives its function, instead of the inputs, aliases of
them that begin at a `LevelInput`, asks for the gradients of these nodes only, and so never sees the derivatives of
another level. Behind a `LevelInput` the graph goes on to where the input itself comes from: gradients of gradients, and
those of the autograd around all transforms, follow from that.

What a transform returns has to leave its level: `released` takes tensors out of the graph whose history ends in the
inputs of levels that are over. If a history ends anywhere else, in the input of an outer level or in a leaf from
outside that requires grad, it is kept, and the transform's own backward pass is recorded for the same reason
(`reaches_outside`).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ref

from mindtorch._core import state
from mindtorch._core.autograd_meta import DEFAULT, MULTI_OUTPUT, ViewMeta, lefts_of
from mindtorch._core.tensor import (
    ASK,
    InferenceVersion,
    Tensor,
    autograd_meta,
    detached,
    edge_to,
    enter_version,
    leave_version,
    new_object,
    set_output,
    share_version,
)
from mindtorch._functorch.leaks import GraphOver, is_over_leaf, let_go
from mindtorch._support.pytree import tree_leaves
from mindtorch.autograd._engine import node_base
from mindtorch.autograd._engine.history import (
    IN_CUSTOM_FUNCTION,
    NOWHERE,
    edge_of,
    is_out_of_date,
    is_view,
    noted_edge,
)
from mindtorch.autograd._engine.node_base import ConnectedNode
from mindtorch.autograd.grad_mode import set_inference
from mindtorch.autograd.graph import disable_saved_tensors_hooks
from mindtorch.dispatch.modes.captures import OwnTensors, depth_of, owner_of, watching_writes
from mindtorch.dispatch.modes.tangents import set_tangent, tangent_of
from mindtorch.dispatch.modes.torch_dispatch import ask_op, dispatching_arguments
from mindtorch.dispatch.modes.view_recipe import ViewRecipe
from mindtorch.dispatch.modes.views_from_no_grad import leads_nowhere, nodes_behind

_thread = state.thread

_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use "
    "case."
)


class LevelInput(ConnectedNode):
    """Where the graph of a level begins; tensors that have it look like leaves. `depth`: how many transforms run;
    `given`: the edge of what the transform was given, whether it is recorded outside or not."""

    __slots__ = ("is_open", "depth", "requires_grad_outside", "leaf", "array", "graph", "given")

    begins = True

    def __init__(self, outer_edge: Any, alias: Any, given: Any) -> None:
        node_base.levels_in_use = True
        super().__init__((outer_edge or None,))
        set_output(self, alias._mt_array)
        self.is_open = True
        self.depth = _thread.transforms
        self.requires_grad_outside = outer_edge is NOWHERE  # although no gradient gets there
        self.leaf = ref(alias)
        self.array = alias._mt_array
        self.graph: GraphOver | None = None  # once the transform is over
        self.given = given

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        return grads


class Level:
    """The inputs of one run of a function, and what becomes of them."""

    def __init__(self) -> None:
        self.records_outside = _thread.grad_enabled
        self.is_running = True  # until the transform itself returns
        self.own = OwnTensors((), 0, None)
        self.graph = GraphOver(_thread.transforms)
        self._nodes: list[LevelInput] = []
        self._released: dict[int, tuple[Tensor, Tensor]] = {}  # id of a result or a base -> (it, what it is outside)
        self._inputs: dict[int, tuple[Tensor, Tensor]] = {}  # id of the alias -> (alias, the tensor that was given)

    def enter(self, tensor: Any) -> Any:
        """The alias of an input that is to be differentiated with respect to."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(tensor)}")
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        given = None if is_out_of_date(tensor) else edge_of(tensor)
        outer_edge = given if self.records_outside else None
        alias = _alias(tensor)
        if tensor.is_inference():
            alias._mt_version = InferenceVersion(depth_of(tensor))
        node = LevelInput(outer_edge, alias, given)
        self._nodes.append(node)
        if self.records_outside and _may_become_unreadable(tensor):
            _follow_outside(alias, tensor, node)
        else:
            alias._mt_edge = edge_to(node)
        autograd_meta(alias).requires_grad = True
        enter_version(alias, self.graph.depth)
        self._inputs[id(alias)] = alias, tensor
        return alias

    def keep(self, tensor: Tensor) -> None:
        """Note that a tensor is outside what it is inside, with its tangents of other levels."""
        leave_version(tensor, self.graph.depth)
        self._released[id(tensor)] = tensor, tensor
        for tangent in _tangents(tensor).values():
            self.keep(tangent)

    def run(self, func: Callable, args: tuple, kwargs: dict) -> Any:
        """Call the function, which may write to its arguments and to what it makes."""
        with watching_writes(tree_leaves((args, kwargs))) as own:
            self.own = own
            own.records_outside, own.is_reverse = self.records_outside, True
            return func(*args, **kwargs)

    def close(self) -> None:
        """From now on, histories that end in the inputs of this level lead nowhere."""
        for node in self._nodes:
            node.is_open = False

    def let_go(self) -> None:
        """What the function has kept of its tensors, and the graph of what was saved, stay without this level."""
        returned = list(self._released.values())
        self._released.clear()
        tensors = [*[alias for alias, _ in self._inputs.values()], *self.own.made]
        let_go(tensors, returned, self.graph, set(self._nodes), self.own, self._is_outside)

    def released(self, tensor: Any) -> Any:
        """A tensor that the function returned, as it is outside of the level."""
        known = self._inputs.get(id(tensor)) or self._released.get(id(tensor))
        if known is None:
            whose = self.own.data.get(id(tensor))
            outside = self._outside(tensor) if whose is None else self.released(whose[1])
            self.keep(outside)
            known = self._released[id(tensor)] = tensor, outside
        return known[1]

    def edge_of(self, tensor: Tensor) -> Any:
        """The edge of an input or a result: an input has one even if it may not be used."""
        left = self._left(tensor)
        if left is not None:
            edge = left.inside
        else:
            edge = noted_edge(tensor) if id(tensor) in self._inputs else edge_of(tensor)
        return edge or self._nowhere(tensor, edge)

    def has_history(self, tensor: Tensor) -> bool:
        """Whether gradients are asked for from a result: not from one that is another tensor outside only."""
        return id(tensor) not in self.own.data and self.edge_of(tensor) is not None

    def _left(self, tensor: Tensor) -> Any:
        """What a tensor is here that has left this level; None for others."""
        return next((left for left in lefts_of(tensor) if left.graph is self.graph), None)

    def _nowhere(self, tensor: Tensor, edge: Any) -> Any:
        """A view of no_grad mode leads nowhere, still if what it is a view of has left the level. The mode inside a
        transform has nothing to do with views of what those around it have made."""
        if not is_view(tensor):
            return edge
        base = tensor._mt_meta.base
        is_of_outer = owner_of(base) not in (None, self.own)
        base_left = self._left(base)
        is_apart = edge is None and (base_left is None or base_left.inside is None)
        is_marked = tensor._mt_meta.creation_meta == IN_CUSTOM_FUNCTION  # has no gradient, as what is no view has none
        return None if is_of_outer or is_apart or is_marked else NOWHERE

    def _outside(self, tensor: Tensor) -> Tensor:
        meta = tensor._mt_meta
        if type(meta) is ViewMeta:
            base = self.released(meta.base)
            is_other = base is not meta.base or tensor in self.own.made
            if is_other or (meta.edge and not self.records_outside and self._is_made_here(meta.edge)):
                return self._view_outside(tensor, meta, base)
        edge = edge_of(tensor)
        if not edge or not self._is_made_here(edge):
            return tensor
        if not self._is_recorded_outside(edge):
            return _alias(tensor, self.released)
        return self._apart(tensor, edge) if tensor in self.own.made else tensor

    def _apart(self, tensor: Tensor, edge: Any) -> Tensor:
        """Another tensor, of the same place in the graph: the function may have kept the one that it has made."""
        outside = _alias(tensor, self.released)
        if type(tensor) is Tensor:
            outside._mt_edge = edge
        return outside

    def _view_outside(self, tensor: Tensor, meta: ViewMeta, base: Tensor) -> Tensor:
        """The same view of what its base is outside, with the history that it has: taken again, it would go back to the
        base in one step, and what a custom Function has returned would know nothing of the Function."""
        edge = meta.edge
        state.set_grad_enabled(edge is not None and self.records_outside)  # a view of another mode stays one
        try:
            view = ViewRecipe(tensor, meta.base)(base)
        finally:
            state.set_grad_enabled(True)
        outside = view._mt_meta
        if type(outside) is ViewMeta:
            if meta.creation_meta in (IN_CUSTOM_FUNCTION, MULTI_OUTPUT):
                outside.creation_meta = meta.creation_meta
            if edge and self._is_recorded_outside(edge):
                outside.edge, outside.version = edge, meta.version
        _give_tangents(view, tensor, self.released)  # of which its base need not have any
        return view

    def _is_made_here(self, edge: Any) -> bool:
        """Whether a tensor with an edge is younger than the level; others are captured, and the same outside."""
        node = edge[0]
        if node.accumulates:
            return self.own.made.has(node.leaf)
        return not self._nodes or node.sequence_nr >= self._nodes[0].sequence_nr

    def _is_recorded_outside(self, edge: Any) -> bool:
        return self.records_outside and self.reaches_outside((edge,))

    def reaches_outside(self, edges: Iterable[Any]) -> bool:
        """Whether a graph has an end outside: neither the input of a level that is over nor a leaf that the function
        has made."""
        waiting = [edge[0] for edge in edges if edge]
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            if leads_nowhere(node) or (node.begins and self._is_outside(node)):
                return True
            following = nodes_behind(node) - seen
            seen |= following
            waiting.extend(following)
        return False

    def _is_outside(self, node: Any) -> bool:
        if type(node) is LevelInput:
            return node.is_open or node.requires_grad_outside
        return not (is_over_leaf(node) or self.own.made.has(node.leaf))


def _may_become_unreadable(tensor: Tensor) -> bool:
    """Whether a tensor is a view that takes part in a graph, and may not be used when its base is written."""
    meta = tensor._mt_meta
    if type(meta) is not ViewMeta or meta.creation_meta == DEFAULT:
        return False
    return meta.edge is not None or edge_of(meta.base) is not None


def _follow_outside(alias: Tensor, tensor: Any, node: LevelInput) -> None:
    """Have every op that is recorded refuse an input as it would refuse the view that was given, if its base was
    written."""
    meta = new_object(ViewMeta)
    vars(meta).update(vars(tensor._mt_meta))
    meta.tangents = alias._mt_meta.tangents if alias._mt_meta is not None else None
    meta.parent, meta.edge, meta.hooks, meta.grad = tensor._mt_meta, edge_to(node), None, None
    alias._mt_edge, alias._mt_meta, alias._mt_version = ASK, meta, share_version(tensor)


def _alias(tensor: Tensor, kept: Callable = lambda tangent: tangent) -> Tensor:
    """The same tensor outside of the graph and of inference mode, with its tangents, or what is to be kept of them."""
    alias = ask_op("detach", tensor) if dispatching_arguments((tensor,)) else detached(tensor, tensor._mt_array)
    if alias.is_inference():
        autograd_meta(alias).inference = False
    _give_tangents(alias, tensor, kept)
    return alias


def _give_tangents(alias: Tensor, tensor: Tensor, kept: Callable) -> None:
    """Give a tensor the tangents of another one, or what is to be kept of them."""
    for number, tangent in _tangents(tensor).items():
        set_tangent(alias, kept(tangent), number)


def _tangents(tensor: Tensor) -> dict[int, Tensor]:
    """The tangents of a tensor, by level."""
    numbers = range(_thread.dual_level + 1)
    return {number: tangent for number in numbers if (tangent := tangent_of(tensor, number)) is not None}


@contextmanager
def reverse_level() -> Iterator[Level]:
    """A level of reverse mode: the function in it is recorded, whatever grad mode is outside."""
    with disable_saved_tensors_hooks(_NO_HOOKS), outside_of_inference(), running_transform():
        grad_enabled = _thread.grad_enabled
        level = Level()
        state.set_grad_enabled(True)
        try:
            yield level
        finally:
            level.close()
            level.is_running = False
            level.let_go()
            state.set_grad_enabled(grad_enabled)


@contextmanager
def running_transform() -> Iterator[int]:
    """Say that a transform runs in this thread; the number of transforms that do, this one included."""
    _thread.transforms += 1
    try:
        yield _thread.transforms
    finally:
        _thread.transforms -= 1


@contextmanager
def outside_of_inference() -> Iterator[None]:
    """Make ordinary tensors, whatever the mode. What is differentiated are not the program's tensors, and they have
    derivatives in any mode; but outside, nothing is recorded in inference mode, whatever grad mode is."""
    inference, grad_enabled = _thread.inference, _thread.grad_enabled
    state.set_grad_enabled(grad_enabled and not inference)
    set_inference(False)
    try:
        yield
    finally:
        set_inference(inference)
        state.set_grad_enabled(grad_enabled)
