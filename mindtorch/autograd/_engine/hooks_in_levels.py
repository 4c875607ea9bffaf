"""What programs and their hooks see of a graph that transforms have recorded, and whose passes hooks are told of.

There is one graph for all transforms (mindtorch/_functorch/levels.py). A hook that a function of a transform registers
is told of the passes of that transform only: those around it go through the same nodes. And the nodes of `vmap` send
each other the gradients of samples, of which a hook that runs outside of the level sees all, as one tensor; nor are
there the nodes of the views at its borders.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mindtorch._core import state
from mindtorch._core.autograd_meta import OverMeta
from mindtorch._core.batched_array import Level, levels_of
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.namespace import ops

_thread = state.thread


# The nodes of the views of dispatch/modes/level_views.py, which programs do not see: for them there is one batch.
_CROSSINGS = frozenset(("AddBatchDimBackward0", "RemoveBatchDimBackward0", "SpreadOverLevelBackward0"))


def shown_node(edge: Any) -> Any:
    """The `(node, output_nr)` that an edge leads to as programs see it: behind the inputs of transforms that are over,
    and behind the borders of levels of `vmap`, unless nothing but a leaf is there, or the samples are moved."""
    node, output_nr, *_ = edge
    while (is_over(node) and node.next_edges) or (node.name() in _CROSSINGS and not getattr(node, "out_dim", 0)):
        following = node.next_edges[0]
        if following is None or (following[0].begins and "RemoveBatchDim" in node.name()):
            break
        node, output_nr, *_ = following
    return node, output_nr


def shown_next(edge: Any) -> Any:
    """The same for an edge of `next_functions`, where an input of a transform that is over stands for nothing."""
    node, output_nr = shown_node(edge)
    return (None, 0) if is_over(node) else (node, output_nr)


def is_over(node: Any) -> bool:
    """Whether a node is the input of a transform that is over, or a leaf that its function has made."""
    return node.begins and (type(node.meta) is OverMeta if node.accumulates else not node.is_open)


def shown_output(edge: Any) -> str:
    """Of which output of which op an edge is, in torch's words."""
    node, output_nr = shown_node(edge)
    return f"{output_nr} of {'Permute' if node.name() in _CROSSINGS else node.short_name()}"


class HookOfLevel:
    """A hook that a function of a transform has registered. `own`: the tensors of that function's run."""

    def __init__(self, hook: Callable, own: Any) -> None:
        self.hook = hook
        self.own = own
        self.__name__ = getattr(hook, "__name__", "<unknown>")  # for error messages

    def __call__(self, *values: Any) -> Any:
        return self.hook(*values) if (_thread.differentiated or _thread.own_tensors) is self.own else None


class HooksInside:
    """The hooks of a tensor, to which more may be added, as they are in the graph of the transform that is over, for
    whose function they were registered."""

    def __init__(self, hooks: Any) -> None:
        self._hooks = hooks

    def values(self) -> list[Callable]:
        return [_inside_of_it(each) for each in self._hooks.values()]

    def __len__(self) -> int:
        return len(self._hooks)


def hooks_inside(hooks: Any) -> Any:
    """The same of the hooks of a node, whose copy has its own."""
    return hooks and OrderedDict([(number, _inside_of_it(hook)) for number, hook in hooks.items()])


def _inside_of_it(hook: Callable) -> Callable:
    return hook.hook if type(hook) is HookOfLevel else hook


def in_its_level(hook: Callable, own: Any) -> Callable:
    """A hook as it is kept that has to do with the tensors of a transform, or (None) with those outside of all."""
    if own is None:
        return hook
    own.has_hooks = True
    return HookOfLevel(hook, own)


def of_all_samples(hook: Callable) -> Callable:
    """The hook of a node, as it is kept: it gets tuples of gradients."""
    if not state.batch_levels:
        return hook

    def hook_outside(*values: tuple) -> Any:
        shown = [tuple([_outside(grad) for grad in grads]) for grads in values]
        result = hook(*shown)
        if not isinstance(result, tuple) or len(result) != len(values[0]):
            return result
        return tuple([_inside(new, grad) for new, grad in zip(result, values[0], strict=True)])

    hook_outside.__name__ = getattr(hook, "__name__", "<unknown>")
    return hook_outside


def _levels_left(grad: Any) -> list[Level]:
    """The levels of a gradient that are not running, the lowest first."""
    if not isinstance(grad, Tensor):
        return []
    return [level for level in levels_of(grad._mt_array.shape) if level not in _thread.vmap_levels]


def _outside(grad: Any) -> Any:
    for level in reversed(_levels_left(grad)):
        grad = ops._remove_batch_dim(grad, level.number, level.size, 0)
    return grad


def _inside(new: Any, grad: Any) -> Any:
    """What takes the place of a gradient."""
    levels = _levels_left(grad) if isinstance(new, Tensor) else []
    for level in levels:
        new = ops._add_batch_dim(new, 0, level.number)
    return new
