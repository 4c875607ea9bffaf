"""`CopySlices`: the node of a base tensor of which a view was written in place."""

from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor, set_output
from mindtorch.autograd._engine.node_base import ConnectedNode, second_backward
from mindtorch.dispatch.modes.view_recipe import ViewRecipe


class CopySlices(ConnectedNode):
    """Applies the node of an in-place op to the part of the gradient that belongs to the view it wrote."""

    __slots__ = ("base_shape", "base_stride", "take_view")

    def __init__(self, base_edge: Any, base: Tensor, view: Tensor, function: Any) -> None:
        super().__init__((base_edge, *function.next_edges[1:]))
        array = base._mt_array
        set_output(self, array)
        self.base_shape = base.shape
        self.base_stride = base.stride()
        self.take_view = ViewRecipe(view, base)
        self._mt_saved = (function,)  # with what it saved, and its edges into the graph before the write

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def short_name(self) -> str:
        return self.name()

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        (grad,) = grads
        kept = self._mt_saved
        if kept is None:
            raise second_backward()
        if grad is None:
            return (None,) * len(edges)
        result = grad.new_empty_strided(self.base_shape, self.base_stride).copy_(grad)
        part = self.take_view(result)
        results = _apply_function(kept[0], edges, part.clone(memory_format=contiguous_format))
        if edges[0] is None or results[0] is None:
            return (None, *results[1:])
        part.copy_(results[0])
        return (result, *results[1:])


def _apply_function(function: Any, outer_edges: tuple, grad: Tensor) -> tuple:
    """Run the function for those of its inputs whose gradients are wanted of the node around it."""
    edges = tuple([None if outer is None else edge for edge, outer in zip(function.next_edges, outer_edges)])
    return function.apply(edges, grad)
