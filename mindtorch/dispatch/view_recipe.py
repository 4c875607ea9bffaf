"""`ViewRecipe`: how to take a view again, from another tensor than its base."""

from collections.abc import Callable, Sequence

from mindtorch import state
from mindtorch.autograd_meta import ViewMeta
from mindtorch.dispatch.namespace import ops
from mindtorch.tensor import Tensor


class ViewRecipe:
    """Takes a view again, from a tensor that has the geometry of the view's base.

    Strides express every view, but for one of other elements (view_as_real): that takes the functions again, up to the
    one that gives such elements. With `view_replay` on, all of them are taken again.

    Keeps no reference to the base: the base's own node holds a recipe, and a cycle would keep the graph alive.
    """

    __slots__ = ("shape", "stride", "offset", "dtype", "replays")

    def __init__(self, view: Tensor, base: Tensor) -> None:
        self.shape = view.shape
        self.stride = view.stride()
        self.offset = view.storage_offset() - base.storage_offset() * base.itemsize // view.itemsize
        self.dtype = None if state.thread.view_replay else view.dtype
        self.replays = () if self.dtype is base.dtype else _replays(view._mt_meta)

    def __call__(self, tensor: Tensor) -> Tensor:
        left = len(self.replays)
        for function, args in self.replays:
            if tensor.dtype is self.dtype:
                break
            tensor = function(tensor, *args)
            left -= 1
        if self.replays and not left:
            return tensor
        return ops.as_strided(tensor, self.shape, self.stride, tensor.storage_offset() + self.offset)


def _replays(meta: ViewMeta) -> Sequence[tuple[Callable, tuple]]:
    """The view functions that lead from the base to a view."""
    replays: list = []
    step: ViewMeta | None = meta
    while step is not None:
        replays.append(step.replay)
        step = step.parent
    return replays[::-1]
