"""Small changes of graphs, and the sizes of their values."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._tensor_metadata import TensorMetadata
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_aggregate, map_arg
from mindtorch.fx.passes.shape_prop import ShapeProp
from mindtorch.nn.modules.module import Module

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


@compatibility(is_backward_compatible=False)
def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Any, new_op: str, new_target: Any
) -> None:
    """Have the nodes that call one target call another."""
    made = Graph()
    copies: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = map_arg((node.args, node.kwargs), copies.__getitem__)
            copies[node] = made.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            copies[node] = made.node_copy(node, copies.__getitem__)
    fx_module.graph = made


@compatibility(is_backward_compatible=False)
class size_bytes(NamedTuple):
    """The bytes of a node's value, and these with the parameters that it uses."""

    output_size: int
    total_size: int


@compatibility(is_backward_compatible=False)
def get_size_of_all_nodes(fx_module: GraphModule, args: list[Any] | None = None) -> None:
    """Note the sizes of all values, for these arguments, as `size_bytes` of the nodes."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


@compatibility(is_backward_compatible=False)
def get_tensor_meta(node: Node) -> Any:
    """What `ShapeProp` has noted of a node."""
    facts = node.meta.get("tensor_meta")
    if not facts:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run."
        )
    return facts


@compatibility(is_backward_compatible=False)
def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """The sizes of a node's value."""
    module: Any = fx_module
    total = 0
    if node.op == "call_module":
        module = dict(fx_module.named_modules())[node.target]
        assert isinstance(module, Module)
        total = sum(each.numel() * each.element_size() for each in module.parameters())
    size = _size_of(get_tensor_meta(node))
    return size_bytes(size, total + size)


def _size_of(facts: Any) -> int:
    sizes: list[int] = []
    if isinstance(facts, TensorMetadata):
        return facts.shape.numel() * facts.dtype.itemsize
    map_aggregate(tuple([each for each in facts]), lambda leaf: sizes.append(0))
    return sum(_size_of(each) for each in facts if isinstance(each, tuple))
