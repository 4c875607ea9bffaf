"""The attributes of layers that backends need when they lower them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._functions.inspection import typename
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule
from mindtorch.nn.modules.activation import ReLU
from mindtorch.nn.modules.batchnorm import BatchNorm2d
from mindtorch.nn.modules.conv import Conv2d
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module
from mindtorch.nn.modules.pooling import AdaptiveAvgPool2d, MaxPool2d

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]


@compatibility(is_backward_compatible=False)
def default_matching(name: str, target_version: int) -> str:
    """The name of an attribute in a version of its layer: the same in all."""
    return name


# By class: the newest version that is known, and the attributes.
module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    Linear: (1, ["weight", "bias"], default_matching),
    Conv2d: (
        1,
        ["weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"],
        default_matching,
    ),
    BatchNorm2d: (2, ["weight", "bias", "running_mean", "running_var", "eps"], default_matching),
    AdaptiveAvgPool2d: (1, [], default_matching),
    MaxPool2d: (1, ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"], default_matching),
    ReLU: (1, ["inplace"], default_matching),
}


@compatibility(is_backward_compatible=False)
def extract_attrs_for_lowering(mod: Module) -> dict[str, Any]:
    """The name of a layer's class and its attributes."""
    found: dict[str, Any] = {"name": typename(mod)}
    if type(mod) not in module_fetch_book:
        raise RuntimeError(
            f"{typename(mod)} is not in the module_fetch_book yet, please add it to the module_fetch_book"
        )
    version, names, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(
            f"Fetcher version {version} try to fetch {typename(mod)} version {mod._version}, please upgrade the "
            "module_fetch_book"
        )
    found.update({name: getattr(mod, matching(name, mod._version)) for name in names})
    return found


@compatibility(is_backward_compatible=False)
def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Give the nodes that call layers these attributes, as `attrs_for_lowering`."""
    modules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op == "call_module":
            module = modules[node.target]
            if isinstance(module, GraphModule):
                lift_lowering_attrs_to_nodes(module)
            else:
                node.attrs_for_lowering = extract_attrs_for_lowering(module)
