"""`Graph`: a program as a list of nodes."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from mindtorch._functions.inspection import typename
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn
from mindtorch.dispatch.torch_function import begin
from mindtorch.fx._codegen import CodeGen as CodeGen
from mindtorch.fx._codegen import PythonCode as PythonCode
from mindtorch.fx._codegen import TransformCodeFunc as TransformCodeFunc
from mindtorch.fx._codegen import (
    _BoxedCodeGen,
    _color_codes,
    _color_fns,
    _custom_builtins,
    _CustomBuiltin,
    _format_target,
    _identity,
    _illegal_names,
    _is_magic,
    _make_color_fn,
    _Namespace,
    _PyTreeCodeGen,
    _PyTreeInfo,
    _register_custom_builtin,
    _snake_case,
    inplace_methods,
    magic_methods,
    reflectable_magic_methods,
)
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._names import is_from_torch, name_in_torch
from mindtorch.fx._stack_lines import _ParsedStackTrace, parse_stack_trace
from mindtorch.fx.immutable_collections import immutable_dict
from mindtorch.fx.node import Argument, Node, Target, _get_qualified_name, _type_repr, map_arg
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

if TYPE_CHECKING:
    from mindtorch.fx.graph_module import GraphModule

_is_from_torch, _parse_stack_trace = is_from_torch, parse_stack_trace
tabulate: Any = lazy("tabulate")

__all__ = ["Argument", "CodeGen", "Graph", "Node", "PythonCode", "Target"]
_KEPT_NAMES = (
    _BoxedCodeGen, _PyTreeCodeGen, _PyTreeInfo, _color_codes, _color_fns, _custom_builtins, _CustomBuiltin,
    _format_target, _identity, _illegal_names, _make_color_fn, _register_custom_builtin, inplace_methods,
    magic_methods, reflectable_magic_methods, _ParsedStackTrace, _get_qualified_name, _type_repr,
)  # fmt: skip

_legal_ops = dict.fromkeys(("call_function", "call_method", "get_attr", "call_module", "placeholder", "output"))


class _InsertPoint:
    """While it is open, a graph puts new nodes elsewhere."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        self.graph._insert = self.orig_insert


class _node_list:
    """The nodes of a graph, which may be changed while one goes through them."""

    def __init__(self, graph: Graph, direction: Literal["_prev", "_next"] = "_next") -> None:
        if direction not in ("_next", "_prev"):
            raise AssertionError(f"direction must be '_next' or '_prev', got {direction}")
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Any]:
        return self._nodes(self.direction)

    def __reversed__(self) -> Iterator[Any]:
        return self._nodes("_next" if self.direction == "_prev" else "_prev")

    def _nodes(self, direction: str) -> Iterator[Any]:
        root = self.graph._root
        node = getattr(root, direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, direction)


class _FindNodesLookupTable:
    """The nodes of a graph by what they call."""

    def __init__(self) -> None:
        self.table: dict[tuple[str, Any], dict[Node, None]] = {}

    def _of(self, node: Node) -> dict[Node, None]:
        key = (node.op, node.target if node.op == "call_function" else None)
        return self.table.setdefault(key, {})

    def __contains__(self, node: Node) -> bool:
        return node in self._of(node)

    def insert(self, node: Node) -> None:
        self._of(node)[node] = None

    def remove(self, node: Node) -> None:
        self._of(node).pop(node)

    def find_nodes(self, *, op: str, target: Any = None) -> list[Any]:
        if op == "call_function":
            if target is None:
                raise AssertionError("target must not be None for call_function op")
            return list(self.table.get((op, target), ()))
        found = self.table.get((op, None), {})
        return [node for node in found if target is None or node.target == target]


@compatibility(is_backward_compatible=True)
class Graph:
    """A program as a list of nodes: inputs, calls that use the values of nodes before them, and an output.

    It is filled by a `Tracer`, or by hand with the methods that make nodes. `print(graph)` shows it, `python_code` is
    its function in Python, and a `GraphModule` runs it.
    """

    @compatibility(is_backward_compatible=True)
    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: Any = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        begin()  # from here on, functions have the names that torch has for them
        self._root = Node(self, "", "root", "", (), {})
        self._used_names: dict[str, int] = {}
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}
        self._find_nodes_lookup_table = _FindNodesLookupTable()

    @property
    def owning_module(self) -> GraphModule | None:
        """The module whose `forward` this graph is."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: GraphModule | None) -> None:
        self._owning_module = mod

    # -------------------- nodes --------------------

    @property
    def nodes(self) -> _node_list:
        """The nodes in order; `reversed` goes backwards."""
        return _node_list(self)

    @compatibility(is_backward_compatible=False)
    def output_node(self) -> Node:
        """The last node, which is the output."""
        node: Node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got op={node.op}")
        return node

    @compatibility(is_backward_compatible=False)
    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Any]:
        """The nodes of a kind that have this target; with `sort` in the order of the graph."""
        found = self._find_nodes_lookup_table.find_nodes(op=op, target=target)
        return sorted(found) if sort else found

    @compatibility(is_backward_compatible=True)
    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Add a node at the insert point. Its name is made from `name`, else from the target."""
        args = args or ()
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        kwargs = kwargs or immutable_dict()
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        name = self._graph_namespace.create_name(self._target_to_str(target) if name is None else name, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        for hook in self._hooks("_create_node_hooks"):
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._find_nodes_lookup_table.insert(node)
        self._len += 1
        return node

    def _hooks(self, kind: str) -> Any:
        return getattr(self.owning_module, kind, ())

    @compatibility(is_backward_compatible=True)
    def placeholder(
        self, name: str, type_expr: Any | None = None, default_value: Any = inspect.Signature.empty
    ) -> Node:
        """Add an input."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """Add the value of an attribute of the module, with a warning if that has none of this name."""
        if self.owning_module is not None and not _has_attribute(self.owning_module, qualified_name):
            warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer",
                UserWarning,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Add a call of a submodule, which the module that owns the graph must have."""
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Add a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any | None = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def output(self, result: Any, type_expr: Any | None = None) -> Node:
        """Add the output: nodes, or nested containers of them."""
        return self.create_node(op="output", target="output", args=(result,), type_expr=type_expr)

    @compatibility(is_backward_compatible=True)
    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Add a copy of a node, mostly of another graph; `arg_transform` gives what takes the place of its inputs."""
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    @compatibility(is_backward_compatible=True)
    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Add copies of all nodes of a graph but for its output; gives what is returned there, in terms of the copies.

        `val_map` is filled with the copies; nodes that are in it already are not copied.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    @compatibility(is_backward_compatible=True)
    def erase_node(self, to_erase: Node) -> None:
        """Take a node out of the graph; nothing may use its value."""
        if len(to_erase.users) > 0:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} "
                f"users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn(f"erase_node({to_erase}) on an already erased node", UserWarning)
            return
        for hook in self._hooks("_erase_node_hooks"):
            hook(to_erase)
        self._find_nodes_lookup_table.remove(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        args, kwargs = map_arg((to_erase._args, to_erase._kwargs), lambda node: None)
        to_erase._update_args_kwargs(args, kwargs)

    @compatibility(is_backward_compatible=True)
    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """A block in which new nodes come before this one; by default, before all."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    @compatibility(is_backward_compatible=True)
    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """A block in which new nodes come behind this one, each before those that came earlier; by default, behind
        all."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def _target_to_str(self, target: Any) -> str:
        name = target if isinstance(target, str) else name_in_torch(target)
        return _snake_case(name[2:-2] if isinstance(target, str) and _is_magic(name) else name)

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    def __deepcopy__(self, memo: dict[Any, Any] | None = None) -> Graph:
        """A copy, node by node: following the links would be too deep for Python's stack."""
        copied = Graph(tracer_cls=self._tracer_cls)
        values: dict[Node, Node] = {} if memo is None else memo
        output = copied.graph_copy(self, values, return_output_node=True)
        copied._codegen = copy.deepcopy(self._codegen)
        if output is not None:
            result, old = output
            copied.output(result, type_expr=old.type).meta = copy.copy(old.meta)
        return copied

    # -------------------- code --------------------

    @compatibility(is_backward_compatible=False)
    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders, from the arguments of the function."""
        return self._codegen.process_inputs(*args)

    @compatibility(is_backward_compatible=False)
    def process_outputs(self, out: Any) -> Any:
        """The value of the function, from that of the output node."""
        return self._codegen.process_outputs(out)

    @compatibility(is_backward_compatible=True)
    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        """The function of this graph as source text. `root_module` is what the code calls its module, mostly "self"."""
        namespace = _Namespace()
        options: dict[str, Any] = {
            "verbose": verbose,
            "include_stride": include_stride,
            "include_device": include_device,
            "colored": colored,
            "expanded_def": expanded_def,
            "record_func": record_func,
            "additional_meta": additional_meta,
        }
        nodes = list(self.nodes)
        before = [node._repr_fn for node in nodes]
        for node in nodes:
            node._repr_fn = lambda each: namespace.create_name(each.name, each)
        try:
            return self._python_code(root_module, namespace, **options)
        finally:
            for node, shown in zip(nodes, before):
                node._repr_fn = shown

    def _python_code(self, root_module: str, namespace: _Namespace, **options: Any) -> PythonCode:
        return self._codegen._gen_python_code(self.nodes, root_module, namespace, **options)

    @compatibility(is_backward_compatible=False)
    def set_codegen(self, codegen: CodeGen) -> None:
        """Have another generator write the code."""
        self._codegen = codegen

    @compatibility(is_backward_compatible=False)
    def on_generate_code(
        self, make_transformer: Callable[[TransformCodeFunc | None], TransformCodeFunc]
    ) -> contextlib.AbstractContextManager[None]:
        """Have the lines of generated code changed. `make_transformer` gets the function that does so now, or None,
        and gives the new one. As a context manager it ends with the block."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def until_the_end() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return until_the_end()

    def __str__(self) -> str:
        names: list[str] = []  # stays empty: torch shows inputs as nodes, too
        lines = [node.format_node(names) for node in self.nodes]
        return "\n    ".join([f"graph({', '.join(names)}):", *[line for line in lines if line]])

    @compatibility(is_backward_compatible=True)
    def print_tabular(self) -> None:
        """Print the nodes as a table, for which the package `tabulate` is needed."""
        try:
            table = tabulate.tabulate
        except ImportError:
            print(  # noqa: T201
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip "
                "install tabulate` to install the library."
            )
            raise
        rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes]
        print(table(rows, headers=["opcode", "name", "target", "args", "kwargs"]))  # noqa: T201

    # -------------------- checks --------------------

    @compatibility(is_backward_compatible=True)
    def lint(self) -> None:
        """Raise an error if the graph is not sound: a node uses what comes later or is of another graph, names are
        not unique, or the module has nothing of the name that a node reads."""
        names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.op not in _legal_ops:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            if node not in self._find_nodes_lookup_table:
                raise RuntimeError(f"Node '{node}' is not added to the side table")
            for arg in node._input_nodes:
                self._check_input(arg, node, seen)
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        if self.owning_module is not None:
            for node in self.nodes:
                _check_target(self.owning_module, node)

    def _check_input(self, arg: Node, node: Node, seen: set[Node]) -> None:
        if arg.graph is not self:
            raise RuntimeError(
                f"Argument '{arg}' of Node '{node}' does not belong to this Graph, "
                f"but was used as an argument! If you are copying nodes from another graph, make "
                f"sure to use ``arg_transform`` on node_copy() to remap values\n{self}"
            )
        if arg not in seen:
            raise RuntimeError(
                f"Argument '{arg}' of Node '{node}' was used before it has been "
                f"defined! Please check that Nodes in the graph are topologically ordered\n{self}"
            )

    @compatibility(is_backward_compatible=True)
    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase nodes that nothing uses and that do nothing else, which `is_impure_node` or `Node.is_impure` tell.

        Gives whether there were any. Graphs of submodules that this one reads are looked at, too.
        """
        self.lint()
        is_impure = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not is_impure(node) and len(node.users) == 0:
                self.erase_node(node)
                changed = True
        if self.owning_module is not None:
            read = {node.target for node in self.find_nodes(op="get_attr")}
            for name, child in self.owning_module.named_children():
                if name in read and isinstance(getattr(child, "graph", None), Graph):
                    changed |= child.graph.eliminate_dead_code()  # type: ignore[union-attr, operator]
                    child.recompile()  # type: ignore[operator]
        return changed


def _has_attribute(module: Module, qualified_name: str) -> bool:
    """Whether a module has a parameter, buffer or submodule of this name."""
    path, _, name = qualified_name.rpartition(".")
    try:
        owner = module.get_submodule(path)
    except AttributeError:
        warn(f"Failed to fetch module {path}!", UserWarning)
        return False
    value = getattr(owner, name, None)
    return isinstance(value, (Module, Parameter)) or (hasattr(owner, name) and name in owner._buffers)


def _check_target(module: Module, node: Node) -> None:
    """Raise an error if what a node calls or reads is not there."""
    if node.op == "call_function":
        if not callable(node.target):
            raise ValueError(
                f"Node {node} target {node.target} has type {typename(node.target)} but a Callable is expected"
            )
    elif not isinstance(node.target, str):
        raise ValueError(f"Node {node} target {node.target} has type {typename(node.target)} but a str is expected")
    if node.op not in ("get_attr", "call_module"):
        return
    owner: Any = module
    names = node.target.split(".")
    for place, name in enumerate(names):
        value = getattr(owner, name, None)
        before = ".".join(names[:place])
        if value is None:
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {name} of {before}")
        if node.op == "call_module" and not isinstance(value, Module):
            raise RuntimeError(f"Node {node} target {node.target} {name} of {before} does not reference an nn.Module")
        owner = value
