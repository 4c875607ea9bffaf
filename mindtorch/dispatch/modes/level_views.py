"""The same tensor on both sides of a level of `vmap`.

Note [Views across levels]: what `vmap` gives its function is a view of what it was given, and what it returns is a
view of what the function returned. So both share a version, and writing one of them moves the other one in the graph,
by what autograd does for views in any case (mindtorch/autograd/_engine/history.py). To programs such a view is no view:
it has no `_base` on its side of the level.

A view refers to its base. Where the function returns a tensor that it has made, the roles are changed (`make_root`):
the tensor outside is the base, and that inside a view of it. Otherwise the results of `vmap` would keep its level
alive.

The ops `_add_batch_dim` and `_remove_batch_dim` themselves make no views, which is right for gradients.
"""

from collections.abc import Callable
from typing import Any
from weakref import ref

from mindtorch._core import state
from mindtorch._core.autograd_meta import DEFAULT, AutogradMeta, ViewMeta, note_inference_leaf
from mindtorch._core.batched_array import BatchedArray, Level, levels_of
from mindtorch._core.geometry import strides_of
from mindtorch._core.size import size_of
from mindtorch._core.tensor import ASK, Tensor, alias_of, autograd_meta, new_object, share_version, view_of
from mindtorch.dispatch.namespace import ops

_thread = state.thread


def inside(tensor: Tensor, dim: int, level: Level) -> Tensor:
    """A tensor as it looks inside a level whose samples are along a dimension of it."""
    view = _view(ops._add_batch_dim, tensor, (dim, level.number), (inside, (dim, level)))
    if type(view._mt_meta) is ViewMeta and view._mt_meta.parent is not None:
        view._mt_meta.entered = ref(tensor)
    return view


def entered_again(view: Tensor) -> Tensor | None:
    """A view that has entered a level, as it enters it now; None if it has taken another shape inside, or is no more.

    It is to go through the view outside, so that a gradient for that one is that of what was written inside.
    """
    meta: Any = view._mt_meta
    tensor = meta.entered and meta.entered()
    if tensor is None:
        return None
    fresh = inside(tensor, *meta.replay[1])
    return fresh if (fresh.shape, fresh.stride()) == (view.shape, view.stride()) else None


def as_it_entered(tensor: Tensor) -> Tensor | None:
    """The tensor outside of a level that one inside of it is, if it has been given to a function of `vmap`."""
    meta = tensor._mt_meta
    is_entered = type(meta) is ViewMeta and meta.parent is None and meta.replay is not None and meta.replay[0] is inside
    return meta.base if is_entered else None


def entered_whole(view: Tensor) -> list[Level]:
    """The levels, the innermost first, that a tensor has entered with its samples along the first dimension, if that is
    all there is between a view and its base."""
    levels: list[Level] = []
    meta = view._mt_meta
    if type(meta) is not ViewMeta or type(meta.base._mt_meta) is ViewMeta:
        return levels
    while type(meta) is ViewMeta:
        if meta.replay is None or meta.replay[0] is not inside or meta.replay[1][0] != 0:
            return []
        levels.append(meta.replay[1][1])
        meta = meta.parent
    return levels if _is_row_of(view, view._mt_meta.base, len(levels)) else []


def _is_row_of(view: Tensor, base: Tensor, count: int) -> bool:
    """Whether a sample, which may have taken another shape in place, lies as its base does behind some dimensions."""
    return (base.shape[count:], base.stride()[count:]) == (view.shape, view.stride())


def is_of_argument(tensor: Tensor) -> bool:
    """Whether a tensor is a view of what was given to a function of `vmap`, or is that itself."""
    meta = tensor._mt_meta
    while type(meta) is ViewMeta:
        if meta.replay is not None and meta.replay[0] is inside:
            return True
        meta = meta.parent
    return False


def outside(tensor: Tensor, dim: int, level: Level) -> Tensor:
    """A tensor as it looks outside of a level, with the samples along a dimension."""
    view = _left(tensor, dim, level)
    _shorten(view, view._mt_meta)
    return view


def _left(tensor: Tensor, dim: int, level: Level) -> Tensor:
    array = tensor._mt_array
    moves = type(array) is BatchedArray and array.level is level and array.bdim != dim
    return _view(ops._remove_batch_dim, tensor, (level.number, level.size, dim), (outside, (dim, level)), moves)


def spread_over(tensor: Tensor, level: Level) -> Tensor:
    """A tensor that is the same for all samples of a level, as often as there are samples."""
    return _view(ops._spread_over_level, tensor, (level.number,), (spread_over, (level,)))


def samples_of(fresh: Tensor, dim: int, level: Level) -> Tensor:
    """The samples of a tensor that was made for them: they are no view of anything."""
    view = inside(fresh, dim, level)
    make_root(view, (outside, (dim, level)))
    return view


def left(tensor: Tensor, dim: int, level: Level, moves_outside: bool = True) -> Tensor:
    """A tensor that leaves a level for good. What is outside of it afterwards does not refer to the level. To move the
    samples is an op outside, as it is to programs, unless they are those of a gradient."""
    array = tensor._mt_array
    place: Any = array.bdim if moves_outside and type(array) is BatchedArray and array.level is level else dim
    view = _left(tensor, place, level)
    _let_go(view, place, level)
    return view if place == dim else ops.permute(view, _moved(view.ndim, place, dim))


def _moved(ndim: int, source: int, target: int) -> tuple[int, ...]:
    order = [dim for dim in range(ndim) if dim != source]
    order.insert(target, source)
    return tuple(order)


def _let_go(view: Tensor, dim: int, level: Level) -> None:
    """Have a view, and its tangents, not refer to the level that it has left."""
    meta = view._mt_meta
    if type(meta) is not ViewMeta:
        return
    if meta.tangents is not None:
        for tangent in meta.tangents.by_level.values():
            if tangent is not None:
                _let_go(tangent, dim, level)
    root = meta.base
    if level not in levels_of(root._mt_array.shape):
        _shorten(view, meta)
    elif meta.parent is None:
        make_root(view, (inside, (dim, level)))
    else:
        meta.base = _root_of(left(root, _place_of(root._mt_array, level), level))
        _shorten(view, meta)


def _place_of(array: Any, level: Level) -> int:
    """Where the samples of a level may be put so that the elements need not be moved."""
    return array.bdim if array.level is level else 0


def _root_of(tensor: Tensor) -> Tensor:
    while type(tensor._mt_meta) is ViewMeta:
        tensor = tensor._mt_meta.base
    return tensor


def _view(op: Callable, source: Tensor, args: tuple, replay: tuple, moves: bool = False) -> Tensor:
    """The result of an op as a view of its input.

    Tensors of inference mode have no version, and no views.
    """
    return _as_view(_crossed(op, source, args, moves), source, replay, moves)


def _crossed(op: Callable, source: Tensor, args: tuple, moves: bool) -> Tensor:
    """The result of an op, whose place in the graph is that of the input whatever grad mode is, unless the samples are
    moved to another dimension, which is an op to programs, too."""
    if source.is_inference() and source._mt_edge:  # what a Function has returned is recorded in any mode
        edge, source = source._mt_edge, alias_of(source)
        source._mt_edge = edge
    records = not _is_from_another_mode(source)
    if moves or source._mt_edge is None or records is _thread.grad_enabled:
        return op(source, *args)
    grad_enabled = _thread.grad_enabled
    state.set_grad_enabled(records)
    try:
        return op(source, *args)
    finally:
        state.set_grad_enabled(grad_enabled)


def _is_from_another_mode(tensor: Tensor) -> bool:
    """Whether a tensor is a view without a place in the graph of its own: it is a leaf, or, once its base was written,
    may not be asked for it."""
    meta = tensor._mt_meta
    if type(meta) is not ViewMeta or meta.creation_meta == DEFAULT:
        return False
    return meta.edge is None or meta.version != tensor._mt_version[0]  # type: ignore[index]


def _as_view(fresh: Tensor, source: Tensor, replay: tuple, moves: bool = False) -> Tensor:
    if type(fresh) is not Tensor:
        return fresh
    if source.is_inference():
        meta = autograd_meta(fresh)
        meta.inference = True
        if fresh._mt_edge:
            note_inference_leaf(meta)
        return fresh
    view = view_of(source, fresh._mt_array, None, replay)
    own = view._mt_meta
    assert type(own) is ViewMeta
    own.base = _root_of(own.base)
    if not moves:  # then grad mode makes no difference
        own.creation_meta = DEFAULT if own.parent is None else own.parent.creation_meta
    own.edge = fresh._mt_edge
    if own.edge is None and type(source._mt_meta) is ViewMeta:
        # A view that may not be asked for its place any more stays one.
        own.edge, own.version = source._mt_meta.edge, source._mt_meta.version
    if fresh._mt_meta is not None:
        own.tangents = fresh._mt_meta.tangents
        _tie_tangents(own.tangents, source, replay)
    return view


def share_memory(result: Tensor, source: Tensor) -> Tensor:
    """A result on the memory of another tensor that is no view of it: what is written through one changes both."""
    if not (source.is_inference() or result.is_inference()):
        result._mt_version = share_version(source)
    return result


def take_from_all(view: Any, samples: Tensor, depth: int) -> None:
    """Have autograd take a view from all samples: inside `vmap`, strides may reach what belongs to other ones.

    `depth`: that of the transform whose tensors the samples are; its own gradients are those of single samples.
    """
    meta = view._mt_meta
    if type(meta) is not ViewMeta or meta.edge is None:
        return
    crossed = peeled(samples._mt_array, sum(level.depth < depth for level in levels_of(samples._mt_array.shape)))[1]
    if not crossed:
        return
    offset = view.storage_offset() - samples.storage_offset()
    for dim, level in reversed(crossed):
        samples = outside(samples, dim, level)
    crossing = Crossing(view._mt_array, samples._mt_array, is_whole=False)
    shape, stride = size_of(crossing.array.shape), strides_of(crossing.array)
    meta.edge = crossing.taken(samples, shape, stride, offset)._mt_meta.edge


def _tie_tangents(tangents: Any, source: Tensor, replay: tuple) -> None:
    """Make the tangents of a view views of the tangents that the base has."""
    outer = source._mt_meta.tangents if tangents is not None and source._mt_meta is not None else None
    if outer is not None:
        by_level = tangents.by_level
        for level, tangent in by_level.items():
            if tangent is not None and outer.by_level.get(level) is not None:
                by_level[level] = _tangent_outside(tangent, outer.by_level[level], replay)


def _tangent_outside(tangent: Tensor, source: Tensor, replay: tuple) -> Tensor:
    """A tangent on the other side of a level: one that has entered there, and is still the same, as it was before."""
    entered = as_it_entered(source)
    if entered is not None and replay == (outside, source._mt_meta.replay[1]):
        return entered
    return _as_view(tangent, source, replay)


def _shorten(view: Tensor, meta: Any) -> None:
    """Let a view that is at the levels of its base not refer to those in between: strides express it, too."""
    if type(meta) is not ViewMeta:
        return
    array, root = view._mt_array, meta.base._mt_array
    if array.dtype == root.dtype and levels_of(array.shape) == levels_of(root.shape):
        meta.parent = meta.output_nr = None
        meta.replay = (ops.as_strided, (size_of(array.shape), strides_of(array), view.storage_offset()))


def make_root(view: Tensor, replay: tuple) -> None:
    """Change the roles of a view and its base, which are the same tensor on two sides of a level.

    `replay` makes what was the base of what was the view.
    """
    meta = view._mt_meta
    if type(meta) is not ViewMeta or meta.parent is not None or type(meta.base._mt_meta) is ViewMeta:
        return
    base, old = meta.base, meta.base._mt_meta
    if old is not None and old.requires_grad:
        return
    turned = new_object(ViewMeta)
    if old is not None:
        vars(turned).update(vars(old))
    turned.base, turned.replay = view, replay
    turned.edge, turned.version = base._mt_edge, view._mt_version[0]  # type: ignore[index]
    view._mt_edge, view._mt_meta = meta.edge, None
    if meta.tangents is not None:
        view._mt_meta = AutogradMeta()
        view._mt_meta.tangents = meta.tangents
    base._mt_edge, base._mt_meta = ASK, turned


CROSSINGS = (inside, outside, spread_over)
_OTHER_MEMORY = "vmap: a tensor was written in place through one that looks at all its samples: this is not supported"


class Crossing:
    """How the levels of a view differ from those of its base; whether that is all (`is_whole`), no strides between."""

    __slots__ = ("array", "entered", "left", "geometry", "is_whole")

    def __init__(self, view: Any, base: Any, is_whole: bool) -> None:
        self.is_whole = is_whole
        common = _common(levels_of(view.shape), levels_of(base.shape))
        self.array, self.entered = peeled(view, common)
        root, self.left = peeled(base, common)
        self.geometry = size_of(root.shape), strides_of(root)

    def taken(self, tensor: Tensor, shape: Any, stride: Any, offset: int) -> Tensor:
        """The view of a tensor that lies in memory as the base does."""
        for dim, level in reversed(self.left):
            tensor = outside(tensor, dim, level)
        if self.left and (tensor.shape, tensor.stride()) != self.geometry:
            raise RuntimeError(_OTHER_MEMORY)
        if not self.is_whole or (tensor.shape, tensor.stride()) != (shape, stride):
            tensor = ops.as_strided(tensor, shape, stride, tensor.storage_offset() + offset)
        for dim, level in self.entered:
            tensor = inside(tensor, dim, level)
        return tensor


def _common(some: tuple, others: tuple) -> int:
    """How many levels two arrays share, counted from the lowest one."""
    count = 0
    for one, other in zip(some, others):
        if one is not other:
            break
        count += 1
    return count


def peeled(array: Any, count: int) -> tuple[Any, list[tuple[int, Level]]]:
    """An array without all but its lowest levels, and these levels, innermost call last."""
    crossed: list[tuple[int, Level]] = []
    while type(array) is BatchedArray and (array.bdim is None or len(levels_of(array.shape)) > count):
        if array.bdim is not None:
            crossed.insert(0, (array.bdim, array.level))
        array = array.inner
    return array, crossed
