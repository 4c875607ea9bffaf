"""`Node`: one step of a graph, and functions that go through its arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args

from mindtorch._core.device import device
from mindtorch._core.dtype import dtype
from mindtorch._core.layout import layout
from mindtorch._core.memory_format import memory_format
from mindtorch._core.named_result import NamedResult
from mindtorch._core.tensor import Tensor
from mindtorch._functions.checks import _assert, _assert_async
from mindtorch._functions.inspection import typename
from mindtorch._functions.symbolic import SymBool, SymFloat, SymInt
from mindtorch.autograd.grad_mode import set_grad_enabled
from mindtorch.dispatch.overloads import OpOverload, OpOverloadPacket
from mindtorch.fx import _names
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._dtype_abbrs import dtype_abbrs
from mindtorch.fx.immutable_collections import immutable_dict, immutable_list
from mindtorch.fx.operator_schemas import ArgsKwargsPair, normalize_function, normalize_module

if TYPE_CHECKING:
    from mindtorch.fx.graph import Graph

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

BaseArgumentTypes = Union[  # noqa: UP007
    str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, OpOverload, SymInt, SymBool, SymFloat
]
base_types = get_args(BaseArgumentTypes)
Target = Union[Callable[..., Any], str]  # noqa: UP007
Argument = Union[
    tuple["Argument", ...],
    Sequence["Argument"],
    Mapping[str, "Argument"],
    slice,
    range,
    "Node",
    BaseArgumentTypes,
    None,
]
ArgumentT = TypeVar("ArgumentT")
Function = TypeVar("Function", bound=Callable[..., Any])

_legal_ops = dict.fromkeys(("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"))

# Functions that are called for what they do, so that they are no dead code where their result has no use.
_side_effectful_need_to_be_preserved_pre_dispatch: list[Callable[..., Any]] = [set_grad_enabled]
_side_effectful_functions: set[Callable[..., Any]] = {
    _assert,
    _assert_async,
    operator.setitem,
    *_side_effectful_need_to_be_preserved_pre_dispatch,
}


@compatibility(is_backward_compatible=False)
def has_side_effect(fn: Function) -> Function:
    """Note that calls of a function are no dead code, and return it."""
    _side_effectful_functions.add(fn)
    return fn


_get_qualified_name = _names.qualified_name
_type_repr = _names.type_repr


def _find_module_of_method(orig_method: Callable[..., Any]) -> str:
    module = _names.module_in_torch(orig_method)
    if module is None:
        raise RuntimeError(f"cannot find module for {orig_method}")
    return module


# -------------------- going through arguments --------------------


@compatibility(is_backward_compatible=True)
def map_aggregate(a: ArgumentT, fn: Callable[[Any], Any]) -> ArgumentT:
    """Call `fn` with everything in nested tuples, lists, dictionaries and slices, and put the results in their place.

    Lists and dictionaries of the result cannot be changed.
    """
    return _mapped(a, fn)


def is_named_tuple(value: object) -> bool:
    """Whether a value is a named tuple of a program; results of ops count as plain ones."""
    return isinstance(value, tuple) and hasattr(value, "_fields") and not isinstance(value, NamedResult)


def _mapped(value: object, fn: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        values = [_mapped(each, fn) for each in value]
        return type(value)(*values) if is_named_tuple(value) else tuple(values)
    if isinstance(value, list):
        return immutable_list([_mapped(each, fn) for each in value])
    if isinstance(value, dict):
        return immutable_dict([(key, _mapped(each, fn)) for key, each in value.items()])
    if isinstance(value, slice):
        return slice(_mapped(value.start, fn), _mapped(value.stop, fn), _mapped(value.step, fn))
    return fn(value)


@compatibility(is_backward_compatible=True)
def map_arg(a: ArgumentT, fn: Callable[[Node], Any]) -> ArgumentT:
    """Call `fn` with every node in nested arguments and put the results in their place."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)


# -------------------- printing --------------------


def _format_arg(arg: object, max_list_len: float = float("inf")) -> str:
    """An argument as `print(graph)` shows it: nodes have a % in front."""
    if hasattr(arg, "_custom_fx_repr_fn"):
        return str(arg._custom_fx_repr_fn())
    if isinstance(arg, (list, tuple)):
        items = ", ".join([_format_arg(each) for place, each in enumerate(arg) if place < max_list_len])
        more = "" if len(arg) < max_list_len + 1 else f", ...[total_len={len(arg)}]"
        if isinstance(arg, list):
            return f"[{items}{more}]"
        return f"({items}{',' if len(arg) == 1 else ''}{more})"
    if isinstance(arg, dict):
        return "{" + ", ".join([f"{key}: {_format_arg(value)}" for key, value in arg.items()]) + "}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


def _in_brackets(values: Iterable[Any]) -> str:
    return f"[{', '.join([str(value) for value in values])}]"


# -------------------- nodes --------------------


@compatibility(is_backward_compatible=True)
class Node:
    """One step of a `Graph`: an input, the value of an attribute, a call, or the output.

    `op` is the kind of step and `target` what is called or read:

    - `placeholder`: an input of this name; `args` holds its default, if it has one.
    - `get_attr`: a parameter, buffer or other attribute with this dotted name.
    - `call_function`: a call of the function `target`.
    - `call_module`: a call of the submodule with this dotted name.
    - `call_method`: a call of the method of this name; its object is the first of `args`.
    - `output`: what the graph returns, `args[0]`.

    `users` has the nodes that use the value. `meta` is for what passes note; copies of the node keep it.
    """

    graph: Graph
    type: Any | None
    users: dict[Node, None]
    meta: dict[str, Any]
    _args: tuple[Any, ...]
    _kwargs: dict[str, Any]
    _input_nodes: dict[Node, None]
    _repr_fn: Callable[[Node], str] | None
    _sort_key: tuple[int, ...]
    _prev: Node
    _next: Node
    _erased: bool

    @compatibility(is_backward_compatible=True)
    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        return_type: Any | None = None,
    ) -> None:
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {typename(target)} "
                    "but a Callable is expected"
                )
        else:
            if op not in _legal_ops:
                raise AssertionError(f"op '{op}' is not in _legal_ops")
            if not isinstance(target, str):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {typename(target)} "
                    "but a str is expected"
                )
        self.graph = graph
        self._name = name
        self._op = op
        self._target = target
        self.type = return_type
        self.users = {}
        self.meta = {}
        self._args = ()
        self._kwargs = {}
        self._input_nodes = {}
        self._repr_fn = None
        self._sort_key = ()
        self._prev = self._next = self
        self._erased = False
        self._update_args_kwargs(args, kwargs)

    # -------------------- fields that the graph has tables of --------------------

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        for hook in getattr(self.graph.owning_module, "_replace_hooks", ()):
            for user in self.users:
                hook(old=self, new=value, user=user)
        self._name = value

    @property
    def op(self) -> str:
        return self._op

    @op.setter
    def op(self, value: str) -> None:
        self._change("_op", value)

    @property
    def target(self) -> Any:
        return self._target

    @target.setter
    def target(self, value: Any) -> None:
        self._change("_target", value)

    def _change(self, field: str, value: Any) -> None:
        """Change what the graph finds nodes by."""
        table = self.graph._find_nodes_lookup_table
        is_known = self in table
        if is_known:
            table.remove(self)
        setattr(self, field, value)
        if is_known:
            table.insert(self)

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            name = self.graph._graph_namespace.create_name(candidate, None)
            self.name = name
            self.graph._graph_namespace._rename_object(self, name)

    # -------------------- the list of nodes --------------------

    @property
    def next(self) -> Node:
        """The node behind this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    @compatibility(is_backward_compatible=True)
    def prepend(self, x: Node) -> None:
        """Move a node of the same graph to the place before this one."""
        self._prepend(x)

    @compatibility(is_backward_compatible=True)
    def append(self, x: Node) -> None:
        """Move a node of the same graph to the place behind this one."""
        self._next._prepend(x)

    def _prepend(self, x: Node) -> None:
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        x._sort_key = _key_between(before._sort_key, self._sort_key)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: object) -> bool:
        return self._sort_key < other._sort_key if isinstance(other, Node) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._sort_key > other._sort_key if isinstance(other, Node) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._sort_key <= other._sort_key if isinstance(other, Node) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._sort_key >= other._sort_key if isinstance(other, Node) else NotImplemented

    # -------------------- arguments --------------------

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; assigning others keeps account of who uses what."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments; assigning others keeps account of who uses what."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._update_args_kwargs(self._args, k)

    def _update_args_kwargs(self, args: Any, kwargs: Any) -> None:
        for old in self._input_nodes:
            old.users.pop(self)
        self._input_nodes = {}
        self._args = map_aggregate(args, self._note_input)
        self._kwargs = map_aggregate(kwargs, self._note_input)

    def _note_input(self, value: Any) -> Any:
        if isinstance(value, Node):
            self._input_nodes.setdefault(value)
            value.users.setdefault(self)
        return value

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    @compatibility(is_backward_compatible=True)
    def update_arg(self, idx: int, arg: Any) -> None:
        """Replace one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    @compatibility(is_backward_compatible=True)
    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put one more positional argument at a place."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self._args = (*self.args[:idx], arg, *self.args[idx:])
        map_arg(arg, self._note_input)

    @compatibility(is_backward_compatible=True)
    def update_kwarg(self, key: str, arg: Any) -> None:
        """Replace or add one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    @compatibility(is_backward_compatible=True)
    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Put another node in every place of one among the arguments."""
        for hook in getattr(self.graph.owning_module, "_replace_hooks", ()):
            hook(old=old_input, new=new_input.name, user=self)
        self._replace_input_with(old_input, new_input)

    def _replace_input_with(self, old_input: Node, new_input: Node) -> None:
        args, kwargs = map_arg((self._args, self._kwargs), lambda value: new_input if value is old_input else value)
        self._update_args_kwargs(args, kwargs)

    @compatibility(is_backward_compatible=True)
    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Have all users of this node, or those for which `delete_user_cb` is true, use another one; gives these.

        With `propagate_meta` the other node, which must have none, gets the `meta` of this one.
        """
        if propagate_meta:
            if len(replace_with.meta) != 0:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                    "but replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    @compatibility(is_backward_compatible=False)
    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:
        """The arguments as the signature of the function or module has them, with defaults; None if there is none."""
        if self.op == "call_function":
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None

    # -------------------- what is known of it --------------------

    @property
    def stack_trace(self) -> str | None:
        """The Python stack where the call was traced, if it was recorded."""
        return self.meta.get("stack_trace", None)

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    @compatibility(is_backward_compatible=False)
    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the node does something besides giving a value, so that it is no dead code without users."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return getattr(owner.get_submodule(self.target), "_is_impure", False)
        return self.op == "call_function" and is_impure_call(self.target, self.args, self.kwargs, impure_random)

    # -------------------- printing --------------------

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self._name

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @staticmethod
    def _pretty_print_target(target: Any) -> str:
        if isinstance(target, str):
            return target
        module = getattr(target, "__module__", None)
        if module == "builtins":
            return f"builtins.{target.__name__}"
        if module == "_operator":
            return f"operator.{target.__name__}"
        return _get_qualified_name(target)

    @compatibility(is_backward_compatible=True)
    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The line of this node in the text of its graph; the lists are for the signature in the head of that text."""
        of_type = "" if self.type is None else f"{_type_repr(self.type)} "
        head = f"%{self.name} : {of_type}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            if placeholder_names:
                # torch writes the name twice if there is a type
                placeholder_names.append(f"{self.target}{self.target}: {of_type[:-1]}" if self.type else self.target)
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{head}[target={self._pretty_print_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {of_type[:-1]}"
            return f"return {self.args[0]}"
        if include_tensor_metadata and (described := self._described_value()):
            head = f"%{self.name} : {described}[num_users={len(self.users)}] = {self.op}"
        return (
            f"{head}[target={self._pretty_print_target(self.target)}]"
            f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
        )

    def _described_value(self) -> str | None:
        value = self.meta.get("val", self.meta.get("tensor_meta", self.meta.get("example_value")))
        if not isinstance(value, Tensor):
            return None
        strides = _in_brackets(value.stride())
        return f'Tensor "{dtype_abbrs[value.dtype]}{_in_brackets(value.shape)}{strides}{value.device}"'


def _key_between(before: tuple[int, ...], behind: tuple[int, ...]) -> tuple[int, ...]:
    """A key that is sorted between two others."""
    if len(before) > len(behind):
        *prefix, last = before[: len(behind) + 1]
        return (*prefix, last + 1)
    if len(before) < len(behind):
        *prefix, last = behind[: len(before) + 1]
        return (*prefix, last - 1)
    return (*before, 0)


def is_impure_call(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], impure_random: bool = True) -> bool:
    """Whether a call does something besides giving a value: it is known to, writes an argument or draws numbers."""
    if target in _side_effectful_functions:
        return True
    if isinstance(target, OpOverloadPacket):
        return False
    if isinstance(target, OpOverload):
        if target._schema.is_mutable:
            return True
        return impure_random and any(tag.name == "nondeterministic_seeded" for tag in target.tags)
    if not impure_random:
        return False
    entry = getattr(target, "op", None)
    return entry is not None and "nondeterministic_seeded" in getattr(entry, "tags", ())
