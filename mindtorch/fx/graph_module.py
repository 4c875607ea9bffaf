"""`GraphModule`: a module whose `forward` is generated from a graph."""

from __future__ import annotations

import contextlib
import copy
import itertools
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.fx._codegen import _BoxedCodeGen, _custom_builtins, _PyTreeCodeGen
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._names import is_from_torch
from mindtorch.fx._tracer_class import default_tracer_class
from mindtorch.fx.graph import Graph, PythonCode
from mindtorch.fx.node import Node
from mindtorch.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from mindtorch.nn.modules.conv import Conv1d, Conv2d, Conv3d
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module, _addindent
from mindtorch.nn.parameter import Parameter
from mindtorch.serialization import save

__all__ = ["GraphModule", "reduce_graph_module", "reduce_package_graph_module"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
FX_GRAPH_MODULE_FILE_PREFIX = "fx_generated_"


# -------------------- compiling code --------------------


class _EvalCacheLoader:
    """Shows the lines of generated code to tracebacks, as if they were in files."""

    def __init__(self) -> None:
        self.eval_cache: dict[str, str] = {}
        self.next_id = 0

    def cache(self, src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> str:
        key = self._get_key()
        if co_fields and "co_filename" in co_fields:
            if "co_firstlineno" in co_fields and "co_name" in co_fields:
                key += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
            else:
                key = co_fields["co_filename"]
        self.eval_cache[key] = src
        linecache.lazycache(key, {**globals, "__file__": key, "__name__": key, "__loader__": self})
        return key

    def get_source(self, module_name: str) -> str | None:
        return self.eval_cache.get(module_name)

    def _get_key(self) -> str:
        key = f"<eval_with_key>.{self.next_id}"
        self.next_id += 1
        return key


_loader = _EvalCacheLoader()


def _exec_with_source(src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> None:
    key = _loader.cache(src, globals, co_fields)
    exec(compile(src, key, "exec", dont_inherit=True), globals)


def _method_from_src(
    method_name: str, src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None
) -> Callable[..., Any]:
    names = globals.copy()
    _exec_with_source(src, names, co_fields)
    method: Callable[..., Any] = names.pop(method_name)
    return method


def _forward_from_src(src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> Callable[..., Any]:
    return _method_from_src("forward", src, globals, co_fields)


def _place_of(value: Any) -> tuple[str, str]:
    """The module and the name by which Python imports a value."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    module = getattr(value, "__module__", None)
    if name is None or module is None:
        raise TypeError(f"{value!r} has no name that can be imported")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not value or "." in name:
        raise TypeError(f"the object provided has qualified name {name!r} but it's not the same as {module}.{name}")
    return module, name


def _format_import_statement(name: str, obj: Any) -> str:
    if name in _custom_builtins:
        return _custom_builtins[name].import_str
    if is_from_torch(obj):
        return _custom_builtins["torch"].import_str
    module, attribute = _place_of(obj)
    return f"from {module} import {attribute} as {name}"


def _format_import_block(globals: dict[str, Any]) -> str:
    return "\n".join(sorted({_format_import_statement(name, value) for name, value in globals.items()}))


# -------------------- pickling --------------------


@compatibility(is_backward_compatible=True)
def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """The module of a pickle: its code is compiled, and traced for the graph."""
    source = body.get("_code") or body["code"]
    return _deserialize_graph_module(_forward_from_src(import_block + source, {}), body)


@compatibility(is_backward_compatible=True)
def reduce_package_graph_module(importer: Any, body: dict[str, Any], generated_module_name: str) -> Module:
    """The module of a package, whose code is one of the package's modules."""
    return _deserialize_graph_module(importer.import_module(generated_module_name).forward, body)


class _CodeOnlyModule(Module):
    """What a `GraphModule` holds, as a module that can be traced."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _deserialize_graph_module(
    forward: Callable[..., Any], body: dict[str, Any], graph_module_cls: Any = None
) -> Module:
    class CodeOnlyModule(_CodeOnlyModule):
        pass

    CodeOnlyModule.forward = forward
    tracer_cls = body.get("_tracer_cls") or default_tracer_class()
    KeepModules = type(
        "KeepModules", (tracer_cls,), {"is_leaf_module": lambda self, module, module_qualified_name: True}
    )
    module = CodeOnlyModule(body)
    graph = KeepModules().trace(module, **body.get("_tracer_extras", {}))
    traces = body.pop("_graphmodule_graph_node_meta_stack_trace", None) or {}
    for node in graph.nodes:
        if traces.get(node.name) is not None:
            node.meta["stack_trace"] = traces[node.name]
    # What the trace knows of is the tracer that the module was made by.
    graph._tracer_cls = tracer_cls
    made = (graph_module_cls or GraphModule)(module, graph, body.get("_graphmodule_cls_name", "GraphModule"))
    for name, value in body.items():
        if not hasattr(made, name):
            setattr(made, name, value)
    return made


# -------------------- attributes with dotted names --------------------


def _owner_of(module: Module, path: list[str]) -> Module:
    """The submodule with a path, made if it is not there."""
    for name in path:
        below = getattr(module, name, None)
        if below is None:
            below = Module()
            setattr(module, name, below)
        module = below
    return module


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Put what one module has by a dotted name in the same place of another."""
    *path, field = target.split(".")
    for name in path:
        below, place = getattr(from_module, name), getattr(to_module, name, None)
        if below is place:
            return
        from_module, to_module = below, _owner_of(to_module, [name])
    _assign(getattr(from_module, field), to_module, field)


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    """Put a value in the place with a dotted name."""
    *path, field = target.split(".")
    _assign(from_obj, _owner_of(to_module, path), field)


def _assign(value: Any, owner: Module, field: str) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        owner.register_buffer(field, value)
    else:
        setattr(owner, field, value)


def _get_attr(model: Module, attr_name: str) -> Any:
    return _get_attr_via_attr_list(model, attr_name.split("."))


def _del_attr(model: Module, attr_name: str) -> None:
    *path, field = attr_name.split(".")
    delattr(_get_attr_via_attr_list(model, path), field)


def _get_attr_via_attr_list(model: Module, attr_list: list[str]) -> Any:
    if not attr_list:
        return model
    *path, field = attr_list
    owner: Any = model
    for name in path:
        owner = getattr(owner, name, None)
        if owner is None:
            raise AssertionError(f"Attribute '{name}' not found in model")
    return getattr(owner, field)


def _has_attr(model: Module, attr_name: str) -> bool:
    owner: Any = model
    *path, field = attr_name.split(".")
    for name in path:
        if not hasattr(owner, name):
            return False
        owner = getattr(owner, name)
    return hasattr(owner, field)


def _print_readable(
    module: Any, module_name: str, print_output: bool = True, expanded_def: bool = False, **options: Any
) -> str:
    graph = module.graph
    if not isinstance(graph, Graph):
        raise AssertionError("print_readable must be used on a module with a graph")
    code = graph.python_code(root_module="self", verbose=True, expanded_def=expanded_def, **options).src
    text = _addindent(f"class {module_name}(torch.nn.Module):\n" + code.lstrip("\n"), 4)
    below = [
        _print_readable(child, name, print_output=False, **options)
        for name, child in module.named_children()
        if isinstance(child, GraphModule)
    ]
    text += _addindent("\n".join(["", *below]), 4)
    if print_output:
        print(text)  # noqa: T201
    return text


class _WrappedCall:
    """Calls a `GraphModule`, and shows the line of generated code in which an error came up."""

    def __init__(self, cls: Any, cls_call: Callable[..., Any] | None) -> None:
        self.cls = cls
        self.cls_call = cls_call

    @staticmethod
    def _generate_error_message(frame_summary: traceback.FrameSummary) -> str:
        number, line = frame_summary.lineno, frame_summary.line
        assert number is not None and line is not None
        lines = linecache.getlines(frame_summary.filename)
        return "\n".join(
            [
                traceback.format_exc(),
                f"Call using an FX-traced Module, line {number} of the traced Module's generated forward function:",
                "".join(lines[number - 2 : number]),
                "~" * len(line) + "~~~ <--- HERE",
                "\n".join(lines[number : number + 2]),
            ]
        )

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            base: Any = super(self.cls, obj)
            return base.__call__(*args, **kwargs)
        except Exception as error:
            innermost = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__))[-1]
            if "eval_with_key" not in innermost.filename:
                raise
            print(self._generate_error_message(innermost), file=sys.stderr)  # noqa: T201
            raise error.with_traceback(None) from error.__cause__


# -------------------- the module --------------------

_REPRODUCIBLE_FROM_REPR = frozenset((Linear, Conv1d, Conv2d, Conv3d, BatchNorm1d, BatchNorm2d, BatchNorm3d))
_HOOKS_TO_COPY = (
    "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_replace_hooks",
    "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks",
)  # fmt: skip


@compatibility(is_backward_compatible=True)
class GraphModule(Module):
    """A module whose `forward` is the code of a graph. Change `graph`, then call `recompile`.

    `root` is the module, or a dictionary by dotted names, from which it takes the parameters and submodules that the
    graph reads. Each object has a class of its own, as `forward` belongs to the class.
    """

    _graph: Graph

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        base = next(each for each in cls.__mro__ if each.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(base):  # type: ignore[misc, valid-type]
            pass

        return super().__new__(GraphModuleImpl)

    @compatibility(is_backward_compatible=True)
    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = getattr(root, "training", self.training)
            if isinstance(root, _CodeOnlyModule):
                # What generated code does not use was kept, and is in the pickle.
                members = (root.named_children(), root.named_buffers(), root.named_parameters())
                targets = [name for each in members for name, _ in each] + targets
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            self._take_from(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        tracer_cls = graph._tracer_cls
        is_global = tracer_cls and "<locals>" not in tracer_cls.__qualname__
        self._tracer_cls = tracer_cls if is_global else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        self._replace_hooks: list[Callable[..., Any]] = []
        self._create_node_hooks: list[Callable[[Node], Any]] = []
        self._erase_node_hooks: list[Callable[[Node], Any]] = []
        self._deepcopy_hooks: list[Callable[[GraphModule], Any]] = []
        self.shape_env: Any = None

    def _take_from(self, root: dict[str, Any], graph: Graph) -> None:
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module") and node.target not in root:
                raise RuntimeError(
                    f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                )
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        for target in sorted(targets, key=lambda name: name.count(".")):  # modules before what is in them
            _assign_attr(root[target], self, target)

    @property
    def _boxed_call(self) -> bool:
        return isinstance(self._graph._codegen, _BoxedCodeGen)

    @property
    def graph(self) -> Graph:
        """The graph; assigning another one compiles it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    # -------------------- code --------------------

    @property
    def code(self) -> str:
        """The source of `forward`."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    @compatibility(is_backward_compatible=True)
    def recompile(self) -> PythonCode:
        """Make `forward` anew from the graph, which is necessary when that was changed."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec
        code = self._graph.python_code(root_module="self")
        self._code: str = code.src
        self._lineno_map = code._lineno_map
        self._prologue_start = code._prologue_start
        cls: Any = type(self)
        cls.forward = _forward_from_src(self._code, code.globals, getattr(self._graph, "_co_fields", {}))
        # A class that is made anew in each recompile would call itself: what was there first is kept.
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()

        def call_wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self._wrapped_call(self, *args, **kwargs)

        cls.__call__ = call_wrapped
        return code

    @compatibility(is_backward_compatible=False)
    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """Print the code as that of a class, with shapes and where its lines come from, as far as that is known."""
        return _print_readable(
            self,
            self._get_name(),
            print_output,
            expanded_def,
            include_stride=include_stride,
            include_device=include_device,
            colored=colored,
            additional_meta=additional_meta,
        )

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, reminder])

    @compatibility(is_backward_compatible=False)
    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """Write the module as a package of Python code with its state, which can be edited and imported."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        save(self.state_dict(), folder / "state_dict.pt")
        imports = "\n".join([each.import_str for each in _custom_builtins.values()])
        lines = [
            "", _custom_builtins["torch"].import_str, imports, "", "from mindtorch.nn import *",
            f"class {module_name}(torch.nn.Module):", "    def __init__(self):", "        super().__init__()",
        ]  # fmt: skip
        pickled = []
        for name, module in self.named_children():
            if type(module) in _REPRODUCIBLE_FROM_REPR:
                lines.append(f"        setattr(self, '{name}', {module!r})")
                continue
            file = folder / f"{name}.pt"
            save(module, file)
            pickled.append(name)
            shown = repr(module).replace("\r", " ").replace("\n", " ")
            lines.append(f"        setattr(self, '{name}', torch.load(r'{file}', weights_only=False)) # {shown}")
        for name, value in [*self._buffers.items(), *self._parameters.items()]:
            if value is None:
                continue
            empty = f"torch.empty({list(value.shape)}, dtype={value.dtype})"
            if name in self._buffers:
                lines.append(f"        self.register_buffer('{name}', {empty})")
            else:
                lines.append(f"        setattr(self, '{name}', torch.nn.Parameter({empty}))")
        lines += [f"        self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))", _addindent(self.code, 4), ""]
        (folder / "module.py").write_text("\n".join(lines))
        (folder / "__init__.py").write_text("from .module import *")
        if pickled:
            warn(
                "Was not able to save the following children modules as reprs -"
                f"saved as pickled files instead: {pickled}",
                UserWarning,
            )

    # -------------------- submodules --------------------

    @compatibility(is_backward_compatible=True)
    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module in the place with a dotted name, which is made; False if something else is in the way."""
        *path, field = target.split(".")
        owner: Module = self
        for name in path:
            below = getattr(owner, name, None)
            if below is None:
                below = Module()
                setattr(owner, name, below)
            if not isinstance(below, Module):
                return False
            owner = below
        owner.add_module(field, m)
        return True

    @compatibility(is_backward_compatible=True)
    def delete_submodule(self, target: str) -> bool:
        """Take the module with a dotted name out; False if there is none."""
        *path, field = target.split(".")
        owner: Any = self
        for name in path:
            owner = getattr(owner, name, None)
            if not isinstance(owner, Module):
                return False
        if not isinstance(getattr(owner, field, None), Module):
            return False
        delattr(owner, field)
        return True

    @compatibility(is_backward_compatible=True)
    def delete_all_unused_submodules(self) -> None:
        """Take out the modules that no node calls or reads something of."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            used.update(itertools.accumulate(node.target.split("."), "{}.{}".format))
            if node.op == "call_module" and _has_attr(self, node.target):
                used.update(
                    f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name
                )
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # -------------------- copies --------------------

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.__dict__.copy()
        imports = _format_import_block(self.recompile().globals)
        del state["_graph"]
        return reduce_graph_module, (state, imports)

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        body = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(copied, body, body.__dict__["_graph"])
        for name in _HOOKS_TO_COPY:
            if name in self.__dict__:
                setattr(copied, name, copy.deepcopy(self.__dict__[name], memo))
        copied.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in copied.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(copied, name, value)
        for hook in getattr(self, "_deepcopy_hooks", ()):
            hook(copied)
        return copied

    def __copy__(self) -> GraphModule:
        copied = GraphModule(self, self.graph)
        copied.meta = getattr(self, "meta", {})
        return copied

    # -------------------- hooks of changes --------------------

    @contextlib.contextmanager
    def _set_replace_hook(self, f: Callable[..., Any]) -> Iterator[None]:
        """Call a function in the block whenever a node gets another input, or another name."""
        if not callable(f):
            raise AssertionError("Replace hook must be a callable.")
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.append(_checked(f, "create_node"))

    def _unregister_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.remove(_checked(f, "create_node"))

    def _register_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.append(_checked(f, "create_node"))

    def _unregister_create_node_hook(self, f: Callable[..., Any]) -> None:
        self._create_node_hooks.remove(_checked(f, "create_node"))

    def _register_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.append(_checked(f, "erase_node"))

    def _unregister_erase_node_hook(self, f: Callable[..., Any]) -> None:
        self._erase_node_hooks.remove(_checked(f, "erase_node"))

    def _register_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.append(_checked(f, "deepcopy"))

    def _unregister_deepcopy_hook(self, f: Callable[..., Any]) -> None:
        self._deepcopy_hooks.remove(_checked(f, "deepcopy"))


def _checked(hook: Callable[..., Any], kind: str) -> Callable[..., Any]:
    if not callable(hook):
        raise AssertionError(f"{kind} hook must be a callable.")
    return hook
