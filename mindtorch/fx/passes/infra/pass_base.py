"""The base of passes."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


@compatibility(is_backward_compatible=False)
class PassResult(NamedTuple):
    """The module that a pass gives, and whether it has changed it."""

    graph_module: Any
    modified: bool


@compatibility(is_backward_compatible=False)
class PassBase(abc.ABC):
    """A pass: `call` does the work, between the checks `requires` and `ensures`."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """What the pass does."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """What must hold before."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """What must hold afterwards."""
