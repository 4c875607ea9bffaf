"""`CopySlices`: the node of a base tensor of which a view was written in place."""

from typing import Any

from mindtorch.autograd.node_base import ConnectedNode, second_backward
from mindtorch.dispatch.view_recipe import ViewRecipe
from mindtorch.memory_format import contiguous_format
from mindtorch.tensor import Tensor, set_output


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
