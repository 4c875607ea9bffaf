"""Graphs in which all calls have their arguments in one form."""

from __future__ import annotations

from typing import Any

from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Transformer
from mindtorch.fx.node import Node, map_aggregate
from mindtorch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module
from mindtorch.fx.proxy import Proxy

__all__ = ["NormalizeArgs"]


class NormalizeArgs(Transformer):
    """Calls of functions and layers get all their arguments, with defaults, as keywords."""

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Proxy, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        if n.op == "call_function":
            types = [map_aggregate(each, self._type_of) for each in (n.args, n.kwargs)]
            result = self._call_function(n.target, args, kwargs, types[0], types[1])
        else:
            result = super().run_node(n)
        if n.op != "output":
            self.node_map[result] = n
            result.node.meta = n.meta
            result.node.type = n.type
        return result

    def _type_of(self, value: Any) -> Any:
        return value.meta.get("type", Any) if isinstance(value, Node) else type(value)

    def _call_function(self, target: Any, args: Any, kwargs: Any, arg_types: Any, kwarg_types: Any) -> Any:
        found = normalize_function(
            target,
            args,
            kwargs,
            tuple([create_type_hint(each) for each in arg_types]),
            {name: create_type_hint(each) for name, each in kwarg_types.items()},
            self.normalize_to_only_use_kwargs,
        )
        args, kwargs = found if found else (args, kwargs)
        return super().call_function(target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        args, kwargs = found if found else (args, kwargs)
        return super().call_module(target, args, kwargs)
