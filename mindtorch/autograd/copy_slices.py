"""`CopySlices`: the node of a base tensor of which a view was written in place."""

from collections.abc import Callable
from typing import Any

from mindtorch.autograd.node_base import NodeBase, second_backward
from mindtorch.autograd_meta import ViewMeta
from mindtorch.dispatch import ops
from mindtorch.memory_format import contiguous_format
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
        self.replays = None if view._array.dtype == base._array.dtype else _replays(view._meta)

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


class CopySlices(NodeBase):
    """Applies the node of an in-place op to the part of the gradient that belongs to the view it wrote."""

    __slots__ = ("base_shape", "base_stride", "take_view")

    def __init__(self, base_edge: Any, base: Tensor, view: Tensor, function: Any) -> None:
        super().__init__((base_edge, *function.next_edges[1:]))
        array = base._array
        self.input_metadata = (array.shape, array.dtype)
        self.base_shape = base.shape
        self.base_stride = base.stride()
        self.take_view = ViewRecipe(view, base)
        self.kept = (function,)  # with what it saved, and its edges into the graph before the write

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def short_name(self) -> str:
        return self.name()

    def apply(self, *grads: Any) -> tuple:
        (grad,) = grads
        if self.kept is None:
            raise second_backward()
        if grad is None:
            return (None,) * len(self.next_edges)
        result = grad.new_empty_strided(self.base_shape, self.base_stride).copy_(grad)
        part = self.take_view(result)
        results = self._apply_function(part.clone(memory_format=contiguous_format))
        if not self.needs(0) or results[0] is None:
            return (None, *results[1:])
        part.copy_(results[0])
        return (result, *results[1:])

    def _apply_function(self, grad: Tensor) -> tuple:
        """Run the function for those of its inputs whose gradients are wanted here."""
        (function,) = self.kept
        edges = function.next_edges
        function.next_edges = tuple([edge if own is not None else None for edge, own in zip(edges, self.next_edges)])
        try:
            return function.apply(grad)
        finally:
            function.next_edges = edges
