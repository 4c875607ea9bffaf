"""What programs see of the graph inside of transforms.

There is one graph for all of them (mindtorch/_functorch/levels.py), but a tensor shows its history in the innermost
transform that it was made for, and nothing of those around it: it requires grad there if it depends on the inputs of
that transform, or on a leaf that the function has made.
"""

from typing import Any

from mindtorch._core import state
from mindtorch._core.autograd_meta import ViewMeta, edge_left, takes_part
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.tensor import InferenceVersion, Tensor
from mindtorch.autograd._engine.detaching import DetachedInside
from mindtorch.autograd._engine.history import IN_CUSTOM_FUNCTION, NOWHERE, edge_of, noted_edge
from mindtorch.autograd._engine.hooks_in_levels import is_over
from mindtorch.dispatch.modes.captures import OwnTensors, owner_of
from mindtorch.dispatch.modes.views_from_no_grad import leads_nowhere, nodes_behind

_thread = state.thread


def is_hidden(tensor: Tensor) -> bool:
    """Whether a tensor with a place in the graph is shown as one without."""
    own = owner_of(tensor)
    if is_sample(tensor, own):
        return True
    if own is None:
        return False
    if _is_marked(tensor._mt_meta):
        return True
    if own.is_left:
        return not requires_grad_outside(tensor)
    edge = _edge_or_that_of_base(tensor)
    return edge is not None and not leads_to(edge[0], own)


def _is_marked(meta: Any) -> bool:
    """Whether a custom Function has returned a view that has no gradient."""
    return type(meta) is ViewMeta and meta.edge is None and meta.creation_meta == IN_CUSTOM_FUNCTION


def is_shown_as_leaf(tensor: Tensor) -> bool:
    """Whether nothing is shown of a tensor's place in the graph; that of an input need not be known."""
    edge = edge_in_function(noted_edge(tensor))
    return bool(edge and edge[0].begins) or is_hidden(tensor)


def requires_grad_outside(tensor: Tensor) -> bool:
    """Whether a tensor requires grad outside of all transforms, which is where the forward of a Function runs."""
    if not _thread.transforms:
        return takes_part(tensor)
    edge = _outside_of_inputs(_edge_or_that_of_base(tensor))
    return edge is not None and (edge is NOWHERE or leads_to(edge[0], None))


def edge_in_function(edge: Any) -> Any:
    """The edge that is shown of a tensor, given that inside of the transform: to the forward of a custom Function, an
    input is what the transform was given."""
    own = _thread.own_tensors
    return _outside_of_inputs(edge) if own is not None and own.is_left else edge


def _outside_of_inputs(edge: Any) -> Any:
    while edge and edge[0].begins and not edge[0].accumulates:
        edge = edge[0].given
    return edge


def is_recorded(tensor: Tensor) -> bool:
    """Whether what is done with a tensor, with grad mode on, is part of a graph in the transform that runs or in one
    around it, as far as grad mode is on around those in between."""
    own = _thread.own_tensors
    if own is None or not takes_part(tensor):
        return takes_part(tensor)
    if own.is_left:
        return requires_grad_outside(tensor)
    edge = _edge_or_that_of_base(tensor)
    while own is not None and own.records_outside:
        own = own.outer
    return own is None or edge is None or _leads_further_in(edge[0], own)


def is_of_inference_where_recorded(tensor: Tensor) -> bool:
    """Whether the op that runs is part of a graph to which a tensor of inference mode is one of that mode: that of the
    transform whose function has made it, or one around that. To those inside it is an ordinary tensor, and so is to its
    own what is made of its memory again. What stands for one in another transform is that one outside."""
    maker, own = owner_of(tensor), _thread.own_tensors
    counter = tensor._mt_version
    depth = counter.depth if type(counter) is InferenceVersion else -1
    nodes = [edge[0] for each in own.operands if (edge := _edge_or_that_of_base(each))]
    is_seen = False
    while True:
        if own is None:
            is_seen = is_seen or maker is None or depth >= 0
        else:
            is_seen = is_seen or own.depth <= depth or tensor in own.of_inference
        if is_seen and any([leads_to(node, own) for node in nodes]):
            return True
        if own is None or not own.records_outside:
            return False
        is_seen = is_seen or (own is maker and depth < 0)
        own = own.outer


def _leads_further_in(node: Any, outermost: OwnTensors) -> bool:
    """Whether the gradients of a node get to what is differentiated in a transform or in one inside of it."""
    own = _thread.own_tensors
    while own is not outermost and not leads_to(node, own):
        own = own.outer
    return leads_to(node, own)


def _edge_or_that_of_base(tensor: Tensor) -> Any:
    edge = noted_edge(tensor)
    if edge is None and type(tensor._mt_meta) is ViewMeta:  # a leaf, which requires grad as its base does
        return _edge_or_that_of_base(tensor._mt_meta.base)
    return edge


def is_sample(tensor: Tensor, own: OwnTensors | None) -> bool:
    """Whether `vmap` is the innermost transform around a tensor: its history is that of all samples, and not shown."""
    array = tensor._mt_array
    return type(array) is BatchedArray and (own is None or own.is_left or own.depth < array.level.depth)


def shown_edge(tensor: Tensor) -> Any:
    """The edge of a tensor that programs may ask for gradients; None if it does not require grad."""
    left = edge_left(tensor)
    if left is not None:
        return left or None
    edge = tensor._mt_edge or edge_of(tensor)
    if not edge or ((_thread.transforms or type(tensor._mt_array) is BatchedArray) and is_hidden(tensor)):
        return None
    return edge


def leads_to(node: Any, own: OwnTensors | None) -> bool:
    """Whether the gradients of a node get to what is differentiated in a transform, or (None) outside of all."""
    waiting, seen = [node], {node}
    while waiting:
        node = waiting.pop()
        if node.begins:
            if node.accumulates:
                is_own = not is_over(node) and (own is None or own.made.has(node.leaf))
            else:
                is_own = node.requires_grad_outside if own is None else own.is_input(node)
            if is_own:
                return True
        if type(node) is DetachedInside:
            seen |= node.inputs
        if own is None and leads_nowhere(node):
            return True
        following = nodes_behind(node) - seen
        seen |= following
        waiting.extend(following)
    return False
