"""Python code from the nodes of a graph."""

from __future__ import annotations

import builtins
import enum
import inspect
import keyword
import math
import os
import pprint
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from mindtorch._core.device import device
from mindtorch._core.layout import sparse_csc, sparse_csr
from mindtorch._core.tensor import Tensor
from mindtorch._functions.symbolic import SymBool, SymFloat, SymInt
from mindtorch._support import pytree
from mindtorch.dispatch.overloads import OpOverload
from mindtorch.fx import _pytree as fx_pytree
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._dtype_abbrs import dtype_abbrs
from mindtorch.fx._names import is_from_torch
from mindtorch.fx._stack_lines import parse_stack_trace
from mindtorch.fx._tensor_metadata import TensorMetadata
from mindtorch.fx.node import Node, _get_qualified_name, _type_repr, is_named_tuple
from mindtorch.fx.tensor_type import TensorType

# `typing.List[int]` and its kin, which are not written as `list[int]`.
_OLD_ALIAS: Any = type(typing.List[int])  # noqa: UP006
_OLD_NAMES: dict[Any, Any] = {
    cls: getattr(typing, name)
    for cls, name in ((list, "List"), (dict, "Dict"), (set, "Set"), (frozenset, "FrozenSet"), (tuple, "Tuple"))
}

TransformCodeFunc = Callable[[list[str]], list[str]]

reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
    "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}",
    "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}", **reflectable_magic_methods,
}  # fmt: skip
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}  # fmt: skip


# -------------------- names --------------------


class _CustomBuiltin(NamedTuple):
    """What every piece of generated code can name: the statement that imports it, and the object."""

    import_str: str
    obj: Any


_illegal_names: dict[str, Any] = {**{word: object() for word in keyword.kwlist}, **vars(builtins)}
_custom_builtins: dict[str, _CustomBuiltin] = {}


def _register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)
    _illegal_names[name] = obj


_register_custom_builtin("inf", "from math import inf", math.inf)
_register_custom_builtin("nan", "from math import nan", math.nan)
_register_custom_builtin("NoneType", "NoneType = type(None)", type(None))
_register_custom_builtin("torch", "import mindtorch as torch", import_module("mindtorch"))
_register_custom_builtin("device", "from mindtorch import device", device)
_register_custom_builtin("fx_pytree", "import mindtorch.fx._pytree as fx_pytree", fx_pytree)
_register_custom_builtin("pytree", "import mindtorch.utils._pytree as pytree", pytree)

_ILLEGAL_CHARACTERS = re.compile("[^0-9a-zA-Z_]+")
_NAME = re.compile(r"^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def _is_magic(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class _Namespace:
    """Gives each object a name that is unique, an identifier, and hides no builtin."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any | None) -> str:
        """A name that is like `candidate`; an object that has one keeps it."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        found = _NAME.match(candidate)
        if found is None:
            candidate = _ILLEGAL_CHARACTERS.sub("_", candidate) or "_unnamed"
            candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
            found = _NAME.match(candidate)
            assert found is not None, candidate
        base, suffix = found.group(1, 2)
        if suffix is None or candidate in self._used_names:
            number = self._base_count.get(base, 0)
            if _illegal_names.get(candidate, obj) is not obj:
                number += 1
                candidate = f"{base}_{number}"
        else:
            number = int(suffix)
        while candidate in self._used_names:
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Note the name that an object was given."""
        if self._obj_to_name.setdefault(obj, name) is not name:
            raise AssertionError("obj is already associated")

    def _rename_object(self, obj: Any, name: str) -> None:
        if obj not in self._obj_to_name:
            raise AssertionError(f"Object {obj} is not in _obj_to_name")
        self._obj_to_name[obj] = name
        self._used_names.add(name)


def _format_target(base: str, target: str) -> str:
    """The expression for an attribute with a dotted name."""
    for name in target.split("."):
        base = f"{base}.{name}" if name.isidentifier() else f'getattr({base}, "{name}")'
    return base


@compatibility(is_backward_compatible=True)
@dataclass
class PythonCode:
    """The source of a function, and the values of the global names in it."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None  # by the lines, counted from the head of the function: which node
    _prologue_start: int = 0  # the line of that head


# -------------------- colors --------------------

_color_codes = {
    "yellow": "\033[33m", "cyan": "\033[36m", "green": "\033[32m", "blue": "\033[34m", "red": "\033[31m",
    "dim": "\033[2m", "dim_blue": "\033[2m\033[34m", "dim_green": "\033[2m\033[32m",
}  # fmt: skip


def _identity(text: str) -> str:
    return text


def _make_color_fn(code: str) -> Callable[[str], str]:
    return lambda text: f"{code}{text}\033[0m"


_color_fns = {name: _make_color_fn(code) for name, code in _color_codes.items()}


# -------------------- the code generator --------------------


class _Options(NamedTuple):
    """How code is written."""

    verbose: bool = False
    include_stride: bool = False
    include_device: bool = False
    include_meta: bool = False
    colored: bool = False
    expanded_def: bool = False
    additional_meta: list[str] | None = None


@compatibility(is_backward_compatible=False)
class CodeGen:
    """Writes the function of a graph. Subclasses may change its head (`gen_fn_def`) and what it returns
    (`generate_output`); `process_inputs` and `process_outputs` do the same to values, for interpreters."""

    _sym_repr: Callable[[Any], str] = lambda value: repr(value)

    def __init__(self) -> None:
        self._body_transformer: TransformCodeFunc | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        """The head of the function, whose parameters are `self` and `free_vars`."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if not expanded_def:
            return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"
        lines = "".join([self._format_single_arg(each) for each in free_vars])
        return f"def {self._func_name}(\n{lines}){maybe_return_annotation}:"

    def _format_single_arg(self, arg: str) -> str:
        """The line of one parameter, with the comma before its comment."""
        before, sharp, comment = arg.partition("#")
        return f"    {before.rstrip()},  # {comment.lstrip()}\n" if sharp else f"    {arg},\n"

    def _format_multiline_container(
        self,
        items: Sequence[Any],
        descs: Sequence[str] | None = None,
        prefix: str = "",
        repr_fn: Callable[[Any], str] = repr,
    ) -> str:
        """A tuple or list with an item on each line, and a comment behind it."""
        left, right = "()" if isinstance(items, tuple) else "[]"
        comments = [""] * len(items) if descs is None else [f"  # {desc}" for desc in descs]
        lines = [f"    {repr_fn(item)},{comment}\n" for item, comment in zip(items, comments)]
        return f"{prefix}{left}\n{''.join(lines)}{right}"

    def generate_output(
        self, output_args: Any, *, descs: Sequence[str] | None = None, repr_fn: Callable[[Any], str] | None = None
    ) -> str:
        """The return statement."""
        shown = repr_fn or repr
        if descs is not None and isinstance(output_args, (list, tuple)):
            return self._format_multiline_container(output_args, descs, "return ", shown)
        return f"return {shown(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders, from the arguments of the function."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The value of the function, from that of the output node."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names and values that the code needs besides those in the nodes."""
        return []

    def _gen_python_code(
        self,
        nodes: Any,
        root_module: str,
        namespace: _Namespace,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        options = _Options(
            verbose,
            include_stride or os.environ.get("FX_GRAPH_SHOW_STRIDE", "0") == "1",
            include_device or os.environ.get("FX_GRAPH_SHOW_DEVICE", "0") == "1",
            os.environ.get("FX_GRAPH_SHOW_META", "0") == "1",
            colored,
            expanded_def,
            additional_meta,
        )
        return _Writer(self, nodes, root_module, namespace, options).code()


def _call_with_known(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a method with those of the keywords that it knows: subclasses of programs may be older than they are."""
    known = inspect.signature(method).parameters
    return method(*args, **{name: value for name, value in kwargs.items() if name in known})


def _in_brackets(values: Iterable[Any]) -> str:
    return f"[{', '.join([str(value) for value in values])}]"


class _Writer:
    """Writes the function of one graph."""

    def __init__(self, codegen: CodeGen, nodes: Any, root: str, namespace: _Namespace, options: _Options) -> None:
        self.codegen = codegen
        self.nodes = nodes
        self.root = root
        self.namespace = namespace
        self.options = options
        self.free_vars: list[str] = []
        self.body: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.return_annotation = ""
        self.last_summary: str | None = None
        for name, (_, value) in _custom_builtins.items():
            self.add_global(name, value)
        self.dies_with = self._last_uses()

    def colored(self, color: str) -> Callable[[str], str]:
        return _color_fns[color] if self.options.colored else _identity

    # -------------------- names and values --------------------

    def add_global(self, name_hint: str, value: Any) -> str:
        """The name of a value in the code."""
        if is_from_torch(value) and value is not device:
            return _get_qualified_name(value)
        name = self.namespace.create_name(name_hint, value)
        if name in self.globals:
            assert self.globals[name] is value or self.globals[name] == value, name
            return name
        self.globals[name] = value
        return name

    def type_repr(self, value: Any) -> str:
        """An annotation, whose types become globals."""
        if value == ():
            return "()"
        text = _type_repr(value)
        if isinstance(value, types.UnionType) and "|" in text:
            return "|".join([self.type_repr(each) for each in typing.get_args(value)])
        origin = getattr(value, "__origin__", None)
        if origin is None:
            return self.add_global(text, value)
        if isinstance(value, _OLD_ALIAS):
            origin = _OLD_NAMES.get(origin, origin)
        name = self.add_global(_type_repr(origin), origin)
        inner = value.dims if isinstance(value, TensorType) else typing.get_args(value)
        return f"{name}[{','.join([self.type_repr(each) for each in inner])}]" if inner else name

    def repr(self, arg: Any) -> str:
        """An argument as an expression."""
        if isinstance(arg, Node):
            return repr(arg)
        if is_named_tuple(arg):
            return f"{self.add_global(_get_qualified_name(type(arg)), type(arg))}{tuple(arg)!r}"
        if isinstance(arg, OpOverload):
            return self.add_global(_get_qualified_name(arg), arg)
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, Tensor):
            return f"torch.Tensor(size={list(arg.shape)}, dtype={str(arg.dtype).split('.')[-1]})"
        if isinstance(arg, tuple):
            items = ", ".join([self.repr(each) for each in arg])
            return f"({items},)" if len(arg) == 1 else f"({items})"
        if isinstance(arg, list):
            return f"[{', '.join([self.repr(each) for each in arg])}]"
        if isinstance(arg, slice):
            return f"slice({self.repr(arg.start)}, {self.repr(arg.stop)}, {self.repr(arg.step)})"
        return self.colored("blue")(repr(arg))

    def arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        keywords = [f"{name} = {self.repr(value)}" for name, value in kwargs.items()]
        return ", ".join([*[self.repr(each) for each in args], *keywords])

    # -------------------- what the code says of a value --------------------

    def annotation(self, node: Node) -> str:
        """The annotation of a node's name: its type or, in the verbose form, what its value is like."""
        if self.options.verbose:
            value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
            if isinstance(value, Tensor) and value.layout not in (sparse_csc, sparse_csr):
                return self.annotation_of_tensor(value)
            if isinstance(value, (SymInt, SymFloat, SymBool)):
                return f': "Sym({CodeGen._sym_repr(value)})"'
            if isinstance(value, TensorMetadata):
                return f': "{dtype_abbrs[value.dtype]}{_in_brackets(value.shape)}"'
        return "" if node.type is None else f" : {self.type_repr(node.type)}"

    def annotation_of_tensor(self, value: Any) -> str:
        stride = _in_brackets(value.stride()) if self.options.include_stride else ""
        place = f"{value.device}" if self.options.include_device else ""
        text = (
            f"{self.colored('red')(dtype_abbrs[value.dtype])}{self.colored('blue')(_in_brackets(value.shape))}"
            f"{self.colored('dim_blue')(stride)}{self.colored('dim_green')(place)}"
        )
        is_plain = type(value) is Tensor or getattr(type(value), "is_fake_class", False)
        return f': "{text}"' if is_plain else f': "{type(value).__name__}({text})"'

    def summary(self, node: Node) -> None:
        """The comment on where the following nodes come from, if they come from elsewhere than those before."""
        if node.op in ("placeholder", "output"):
            return
        more = [f"{key}: {node.meta[key]}" for key in self.options.additional_meta or () if key in node.meta]
        custom = {
            key: f"{str(value)[:40]}..." if len(str(value)) > 40 else value
            for key, value in (node.meta.get("custom") or {}).items()
        }
        place = "No stacktrace found for following nodes"
        found = parse_stack_trace(node.stack_trace) if node.stack_trace else None
        if found is not None:
            place = found.get_summary_str()
        comment = (
            f"{'# ' + ', '.join(more) + ' ' if more else ''}#{f' Annotation: {custom}' if custom else ''}"
            f"{_recomputation(node)} {place}"
        )
        text = f"\n{self.colored('dim')(comment)}\n"
        if text != self.last_summary:
            self.last_summary = text
            self.body.append(text)

    # -------------------- nodes --------------------

    def emit(self, node: Node) -> None:
        if self.options.include_meta and node.meta:
            lines = [
                f"{key}: {pprint.pformat(str(value), width=80, compact=True)}\n" for key, value in node.meta.items()
            ]
            self.body += ['"""\n', *lines, '"""\n']
        getattr(self, f"emit_{node.op}", self.refuse)(node)

    def refuse(self, node: Node) -> None:
        raise NotImplementedError(f"node: {node.op} {node.target}")

    def assign(self, node: Node, expression: str) -> None:
        self.body.append(f"{node!r}{self.annotation(node)} = {expression}")

    def emit_placeholder(self, node: Node) -> None:
        default = f" = {self.repr(node.args[0])}" if node.args else ""
        desc = node.meta.get("desc") if self.options.expanded_def else None
        comment = "" if desc is None else f"  # {desc}"
        self.free_vars.append(f"{node.target}{self.annotation(node)}{default}{comment}")
        raw_name = node.target.replace("*", "")
        if raw_name != repr(node):
            self.body.append(f"{node!r} = {raw_name}\n")

    def emit_get_attr(self, node: Node) -> None:
        self.assign(node, _format_target(self.root, node.target))

    def emit_call_module(self, node: Node) -> None:
        self.assign(node, f"{_format_target(self.root, node.target)}({self.arguments(node.args, node.kwargs)})")

    def emit_call_method(self, node: Node) -> None:
        method = _format_target(self.repr(node.args[0]), node.target)
        self.assign(node, f"{method}({self.arguments(node.args[1:], node.kwargs)})")

    def emit_call_function(self, node: Node) -> None:
        name = getattr(node.target, "__name__", "")
        if getattr(node.target, "__module__", "") == "_operator":
            if name in magic_methods:
                self.assign(node, magic_methods[name].format(*[self.repr(each) for each in node.args]))
                return
            if name in inplace_methods:
                values = [self.repr(each) for each in node.args]
                self.body.append(f"{inplace_methods[name].format(*values)};  ")
                self.assign(node, values[0])
                return
        name = self.add_global(_get_qualified_name(node.target), node.target)
        if name == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            self.assign(node, _format_target(self.repr(node.args[0]), node.args[1]))
            return
        self.assign(node, f"{name}({self.arguments(node.args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)

    def emit_output(self, node: Node) -> None:
        if node.type is not None:
            self.return_annotation = f" -> {self.type_repr(node.type)}"
        descs = node.meta.get("desc") if self.options.expanded_def else None
        self.body.append(_call_with_known(self.codegen.generate_output, node.args[0], descs=descs, repr_fn=self.repr))

    # -------------------- when values die --------------------

    def _last_uses(self) -> dict[Node, list[Node]]:
        """By node: the values that no later node uses."""
        seen: set[Node] = set()
        found: dict[Node, list[Node]] = {}
        for user in reversed(self.nodes):
            for value in user._input_nodes:
                if value not in seen:
                    seen.add(value)
                    found.setdefault(user, []).append(value)
        return found

    def forget_after(self, node: Node) -> None:
        """End the line of a node, and forget what is not used behind it."""
        if node.op == "placeholder":
            return
        dead = [] if node.op == "output" else [*self.dies_with.get(node, ()), *([] if node.users else [node])]
        if not dead:
            self.body.append("\n")
            return
        text = " = ".join([*[repr(each) for each in dead], "None"])
        self.body.append(f";  {self.colored('dim')(text)}\n")

    # -------------------- the function --------------------

    def code(self) -> PythonCode:
        for place, node in enumerate(self.nodes):
            if self.options.verbose:
                self.summary(node)
            self.body.append(f"# COUNTER: {place}\n")
            self.emit(node)
            self.forget_after(node)
        if not self.body:
            self.body.append("pass\n")
        wraps = ""
        if self.wrapped:
            wrap = self.add_global("wrap", import_module("mindtorch.fx").wrap)
            wraps = "\n".join([f'{wrap}("{name}")' for name in self.wrapped])
        body = self.codegen._body_transformer(self.body) if self.codegen._body_transformer else self.body
        for name, value in self.codegen.additional_globals():
            self.add_global(name, value)
        head = _call_with_known(
            self.codegen.gen_fn_def,
            self.free_vars,
            self.return_annotation,
            expanded_def=self.options.expanded_def,
        )
        lines, places = _without_counters("".join(body).split("\n"), head.count("\n") + 1)
        text = "\n".join([f"    {line}" for line in "\n".join(lines).lstrip("\n").split("\n")])
        return PythonCode(f"\n{wraps}\n\n{head}\n{text}", self.globals, places, wraps.count("\n") + 4)


def _recomputation(node: Node) -> str:
    """What a policy of activation checkpointing has noted of a node."""
    policy, number = node.meta.get("recompute"), node.meta.get("ac_graph_id")
    if policy is not None and number is not None:
        return f" ac_graph_id: {number} - {policy.name}"
    if policy is not None:
        return f" recompute: {policy.name}"
    return "" if number is None else f" ac_graph_id: {number}"


def _without_counters(lines: list[str], head: int) -> tuple[list[str], dict[int, int | None]]:
    """The lines of a body, and for each, counted from the head of the function, the number of its node."""
    kept: list[str] = []
    places: dict[int, int | None] = {}
    current = None
    for line in lines:
        counter = re.search(r"# COUNTER: (\d+)", line)
        if counter is not None:
            current = int(counter[1])
        else:
            places[len(kept) + head] = current
            kept.append(line)
    return kept, places


# -------------------- other forms of functions --------------------


class _BoxedCodeGen(CodeGen):
    """The function takes one list, which it empties, so that the inputs can be freed early."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        head = f"def {self._func_name}(self, args_list){maybe_return_annotation}:"
        names = [each.split(":")[0].split("=")[0].strip() for each in free_vars if each != "self"]
        if not names:
            return head
        lines = ["args_iter = iter(args_list)", *[f"{name} = next(args_iter)" for name in names], "args_list.clear()"]
        return "\n    ".join([head, *lines])


class _PyTreeInfo(NamedTuple):
    """The parameters of a function whose arguments or results are nested, and the structures of both."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class _PyTreeCodeGen(CodeGen):
    """The function takes and returns nested containers; the graph knows their leaves only."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        if self.pytree_info is None or self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def _format_annotations(self, free_vars: list[str], expanded_def: bool) -> str:
        annotated = [each for each in free_vars if ":" in each]
        if not annotated:
            return ""
        if expanded_def:
            return "\n    " + "\n    ".join(annotated)
        return "\n    " + "".join([f"{each}; " for each in annotated]) + "\n"

    def gen_var_bindings(self, fn_args: list[str], free_vars: list[str], expanded_def: bool) -> str:
        """The statement that takes the leaves out of the arguments."""
        spec = self.pytree_info.in_spec
        given = f"[{', '.join(fn_args)}]"
        has_kwargs = spec.type is tuple and spec.num_children == 2
        if has_kwargs and spec.child(0).type is tuple and spec.child(1).type is dict:
            count = spec.child(0).num_children
            names = self.pytree_info.orig_args
            keywords = ", ".join([f"'{key}':{name}" for key, name in zip(spec.child(1).context, names[count:])])
            given = f"([{', '.join(names[:count])}], {{{keywords}}})"
        plain = [each.split(":")[0].split("#")[0] for each in free_vars]
        annotations = self._format_annotations(free_vars, expanded_def)
        return f"{annotations}\n    {', '.join(plain)}, = fx_pytree.tree_flatten_spec({given}, self._in_spec)"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        if self.pytree_info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation, expanded_def=expanded_def)
        names = self.pytree_info.orig_args
        if names and names[0] == "self":
            free_vars.insert(0, "self")
        head = super().gen_fn_def(names[:], maybe_return_annotation, expanded_def=expanded_def)
        return head + self.gen_var_bindings(names, free_vars, expanded_def) if free_vars else head

    def generate_output(
        self, output_args: Any, *, descs: Sequence[str] | None = None, repr_fn: Callable[[Any], str] | None = None
    ) -> str:
        if not (self.pytree_info and self.pytree_info.out_spec):
            return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
        shown = repr_fn or repr
        if descs is not None and isinstance(output_args, (list, tuple)):
            prefix = "return pytree.tree_unflatten("
            return self._format_multiline_container(output_args, descs, prefix, shown) + ", self._out_spec)"
        return f"return pytree.tree_unflatten({shown(output_args)}, self._out_spec)"
