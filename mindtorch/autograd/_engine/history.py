"""Where a tensor stands in the backward graph, and how writing in place moves it.

Note [Views follow their base]: a view's place in the graph is that of its base with the view taken again. Every write
through the base or any of its views moves the base to a new node and raises the version they share; a view whose
`version` is older than that takes its view again, from the base as it is now, when it is asked for its edge.
"""

import threading
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any
from weakref import ref

from mindtorch._core import state
from mindtorch._core.autograd_meta import (
    DEFAULT,
    INFERENCE,
    MULTI_OUTPUT,
    NO_GRAD,
    AutogradMeta,
    ViewMeta,
    note_inference_leaf,
)
from mindtorch._core.batched_array import Level
from mindtorch._core.tensor import ASK, Tensor, alias_of, autograd_meta, edge_to, set_output, share_version
from mindtorch._support import errors
from mindtorch.autograd._engine.accumulate_grad import ONE_OWNER, AccumulateGrad
from mindtorch.autograd._engine.copy_slices import CopySlices
from mindtorch.autograd._engine.hooks_in_levels import is_over, shown_node, shown_output
from mindtorch.dispatch.modes.captures import is_captured_unrecorded
from mindtorch.dispatch.modes.level_views import CROSSINGS, entered_again, entered_whole
from mindtorch.dispatch.modes.view_recipe import ViewRecipe
from mindtorch.dispatch.namespace import ops

IN_CUSTOM_FUNCTION = "custom_function"  # a `creation_meta` besides those of autograd_meta: a Function returned it

NOWHERE = ()  # an edge, see `edge_of`

_thread = state.thread
_moving = threading.RLock()  # of two threads that ask for a place in the graph that is to be made, one makes it


def edge_of(tensor: Any) -> Any:
    """The `(node, output_nr)` that a gradient of the tensor goes to; None if it takes no part in autograd.

    NOWHERE is that of a view that was made without grad mode, and only requires grad because its base does: what is
    done with it is recorded, but no gradient gets there.
    """
    edge = tensor._mt_edge
    if edge or edge is None:
        return edge
    meta = tensor._mt_meta
    if type(meta) is ViewMeta:
        if meta.is_same:
            meta.edge = edge_of(meta.base)
            return meta.edge
        if _thread.own_tensors is not None and is_out_of_date(tensor) and is_captured_unrecorded(tensor):
            return None
        if meta.base._mt_edge is None and meta.edge is None and not meta.requires_grad:
            return None
        _follow_base(tensor, meta)
        if meta.edge is not None:
            return meta.edge
        if not meta.requires_grad:
            return None if edge_of(meta.base) is None else NOWHERE
    return edge_to((meta.accumulator and meta.accumulator()) or _accumulator_of(tensor, meta))


def edge_to_keep(tensor: Any) -> Any:
    """The edge of what is kept: even a view that may not be read any more is, if it has no node. One that leads nowhere
    is that of a leaf."""
    meta = tensor._mt_meta
    if may_be_taken_again(tensor) or meta.edge is not None:
        edge = edge_of(tensor)
    else:
        edge = NOWHERE if meta.requires_grad or edge_of(meta.base) is not None else None
    return edge_to(_accumulator_of(tensor, meta)) if edge is NOWHERE else edge


def _accumulator_of(tensor: Any, meta: AutogradMeta) -> AccumulateGrad:
    """The node of a leaf that does not have it in its edge, made if there is none: one for all graphs and threads."""
    with _moving:
        node = meta.accumulator and meta.accumulator()
        if node is None:
            node = AccumulateGrad(tensor)
            meta.accumulator = ref(node)
    return node


def is_view(tensor: Any) -> bool:
    """Whether a tensor is a view to autograd; to programs those across a level of `vmap` are none."""
    return tensor._mt_meta is not None and tensor._mt_meta.base is not None


def may_be_taken_again(tensor: Any) -> bool:
    """Whether a tensor may be asked for its place in the graph even if what it is a view of has been written."""
    meta = tensor._mt_meta
    return type(meta) is not ViewMeta or meta.creation_meta == DEFAULT


def is_out_of_date(tensor: Any) -> bool:
    """Whether a tensor is a view that may not be asked for its place in the graph any more, as its base was written."""
    meta = tensor._mt_meta
    if type(meta) is not ViewMeta or meta.creation_meta == DEFAULT or meta.version == tensor._mt_version[0]:
        return False
    return meta.edge is not None or edge_of(meta.base) is not None


def refuse_complex(op: str, *tensors: Any) -> None:
    """torch's error of an op that it does not differentiate for complex tensors, which its kernel may take."""
    if any(tensor is not None and tensor.is_complex() for tensor in tensors):
        raise RuntimeError(f"{op} does not support automatic differentiation for outputs with complex dtype.")


def edges_of(tensors: Sequence[Any]) -> tuple:
    """The edges of a list of tensors, some of which may be None; nothing when no gradient is wanted."""
    for tensor in tensors:
        if tensor is not None and tensor._mt_edge is not None:
            edges = [None if tensor is None else tensor._mt_edge or edge_of(tensor) for tensor in tensors]
            if NOWHERE in edges:
                return tuple([edge or None for edge in edges])
            return tuple(edges) if any(edges) else ()
    return ()


def noted_edge(tensor: Tensor) -> Any:
    """The edge of a tensor as it was noted last: a view is not taken again, which is an error if it may not be."""
    return tensor._mt_edge or (tensor._mt_meta.edge if type(tensor._mt_meta) is ViewMeta else None)


def require_grad(leaf: Tensor) -> None:
    """Make a tensor a leaf whose gradient is computed. A view that is a leaf goes on asking its base first."""
    meta = autograd_meta(leaf)
    if meta.inference and not meta.requires_grad:
        note_inference_leaf(meta)
    meta.requires_grad = True
    accumulator = meta.accumulator
    node = accumulator and accumulator()
    leaf._mt_edge = ASK if meta.base is not None else edge_to(node or AccumulateGrad(leaf))


def stop_requiring_grad(leaf: Tensor) -> None:
    """Make a tensor a leaf without a gradient. With requires_grad it gets its node back, if a graph leads to it."""
    meta = leaf._mt_meta
    if meta is not None:
        meta.requires_grad = False
        if meta.base is not None:
            leaf._mt_edge = ASK
        elif leaf._mt_edge:
            meta.accumulator = ref(leaf._mt_edge[0])
            leaf._mt_edge = None


def set_array(tensor: Tensor, array: Any, keep_node: bool = True) -> None:
    """Give a tensor another array, perhaps of another shape.

    The node of a leaf stays if a graph leads to it, so that no part of the gradient is lost. It goes on expecting
    gradients of the shape that the leaf had. If the new array is of another type, or without `keep_node`, the leaf gets
    a new node, and that graph keeps the old one.
    """
    old = tensor._mt_array
    if array is old:
        return
    tensor._mt_array = array
    tensor._mt_kind = None
    keep_node = keep_node and type(array) is type(old) and array.dtype == old.dtype
    edge = tensor._mt_edge
    if edge and edge[0].accumulates:
        node = edge[0]
        if keep_node and (getrefcount(edge) > ONE_OWNER or getrefcount(node) > ONE_OWNER):
            node.array = array
        else:
            tensor._mt_edge = edge_to(AccumulateGrad(tensor))
    elif tensor._mt_meta is not None:
        _update_accumulator(tensor._mt_meta, array, keep_node)


def _update_accumulator(meta: AutogradMeta, array: Any, keep_node: bool) -> None:
    """`set_array` for a leaf whose node is not in its edge."""
    node = meta.accumulator and meta.accumulator()
    if keep_node and node is not None:
        node.array = array
    else:
        meta.accumulator = None


def become_leaf(tensor: Tensor, accumulator: AccumulateGrad) -> None:
    """Make a fresh tensor stand for the leaf of an AccumulateGrad."""
    autograd_meta(tensor).requires_grad = True
    tensor._mt_edge = edge_to(accumulator)


# -------------------- views --------------------


def _follow_base(view: Tensor, meta: ViewMeta) -> None:
    """Take the view again if its base was written since. See Note [Views follow their base]."""
    if meta.version == view._mt_version[0] or (meta.edge is None and edge_of(meta.base) is None):  # type: ignore[index]
        return
    with _moving:
        version = view._mt_version[0]  # type: ignore[index]
        if meta.version != version:  # or another thread has taken it again: there has to be one node
            _take_again(view, meta, version)


def _take_again(view: Tensor, meta: ViewMeta, version: int) -> None:
    _check_writable(meta, "its base or another view of its base has been")
    old = meta.edge
    meta.edge = _recorded(_edge_on_base, view, meta.base)
    move_hooks(meta, old, meta.edge)
    meta.version = version  # the last thing: from now on the view is asked without the lock


def _recorded(function: Callable, *args: Any) -> Any:
    """What a function gives that records, whatever mode the program is in."""
    grad_enabled, inference = _thread.grad_enabled, _thread.inference
    state.set_grad_enabled(True)
    _thread.inference = False
    try:
        return function(*args)
    finally:
        state.set_grad_enabled(grad_enabled)
        _thread.inference = inference


def _edge_on_base(view: Tensor, base: Tensor) -> tuple:
    """The edge of the view taken again. If the base is outside of the graph, the view's node leads nowhere."""
    if edge_of(base) is not None:
        again = entered_again(view)
        if again is not None:
            return again._mt_meta.edge
        return ViewRecipe(view, base)(base)._mt_meta.edge
    stand_in = alias_of(base)
    require_grad(stand_in)
    edge = ViewRecipe(view, base)(stand_in)._mt_meta.edge
    edge[0].next_edges = (None,) * len(edge[0].next_edges)
    return edge


# -------------------- writing in place --------------------


def check_recorded_write(tensor: Tensor) -> None:
    """An op that is made of others refuses what may not be written before it looks at anything else."""
    if _thread.grad_enabled and edge_of(tensor) is not None:
        check_inplace(tensor)


def check_inplace(tensor: Tensor) -> None:
    """Refuse an in-place op that is about to be recorded, if the tensor may not be written."""
    meta = tensor._mt_meta
    if meta is None:
        return
    if meta.left is not None:
        _check_left(tensor, meta.left)
    _check_data(meta)
    if meta.base is not None:
        if meta.is_same:
            return check_inplace(meta.base)
        if is_input_of_level(meta):
            raise _leaf_write()
        _check_writable(meta, "is being")
        if edge_of(tensor) is not None and is_leaf(meta.base):
            written = "a leaf Variable" if _is_the_same(meta) else "a view of a leaf Variable"
            raise RuntimeError(f"{written} that requires grad is being used in an in-place operation.")
    if meta.requires_grad:
        raise _leaf_write()


def _check_data(meta: AutogradMeta) -> None:
    """Refuse to write, through `data`, a tensor that is recorded outside of its transform, while that runs: the write
    would have to be recorded there and not inside, but there is one graph."""
    whole = meta if meta.base is None else meta.base._mt_meta
    if whole is not None and whole.is_recorded_data and whole.left is None:
        raise RuntimeError(
            "The data of a tensor cannot be written in place inside of a transform if the tensor requires grad in the "
            "autograd or a transform around it. Write the tensor itself, or detach() it."
        )


def _check_left(tensor: Tensor, left: Any) -> None:
    """Refuse to write what is another tensor outside of the transform that it has left, whose history does not
    follow: an input, or what the function has returned, too."""
    edge = tensor._mt_edge
    is_input = bool(edge) and is_over(edge[0])
    if is_input and shown_node(edge)[0].begins:
        raise _leaf_write()
    if is_input or (left.returned is not None and left.returned() is not None):
        raise RuntimeError(
            "A tensor that was kept by the function of a transform cannot be written in place after the transform if "
            "it was given to the function or returned by it, and is part of a graph. Write the tensor outside instead."
        )


def _leaf_write() -> RuntimeError:
    return RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def is_input_of_level(meta: ViewMeta) -> bool:
    """Whether a view is an input of the transform that runs, or of its samples, and so a leaf inside."""
    while not (meta.requires_grad and meta.edge is not None and meta.edge[0].begins):
        if meta.replay is None or meta.replay[0] not in CROSSINGS or meta.parent is None:
            return False
        meta = meta.parent
    return True


def check_constant(op: str, argument: str, *tensors: Any) -> None:
    """Refuse tensors that require grad where an op has no gradient to give."""
    if _thread.grad_enabled and any(isinstance(tensor, Tensor) and edge_of(tensor) is not None for tensor in tensors):
        raise RuntimeError(
            f"The function '{op}' is not differentiable with respect to argument '{argument}'. This input cannot have "
            "requires_grad True."
        )


def check_writable(op: str, argument: str, *tensors: Tensor) -> None:
    """Refuse what an op may not change besides its `self`: tensors that require grad, since nothing is recorded of the
    change, and those of inference mode."""
    check_constant(op, argument, *tensors)
    if not _thread.inference and any(tensor.is_inference() for tensor in tensors):
        raise errors.inference_write()


def mark_written(tensor: Tensor) -> None:
    """Raise the version that the tensor shares with its views."""
    counter = tensor._mt_version
    if counter is not None:
        counter[0] += 1
    elif tensor._mt_meta is None or not tensor._mt_meta.inference:
        share_version(tensor)[0] += 1
    elif not _thread.inference:
        raise errors.inference_write()


def written(tensor: Tensor, node: Any = None) -> Tensor:
    """What an op has written, and of which node it is the output now, if of any."""
    if (counter := tensor._mt_version) is not None:
        counter[0] += 1
    else:
        mark_written(tensor)
    if node is not None:
        rebase(tensor, node)
    return tensor


def rebase(tensor: Tensor, node: Any, output_nr: int = 0) -> None:
    """Make a tensor that was written in place the output of the node."""
    meta = tensor._mt_meta
    if meta is not None and meta.base is not None:
        if meta.is_same:
            rebase(meta.base, node, output_nr)
        else:
            _rebase_view(tensor, node)
        return
    old = tensor._mt_edge
    set_history(tensor, node, output_nr)
    if meta is not None:
        move_hooks(meta, old, tensor._mt_edge)


def set_history(tensor: Tensor, node: Any, output_nr: int = 0) -> None:
    """Make a tensor the output of the node."""
    set_output(node, tensor._mt_array)
    meta = tensor._mt_meta
    if meta is not None:
        meta.requires_grad = False  # it is no leaf any more; the output of a custom Function may have been one
        if meta.inference:
            note_inference_leaf(meta)
    if meta is not None and meta.base is not None:
        meta.edge = edge_to(node, output_nr)
        meta.version = tensor._mt_version[0]  # type: ignore[index]
    else:
        tensor._mt_edge = edge_to(node, output_nr)


def _rebase_view(view: Tensor, node: Any) -> None:
    """The base becomes the output of a CopySlices around the node; the view follows it. The samples along the first
    dimension of a base are no view of it to programs: it becomes the output of the node itself."""
    base = view._mt_meta.base
    set_output(node, view._mt_array)
    old = edge_of(base) or None
    levels = entered_whole(view)
    if levels:
        rebase(base, _put_together(view, node, levels))
    else:
        rebase(base, CopySlices(old, base, view, node))  # which may be a view itself: of the tensor outside of a `vmap`
    view._mt_meta.version = -1  # whatever it has followed since the write, it is to follow the base again
    edge_of(view)


def _put_together(view: Tensor, node: Any, levels: Sequence[Level]) -> Any:
    """The node that puts the samples together which are the output of a node, those of the innermost level first."""
    samples = alias_of(view)
    samples._mt_edge = edge_to(node)
    for level in levels:
        samples = _recorded(ops._remove_batch_dim, samples, level.number, level.size, 0)
    return samples._mt_edge[0]


def move_hooks(meta: AutogradMeta, old: Any, new: Any) -> None:
    """After an in-place op: hooks stay with the old value, `retain_grad` goes on with the new one.

    Not if the tensor has taken another shape in between: then it stays with the value that had the old shape.
    """
    meta.hooks = None
    extras = old[0].extras if meta.retains_grad and old else None
    if extras and old[1] in extras.retained:
        new[0].retain(new[1], extras.retained.pop(old[1]))


# -------------------- what may not be written --------------------

_TWO_SIDES = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {} block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)
_REASONS = {
    MULTI_OUTPUT: (
        " This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
    ),
    NO_GRAD: _TWO_SIDES.format("no_grad"),
    INFERENCE: _TWO_SIDES.format("inference_mode"),
    IN_CUSTOM_FUNCTION: (
        " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
        "logic to handle view+inplace would override the custom backward associated with the custom Function, leading "
        "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function."
    ),
}


def _check_writable(meta: ViewMeta, what_happened: str) -> None:
    """Raise torch's error if the view was made in a way that forbids writing to it or to its base."""
    creation_meta = meta.creation_meta
    if creation_meta == DEFAULT:
        return
    while meta.parent is not None and _is_same_inside(meta):
        meta = meta.parent
    source = meta.edge and f"Output {shown_output(meta.edge)} is a view"
    if creation_meta not in (NO_GRAD, INFERENCE) and source:
        what = f"{source} and {what_happened} modified inplace."
    else:
        origin = f"{source} of a view which was created" if source else "A view was created"
        where = "in inference mode" if creation_meta == INFERENCE else "in no_grad mode"
        now = "in normal mode" if creation_meta == INFERENCE else "with grad mode enabled"
        what = f"{origin} {where} and {what_happened} modified inplace {now}."
    raise RuntimeError(what + _REASONS[creation_meta])


def _is_same_inside(meta: ViewMeta) -> bool:
    """Whether a view is its parent as that looks inside of a transform."""
    if meta.edge and meta.edge[0].begins:
        return True
    return meta.replay is not None and meta.replay[0] in CROSSINGS


def is_leaf(tensor: Tensor) -> bool:
    """Whether no op has made a tensor, in whatever transform."""
    edge = edge_of(tensor)
    return not edge or edge[0].begins


def _is_the_same(meta: ViewMeta | None) -> bool:
    """Whether a view is its base, as it looks inside a level of `vmap`."""
    while meta is not None and meta.replay is not None and meta.replay[0] in CROSSINGS:
        meta = meta.parent
    return meta is None
