"""`Interpreter`: runs a graph node by node; `Transformer`: makes a new graph in the same way."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch.fx import traceback as fx_traceback
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._lazy_graph_module import _make_graph_module
from mindtorch.fx._symbolic_trace import Tracer
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Argument, Node, Target, map_aggregate, map_arg
from mindtorch.fx.proxy import Proxy
from mindtorch.nn.modules.module import Module

__all__ = ["Argument", "Interpreter", "Target", "Transformer"]


@compatibility(is_backward_compatible=True)
class Interpreter:
    """Runs the graph of a module. Each kind of node has a method, which subclasses override: `placeholder`,
    `get_attr`, `call_function`, `call_method`, `call_module` and `output`, or `run_node` for all of them.

    With `garbage_collect_values`, values are forgotten behind their last use.
    """

    @compatibility(is_backward_compatible=True)
    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph  # type: ignore[assignment]
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for user in reversed(self.graph.nodes):
                last = [value for value in user._input_nodes if value not in seen]
                seen.update(last)
                if last:
                    self.user_to_last_uses[user] = last

    @compatibility(is_backward_compatible=True)
    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """The value of the graph for these arguments. Values in `initial_env` are not computed.

        With `enable_io_processing` arguments and result are those of the module's function, which may be nested.
        """
        self.env = initial_env if initial_env is not None else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    self._explain(node, error)
                raise
            for value in self.user_to_last_uses.get(node, ()):
                del self.env[value]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def _explain(self, node: Node, error: Exception) -> None:
        """Add to the text of an error which node it comes from."""
        text = f"While executing {node.format_node()}"
        text = f"{error.args[0]}\n\n{text}" if error.args else text
        text += (
            f"\nOriginal traceback:\n{node.stack_trace}"
            "\nUse tlparse to see full graph. "
            "(https://github.com/pytorch/tlparse?tab=readme-ov-file#tlparse-parse-structured-pt2-logs)"
        )
        error.args = (text, *error.args[1:])
        if isinstance(error, KeyError):  # whose text would be shown in quotes
            raise RuntimeError(*error.args) from error

    @compatibility(is_backward_compatible=True)
    def boxed_run(self, args_list: list[Any]) -> Any:
        """The same for a list of the values of the placeholders, which is emptied."""
        names = [node for node in self.graph.nodes if node.op == "placeholder"]
        if len(args_list) != len(names):
            detail = "extra arguments" if len(args_list) > len(names) else "missing arguments"
            raise RuntimeError(
                f"Interpreter.boxed_run expected {len(names)} arguments for placeholders "
                f"but received {len(args_list)} ({detail})"
            )
        env = dict(zip(names, args_list))
        args_list.clear()
        return self.run(initial_env=env)

    @contextmanager
    def _set_current_node(self, node: Node) -> Iterator[None]:
        with fx_traceback.set_current_meta(node, f"Interpreter_{type(self).__name__}"):
            yield

    @compatibility(is_backward_compatible=True)
    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    # -------------------- kinds of nodes --------------------

    @compatibility(is_backward_compatible=True)
    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument; for `*args` all that are left."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as error:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from error

    @compatibility(is_backward_compatible=True)
    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(target)

    @compatibility(is_backward_compatible=True)
    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function returns."""
        if isinstance(target, str):
            raise AssertionError("target should not be a string for call_function")
        return target(*args, **kwargs)

    @compatibility(is_backward_compatible=True)
    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a method of the first argument returns."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    @compatibility(is_backward_compatible=True)
    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a submodule returns."""
        return self.fetch_attr(target)(*args, **kwargs)

    @compatibility(is_backward_compatible=True)
    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the graph returns."""
        return args[0]

    # -------------------- values --------------------

    @compatibility(is_backward_compatible=True)
    def fetch_attr(self, target: str) -> Any:
        """The attribute of the module that has a dotted name."""
        value: Any = self.module
        names = target.split(".")
        for place, name in enumerate(names):
            if not hasattr(value, name):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(names[: place + 1])}")
            value = getattr(value, name)
        return value

    @compatibility(is_backward_compatible=True)
    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a node, with values in the place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    @compatibility(is_backward_compatible=True)
    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Nested arguments of a node, with values in the place of nodes."""

        def value_of(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return map_arg(args, value_of)


class _TransformerTracer(Tracer):
    """Adds nodes to the graph of a `Transformer`: all modules are leaves."""

    def __init__(self, graph: Graph, root: Module) -> None:
        super().__init__()
        self.graph = graph
        self.tensor_attrs = {}
        self.root = root

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


@compatibility(is_backward_compatible=True)
class Transformer(Interpreter):
    """Runs a graph on proxies, so that overridden methods change what the new graph does: `transform` gives it."""

    @compatibility(is_backward_compatible=True)
    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer: Tracer = _TransformerTracer(self.new_graph, module)

    @compatibility(is_backward_compatible=True)
    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """An input of the new graph."""
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    @compatibility(is_backward_compatible=True)
    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    @compatibility(is_backward_compatible=True)
    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call of a module in the new graph."""
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    @compatibility(is_backward_compatible=True)
    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call of a function in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    @compatibility(is_backward_compatible=True)
    def transform(self) -> GraphModule:
        """The module of the new graph."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            returned = map_aggregate(result, lambda value: value.node if isinstance(value, Proxy) else value)
            self.new_graph.output(returned).meta.update(self.graph.output_node().meta)
        return _make_graph_module(self.module, self.new_graph)
