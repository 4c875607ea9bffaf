"""`ViewRecipe`: how to take a view again, from another tensor than its base."""

from collections.abc import Callable

from mindtorch import state
from mindtorch.autograd_meta import ViewMeta
from mindtorch.dispatch.namespace import ops
from mindtorch.tensor import Tensor


class ViewRecipe:
    """Takes a view again, from a tensor that has the geometry of the view's base.

    Keeps no reference to the base: the base's own node holds a recipe, and a cycle would keep the graph alive.
    """

    __slots__ = ("shape", "stride", "offset", "replays")

    def __init__(self, view: Tensor, base: Tensor) -> None:
        self.shape = view.shape
        self.stride = view.stride()
        self.offset = view.storage_offset() - base.storage_offset()
        # Strides cannot express a view of other elements (view_as_real, view(dtype)): that takes the functions again.
        by_strides = view._array.dtype == base._array.dtype and not state.thread.view_replay
        self.replays = None if by_strides else _replays(view._meta)

    def __call__(self, tensor: Tensor) -> Tensor:
        if self.replays is None:
            return ops.as_strided(tensor, self.shape, self.stride, tensor.storage_offset() + self.offset)
        for function, args in self.replays:
            tensor = function(tensor, *args)
        return tensor


def _replays(meta: ViewMeta) -> list[tuple[Callable, tuple]]:
    """The view functions that lead from the base to a view."""
    replays: list = []
    step: ViewMeta | None = meta
    while step is not None:
        replays.append(step.replay)
        step = step.parent
    return replays[::-1]
