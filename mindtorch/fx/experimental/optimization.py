"""Models that compute the same with fewer layers, for inference."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from mindtorch.fx._symbolic_trace import Tracer, symbolic_trace
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Transformer
from mindtorch.fx.node import Node
from mindtorch.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from mindtorch.nn.modules.conv import Conv1d, Conv2d, Conv3d
from mindtorch.nn.modules.dropout import Dropout
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = [
    "extract_subgraph", "fuse", "matches_module_pattern", "optimize_for_inference", "remove_dropout",
    "replace_node_module",
]  # fmt: skip

_PATTERNS: tuple[tuple[Any, Any], ...] = (
    (Conv1d, BatchNorm1d), (Conv2d, BatchNorm2d), (Conv3d, BatchNorm3d), (Linear, BatchNorm1d),
)  # fmt: skip


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, Any]) -> bool:
    """Whether a node calls a layer of the second class on what one of the first gives."""
    if not node.args:
        return False
    return all(
        isinstance(each, Node)
        and each.op == "call_module"
        and each.target in modules
        and type(modules[each.target]) is expected
        for expected, each in zip(pattern, (node.args[0], node))
    )


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Put another module in the place of the one that a node calls."""
    parent, _, name = node.target.rpartition(".")
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> Module:
    """A model in which batch normalizations are part of the layers before them; for inference, so in eval mode."""
    if not inplace:
        model = copy.deepcopy(model)
    traced: Any = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for pattern in _PATTERNS:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            layer, norm = modules[node.args[0].target], modules[node.target]
            if not norm.track_running_stats:
                continue
            join: Any = fuse_linear_bn_eval if pattern[0] is Linear else fuse_conv_bn_eval
            replace_node_module(node.args[0], modules, join(layer, norm))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(traced, graph)


class _DropoutRemover(Transformer):
    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(self.submodules[target], Dropout):
            if len(args) != 1:
                raise AssertionError(f"Expected 1 arg for Dropout, got {len(args)}")
            return args[0]
        return super().call_module(target, args, kwargs)


def remove_dropout(model: Module) -> Module:
    """A model without its dropout layers."""
    return _DropoutRemover(symbolic_trace(model)).transform()


def extract_subgraph(orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> GraphModule:
    """A module of some nodes of a graph."""
    graph = Graph()
    copies = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output([copies[node] for node in outputs])
    graph.lint()
    return GraphModule(orig_module, graph)


def optimize_for_inference(
    model: Module, pass_config: Mapping[str, Any] | None = None, tracer: type[Tracer] = Tracer
) -> Module:
    """A model with fused normalizations and without dropout, unless `pass_config` says otherwise.

    torch also changes to the memory layout of MKL-DNN, which does not exist here.
    """
    config = {"conv_bn_fuse": True, "remove_dropout": True, **(pass_config or {})}
    if config["conv_bn_fuse"]:
        model = fuse(model)
    if config["remove_dropout"]:
        model = remove_dropout(model)
    return model
