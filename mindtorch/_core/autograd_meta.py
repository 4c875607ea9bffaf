"""What autograd keeps for a tensor: `AutogradMeta`, made on demand, and `ViewMeta`, made for every view."""

from collections.abc import Callable
from typing import Any
from weakref import finalize

from mindtorch._core import state

# How a view came to be, which decides whether it may be written in place.
DEFAULT = "default"
MULTI_OUTPUT = "multi_output"  # one of several outputs of a function (unbind, split)
NO_GRAD = "no_grad"  # made while grad mode was off
INFERENCE = "inference"  # made in inference mode


class AutogradMeta:
    """Autograd's fields of a tensor. The defaults are class attributes, so that making one costs nothing."""

    requires_grad = False
    grad: Any = None
    storing: Any = None  # the lock of whoever adds to `grad`; see `storing_lock` of autograd/_engine/accumulate_grad.py
    hooks: Any = None
    post_accumulate_hooks: Any = None
    accumulator: Any = None  # a weak reference to the AccumulateGrad of a leaf that does not have it in `_mt_edge`
    retains_grad: Any = None
    name: str | None = None
    tangents: Any = None  # of forward AD: a `Tangents` of dispatch/modes/tangents.py
    base: Any = None  # the root tensor, on views only
    inference = False  # made in inference mode, outside of autograd for good
    is_recorded_data = False  # the data of a tensor inside of a transform, which is that tensor to those around it
    left: Any = None  # what it is in a transform that is over, which is shown still: a `Left` of _functorch/leaks.py


class OverMeta(AutogradMeta):
    """That of the node of a leaf which the function of a transform has made, once the transform is over: nothing of the
    leaf itself, to which no gradient gets from outside. `graph`: a `GraphOver` of _functorch/leaks.py."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph


class ViewMeta(AutogradMeta):
    """What a view of a tensor knows about where it came from. `tensor.view_of` fills it."""

    replay: tuple[Callable, tuple] | None = None  # takes the view again, from a new base
    output_nr: int | None = None  # which of the views that `replay` takes, if it takes several
    parent: "ViewMeta | None" = None  # the input's, if that is a view too
    edge: Any = None  # the view's own (node, output_nr) ...
    version = 0  # ... and the version of the base at which it was made
    creation_meta = DEFAULT
    is_same = False  # whether it is the base to ops: what a transform has returned, kept by its function, too
    shown_base: Any = None  # for programs, then: the base that it had inside
    entered: Any = None  # a weak reference to the view that it is, where that has entered a level of `vmap`


def note_inference_leaf(meta: AutogradMeta) -> None:
    """Have calls looked at as long as there is a tensor of inference mode that requires grad."""
    state.count_inference_leaf(1)
    finalize(meta, state.count_inference_leaf, -1)


def takes_part(tensor: Any) -> bool:
    """Whether a tensor requires grad, in whatever transform: a view does if its base does."""
    meta = tensor._mt_meta
    if tensor._mt_edge or meta is None:
        return bool(tensor._mt_edge)
    return meta.requires_grad or (meta.base is not None and (meta.edge is not None or takes_part(meta.base)))


def edge_left(tensor: Any) -> Any:
    """The edge that a tensor has in the transform that it has left, `()` if it has none there; None if it has left
    none."""
    meta = tensor._mt_meta
    return None if meta is None or meta.left is None else meta.left.edge


def lefts_of(tensor: Any) -> list[Any]:
    """What a tensor is in the transforms that it has left, the innermost first."""
    left = None if tensor._mt_meta is None else tensor._mt_meta.left
    found = []
    while left is not None:
        found.append(left)
        left = left.outer
    return found
