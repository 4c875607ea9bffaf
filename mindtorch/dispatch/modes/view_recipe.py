"""`ViewRecipe`: how to take a view again, from another tensor than its base."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core import state
from mindtorch._core.autograd_meta import ViewMeta
from mindtorch._core.geometry import strides_of
from mindtorch._core.size import size_of
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.modes.level_views import CROSSINGS, Crossing
from mindtorch.dispatch.namespace import ops

_thread = state.thread


class ViewRecipe:
    """Takes a view again, from a tensor that has the geometry of the view's base.

    Strides express every view, but for one of other elements (view_as_real): that takes the functions again, up to the
    one that gives such elements. With `view_replay` on, all of them are taken again. A view that is batched at other
    levels than its base leaves and enters them, on both sides of the strides; if it has other elements, too, all its
    functions are taken again.

    `taken` is the view that the base stands for, where it is not what the view's own functions begin with: the tangent
    of a view, of which the same view is taken.

    Keeps no reference to the base: the base's own node holds a recipe, and a cycle would keep the graph alive.
    """

    __slots__ = ("shape", "stride", "offset", "dtype", "replays", "crossing")

    def __init__(self, view: Tensor, base: Tensor, taken: ViewMeta | None = None) -> None:
        self.crossing = _crossing_between(view, base, taken) if state.batch_levels else None
        array = view._mt_array if self.crossing is None else self.crossing.array
        self.shape = size_of(array.shape)
        self.stride = strides_of(array)
        self.offset = view.storage_offset() - base.storage_offset() * base.itemsize // view.itemsize
        self.dtype = None if state.thread.view_replay else view.dtype
        self.replays = () if self.dtype is base.dtype else _replays(view._mt_meta, base, taken)
        if any(each[0] in CROSSINGS for each in self.replays):
            self.dtype = None

    def __call__(self, tensor: Tensor) -> Tensor:
        if self.crossing is not None and not self.replays:
            return self.crossing.taken(tensor, self.shape, self.stride, self.offset)
        if self.replays:
            before, _thread.taking_views_again = _thread.taking_views_again, True
            try:
                return self._replayed(tensor)
            finally:
                _thread.taking_views_again = before
        return ops.as_strided(tensor, self.shape, self.stride, tensor.storage_offset() + self.offset)

    def _replayed(self, tensor: Tensor) -> Tensor:
        start = tensor.storage_offset() * tensor.itemsize  # from where `offset` counts, which functions move on
        for function, args in self.replays:
            if tensor.dtype is self.dtype:
                return ops.as_strided(tensor, self.shape, self.stride, start // tensor.itemsize + self.offset)
            tensor = function(tensor, *args)
        return tensor


def _crossing_between(view: Tensor, base: Tensor, taken: ViewMeta | None) -> Crossing:
    is_whole = all(each is not None and each[0] in CROSSINGS for each in _replays(view._mt_meta, base, taken))
    return Crossing(view._mt_array, base._mt_array, is_whole)


def _replays(meta: ViewMeta, base: Tensor, taken: ViewMeta | None) -> Sequence[tuple[Callable, tuple]]:
    """The view functions that lead from the base, or from the view that is taken already, to a view."""
    replays: list = []
    step: Any = meta
    while step is not taken:
        is_one_of_several = step.output_nr is not None and step.replay is not None
        replays.append((_output, (step.output_nr, *step.replay)) if is_one_of_several else step.replay)
        step = step.parent or (None if step.base is base else step.base._mt_meta)
    return replays[::-1]


def _output(tensor: Tensor, output_nr: int, function: Callable, args: tuple) -> Tensor:
    """One of the views that a function takes."""
    view: Tensor = function(tensor, *args)[output_nr]
    return view
