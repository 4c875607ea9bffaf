"""`FakeTensorProp`: runs a graph on fake tensors."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._subclasses.fake_tensor import FakeTensorMode
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.experimental.proxy_tensor import py_sym_types, snapshot_fake
from mindtorch.fx.interpreter import Interpreter
from mindtorch.fx.node import Node, map_aggregate
from mindtorch.nn.modules.module import Module

__all__ = ["FakeTensorProp"]


@compatibility(is_backward_compatible=False)
class FakeTensorProp(Interpreter):
    """Runs a graph on fake tensors, so that nothing is computed; `meta["val"]` of its nodes is what their values are
    like."""

    def __init__(self, module: Module, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = mode or FakeTensorMode()

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)

        def described(value: Any) -> Any:
            if isinstance(value, Tensor):
                return snapshot_fake(value)
            return value if isinstance(value, (*py_sym_types, int, float, bool)) else None

        found = map_aggregate(result, described)
        if found is not None:
            n.meta["val"] = found
        return result

    def fetch_attr(self, target: str) -> Any:
        value = super().fetch_attr(target)
        return self._mode.from_tensor(value) if isinstance(value, Tensor) else value

    def propagate(self, *args: Any) -> Any:
        """The fake value of the graph for these arguments."""
        fakes = [self._mode.from_tensor(each) if isinstance(each, Tensor) else each for each in args]
        return self.propagate_dont_convert_inputs(*fakes)

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """The same for arguments that are fake."""
        with self._mode:
            return super().run(*args)
