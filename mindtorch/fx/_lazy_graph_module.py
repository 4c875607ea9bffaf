"""Graph modules that compile their code when it is first needed. Here code is always compiled at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch.fx.graph_module import GraphModule


@contextmanager
def _use_lazy_graph_module(should_use: bool) -> Iterator[None]:
    yield


@contextmanager
def _force_skip_lazy_graph_module() -> Iterator[None]:
    yield


def _get_graph_module_cls() -> type[GraphModule]:
    return GraphModule


def _make_graph_module(*args: Any, graph_module_cls: type[GraphModule] | None = None, **kwargs: Any) -> GraphModule:
    return (graph_module_cls or GraphModule)(*args, **kwargs)


class _LazyGraphModule(GraphModule):
    """A module that is compiled, as all are."""

    @classmethod
    def from_graphmodule(cls, gm: GraphModule) -> GraphModule:
        return gm if isinstance(gm, _LazyGraphModule) else _LazyGraphModule(gm, gm.graph)

    @staticmethod
    def force_recompile(gm: Any) -> None:
        """Nothing is left to compile."""

    def real_recompile(self) -> None:
        """Nothing is left to compile."""
