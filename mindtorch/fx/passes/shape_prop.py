"""`ShapeProp`: runs a graph and notes the shapes and dtypes of its values."""

from __future__ import annotations

import traceback
from typing import Any

from mindtorch._core.layout import strided
from mindtorch._core.memory_format import channels_last, channels_last_3d, contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._tensor_metadata import TensorMetadata
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Interpreter
from mindtorch.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]

TensorMetadata.__module__ = __name__  # where programs find it


def _extract_tensor_metadata(result: Any, include_contiguity: bool = True) -> TensorMetadata:
    """The facts about one tensor."""
    is_strided = result.layout == strided
    found = None
    if include_contiguity and is_strided:
        formats = (contiguous_format, *{4: (channels_last,), 5: (channels_last_3d,)}.get(result.ndim, ()))
        found = next((each for each in formats if result.is_contiguous(memory_format=each)), None)
    strides = result.stride() if is_strided else ()
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, strides, found, False, {})


@compatibility(is_backward_compatible=True)
class ShapeProp(Interpreter):
    """Runs a graph node by node; nodes whose value has tensors get `meta["tensor_meta"]`, all get `meta["type"]`.

    With a fake mode nothing is computed.
    """

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        super().__init__(gm)
        self.fake_mode = fake_mode
        self.real_module = self.module

    def run_node(self, n: Node) -> Any:
        try:
            if self.fake_mode is None:
                result = super().run_node(n)
            else:
                with self.fake_mode:
                    result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        tensors: list[Tensor] = []

        def described(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            tensors.append(value)
            return _extract_tensor_metadata(value)

        facts = map_aggregate(result, described)
        if tensors:
            n.meta["tensor_meta"] = facts
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """The value of the graph for these arguments."""
        if self.fake_mode is not None:
            args = tuple([self.fake_mode.from_tensor(each) if isinstance(each, Tensor) else each for each in args])
        return super().run(*args)
