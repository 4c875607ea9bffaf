"""Which nodes a backend can run."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mindtorch._core.dtype import dtype as Dtype
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._tensor_metadata import TensorMetadata
from mindtorch.fx.node import Node
from mindtorch.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target
from mindtorch.nn.modules.module import Module

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]

TargetTypeName = str
SupportedArgumentDTypes = tuple[Sequence[Any], dict[str, Any]] | None
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]
IsNodeSupported = Callable[[Mapping[str, Module], Node], bool]


@compatibility(is_backward_compatible=False)
class OperatorSupportBase(abc.ABC):
    """Tells which nodes are supported."""

    @abc.abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether a node is supported; `submodules` are those of the graph by name."""
        raise NotImplementedError


@compatibility(is_backward_compatible=False)
class OperatorSupport(OperatorSupportBase):
    """Supports what is in a dictionary: by the names of targets, the dtypes of arguments, or None for all."""

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        supported = self._support_dict[target]
        if supported is None:
            return True
        positional, keywords = supported
        pairs = [
            *[(arg, dtypes) for arg, dtypes in zip(node.args, positional) if dtypes is not None],
            *[(node.kwargs[name], dtypes) for name, dtypes in keywords.items() if name in node.kwargs],
        ]
        return all(_get_arg_dtype(arg) in dtypes for arg, dtypes in pairs if isinstance(arg, Node))


@compatibility(is_backward_compatible=False)
def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """The support that a function tells."""

    class FunctionalOperatorSupport(OperatorSupportBase):
        def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
            return is_node_supported(submodules, node)

    return FunctionalOperatorSupport()


@compatibility(is_backward_compatible=False)
def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supports what all of them support."""
    return create_op_support(lambda modules, node: all(each.is_node_supported(modules, node) for each in op_support))


@compatibility(is_backward_compatible=False)
def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Supports what one of them supports."""
    return create_op_support(lambda modules, node: any(each.is_node_supported(modules, node) for each in op_support))


@compatibility(is_backward_compatible=False)
class OpSupports:
    """Supports that are often wanted."""

    @classmethod
    def decline_if_input_dtype(cls, dtype: Dtype) -> OperatorSupportBase:
        """Not what has an input of this dtype."""
        return create_op_support(
            lambda modules, node: all(_get_arg_dtype(arg) != dtype for arg in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Not the nodes with these names."""
        return create_op_support(lambda modules, node: node.name not in disallow_set)


def _get_arg_dtype(arg: Node) -> Any:
    facts = arg.meta.get("tensor_meta")
    return facts.dtype if isinstance(facts, TensorMetadata) else arg.meta["type"]
