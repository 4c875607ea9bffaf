"""`symbolic_trace`: the graph of a function or module, found by running it on proxies."""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import functools
import inspect
import math
import os
import typing
from collections.abc import Callable, Iterator
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

from mindtorch._core.tensor import Tensor
from mindtorch._functions.checks import _assert
from mindtorch._support.pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten
from mindtorch._support.warnings import warn
from mindtorch.fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._lazy_graph_module import _make_graph_module
from mindtorch.fx._tracer_class import register_default_tracer
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Argument, base_types, is_named_tuple, map_aggregate
from mindtorch.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

__all__ = ["Argument", "PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap"]


class ScriptObject:
    """An object of TorchScript, for tracers of other libraries that ask for the name; nothing is one."""


HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
Function = TypeVar("Function")

# What a module does without a trace; libraries that patch modules of their own look it up here.
_orig_module_call: Callable[..., Any] = Module.__call__
_orig_module_getattr: Callable[..., Any] = Module.__getattr__

_proxyable_classes: dict[type, None] = {}
_is_fx_tracing_flag = False


def is_fx_tracing() -> bool:
    """Whether a program is being traced."""
    return _is_fx_tracing_flag


def is_fx_symbolic_tracing() -> bool:
    """Whether a program is being traced by `symbolic_trace` or a `Tracer`."""
    return _is_fx_tracing_flag


@compatibility(is_backward_compatible=True)
class ProxyableClassMeta(type):
    """A metaclass for classes of which a trace may make objects from proxies: the graph calls the class."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs) if is_fx_tracing() else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        instance = cls.__new__(cls)  # type: ignore[call-overload]
        cls.__init__(instance, *args, **kwargs)  # type: ignore[misc]
        return instance


def _patch_function(fn: Any, nargs: int) -> FunctionType:
    """The same function with `nargs` positional parameters: `*args` is one of them, a value like any other."""
    code = fn.__code__
    plain = code.replace(
        co_argcount=nargs, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~HAS_VARSTUFF
    )
    return FunctionType(plain, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


@compatibility(is_backward_compatible=False)
class PHBase:
    """Among `concrete_args`: a leaf that stays an input."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


@compatibility(is_backward_compatible=False)
class PHWithMeta(PHBase):
    """The same, whose attributes the placeholder gets."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


def _transfer_attrs(fr: Any, to: Any) -> None:
    for name in dir(fr):
        value = getattr(fr, name)
        if not callable(value) and not name.startswith("__") and not hasattr(to, name):
            setattr(to, name, value)


@register_default_tracer
@compatibility(is_backward_compatible=True)
class Tracer(TracerBase):
    """Makes the graph of a module or function. Subclasses say which modules are leaves, which values are constants...

    Functions of `autowrap_modules` and `autowrap_functions` are leaves where globals of the program have them. With
    `param_shapes_constant`, the shapes of parameters are numbers and not nodes.
    """

    root: Module
    tensor_attrs: dict[Any, str]

    @compatibility(is_backward_compatible=True)
    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        members = chain.from_iterable(vars(module).items() for module in autowrap_modules)
        found = [value for name, value in members if not name.startswith("_") and callable(value)]
        self._autowrap_function_ids = {id(function) for function in (*found, *autowrap_functions)}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    _qualname_counter: dict[str, int] = collections.defaultdict(int)

    @compatibility(is_backward_compatible=True)
    def get_fresh_qualname(self, prefix: str) -> str:
        """A name for a new attribute of the root."""
        name = f"{prefix}0"
        if not hasattr(self.root, name):
            self._qualname_counter[prefix] = 0
            return name
        number = self._qualname_counter[prefix]
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._qualname_counter[prefix] = number + 1
        return f"{prefix}{number}"

    @compatibility(is_backward_compatible=True)
    def create_arg(self, a: Any) -> Any:
        """An argument as nodes have it; parameters, buffers, modules and other tensors are attributes of the root."""
        if isinstance(a, Parameter):
            name = _name_of(a, self.root.named_parameters())
            if name is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, (Tensor, Module)):
            members: Any = self.root.named_buffers() if isinstance(a, Tensor) else self.root.named_modules()
            name = _name_of(a, members)
            if name is not None:
                return self.create_node("get_attr", name, (), {})
        if is_named_tuple(a):
            return self.create_node("call_function", type(a), tuple([self.create_arg(each) for each in a]), {})
        if isinstance(a, (Tensor, TreeSpec)):
            return self.create_node("get_attr", self._constant_name(a), (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _constant_name(self, value: Any) -> str:
        """The attribute of the root that has a tensor, which it gets if it has it not."""
        name = self.tensor_attrs.get(value)
        if not name:
            prefix = "_tensor_constant" if isinstance(value, Tensor) else "_tree_spec_constant"
            name = self.tensor_attrs[value] = self.get_fresh_qualname(prefix)
            setattr(self.root, name, value)
        return name

    @compatibility(is_backward_compatible=True)
    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module is called as a whole; others are traced through. By default those of `torch.nn` are."""
        return _is_of_library(m) and type(m).__name__ != "Sequential"

    @compatibility(is_backward_compatible=True)
    def path_of_module(self, mod: Module) -> str:
        """The dotted name of a submodule of the root."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = _name_of(mod, self.root.named_modules())
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    @compatibility(is_backward_compatible=True)
    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the call of a submodule does in a trace; `forward` traces through it."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self.num_calls.get(path, 0)
            key = f"{path}@{calls}" if calls > 0 else path
            self.module_stack[key] = (path, type(m))
            self.num_calls[path] = calls + 1
            if self.is_leaf_module(m, path):
                result = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            last, _ = self.module_stack.popitem(last=True)
            if last != key:
                raise AssertionError(f"Unexpected key {last}, expected {key}")
        return result

    @compatibility(is_backward_compatible=False)
    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What reading an attribute of a module gives in a trace: proxies of parameters."""
        if isinstance(attr_val, Parameter):
            members: Any = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            members = self.root.named_buffers()
        else:
            return attr_val
        name = _name_of(attr_val, members)
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            parameter_proxy_cache[name] = self._attribute_proxy(name, attr_val)
        return parameter_proxy_cache[name]

    def _attribute_proxy(self, name: str, value: Any) -> Any:
        # A subclass may have a `create_proxy` that is older than this keyword.
        if "proxy_factory_fn" not in inspect.signature(self.create_proxy).parameters:
            return self.create_proxy("get_attr", name, (), {})
        factory = (lambda node: ParameterProxy(self, node, name, value)) if self.param_shapes_constant else None
        return self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=factory)

    # -------------------- inputs --------------------

    @compatibility(is_backward_compatible=False)
    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The function to be run, and what it is run on: proxies of its parameters, in place of `self` the root."""
        function: Any = inspect.unwrap(root_fn)
        code = function.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        args: list[Any] = []
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            args.append(self.root)
        parameters = inspect.signature(function).parameters
        if isinstance(concrete_args, tuple) and concrete_args and code.co_flags & HAS_VARSTUFF and total == 1:
            return root_fn, [*args, *[self._input(number, each) for number, each in enumerate(concrete_args)]]
        given = names[len(args) : total]
        if isinstance(concrete_args, tuple):
            if len(given) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(given)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(given, concrete_args))
        args += [self._placeholder(name, concrete_args, parameters, function) for name in given]
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            stars = [mark for mark, flag in (("*", inspect.CO_VARARGS), ("**", inspect.CO_VARKEYWORDS))
                     if code.co_flags & flag]  # fmt: skip
            for mark, name in zip(stars, names[total:]):
                args.append(self._placeholder(mark + name, concrete_args, parameters, function))
            root_fn = _patch_function(root_fn, len(args))
        leaves, spec = tree_flatten(tuple(args))
        if all(child.is_leaf() for child in spec.children()):
            return root_fn, args
        codegen = self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names[:total], spec, None))

        def flat(*leaves):  # type: ignore[no-untyped-def]  # what is annotated, the generated function has, too
            result, out_spec = tree_flatten(root_fn(*tree_unflatten(list(leaves), spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return result

        return flat, leaves

    def _input(self, number: int, concrete: Any) -> Any:
        proxy = self.create_proxy("placeholder", f"input_{number}", (), {})
        if isinstance(concrete, PHBase) and concrete is not PH:
            _transfer_attrs(concrete, proxy.node)
        return proxy

    def _placeholder(self, name: str, concrete_args: Any, parameters: Any, function: Any) -> Any:
        default = () if name[0] == "*" or parameters[name].default is inspect.Parameter.empty else (
            parameters[name].default,
        )  # fmt: skip
        if concrete_args is None or name not in concrete_args:
            annotation = _annotations_of(function).get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=annotation)
        count = 0

        def of_leaf(value: Any) -> Any:
            nonlocal count
            count += 1
            proxy = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            return self._specialized(proxy, value, name)

        return tree_map(of_leaf, concrete_args[name])

    def _specialized(self, proxy: Any, value: Any, name: str) -> Any:
        """What stands for a leaf of `concrete_args` in the trace: its value, which the graph asserts."""
        if isinstance(value, PHBase):
            if value is not PH:
                _transfer_attrs(value, proxy.node)
            return proxy
        if type(value) is bool or (type(value) in base_types and type(value) is not Tensor):
            _assert(proxy == value, f"{name} has been specialized to have value {value} but got another value")
        elif value is None:
            message = f"{name} has been specialized to have value None but got another value"
            self.create_proxy("call_function", _assert_is_none, (proxy, message), {})
        else:
            warn(
                f"Was not able to add assertion to guarantee correct input {name} to "
                "specialized function. It is up to the user to make sure that your inputs match the "
                "inputs you specialized the function with.",
                UserWarning,
            )
        return value

    # -------------------- the trace --------------------

    @compatibility(is_backward_compatible=True)
    def trace(self, root: Module | Callable[..., Any], concrete_args: Any = None) -> Graph:
        """Run a module or function on proxies; gives the graph of what it did.

        `concrete_args` has values of parameters for which the trace is made, by name or as a tuple: control flow may
        depend on them, and the graph asserts that they are what they were. `PH` stands for what stays an input.
        """
        global _is_fx_tracing_flag
        before, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            fn: Any
            if isinstance(root, Module):
                self.root = root
                if not hasattr(type(root), self.traced_func_name):
                    raise AssertionError(
                        f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
                    )
                fn = getattr(type(root), self.traced_func_name)
                self.root_module_name = root._get_name()
                self.submodule_paths = {module: name for name, module in root.named_modules()}
            else:
                self.root = Module()
                fn = root
            self.graph = Graph(tracer_cls=type(self))
            if hasattr(fn, "__code__"):
                self.graph._co_fields = _place_of(fn.__code__)
            self.tensor_attrs = _tensors_of(self.root)
            if not isinstance(fn, FunctionType):
                raise AssertionError(f"Expected FunctionType, got {type(fn)}")
            names = fn.__globals__
            function, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
            with self._patched(names):
                result = self.create_arg(function(*args))
                returns = _annotations_of(inspect.unwrap(function)).get("return")
                self.create_node("output", "output", (result,), {}, type_expr=returns)
            self.submodule_paths = None
        finally:
            _is_fx_tracing_flag = before
        return self.graph

    @contextlib.contextmanager
    def _patched(self, names: dict[str, Any]) -> Iterator[None]:
        """In this block modules and wrapped functions are traced."""
        proxies: dict[str, Any] = {}

        @functools.wraps(_orig_module_getattr)
        def module_getattr_wrapper(mod: Any, attr: str) -> Any:
            return self.getattr(attr, _orig_module_getattr(mod, attr), proxies)

        @functools.wraps(_orig_module_call)
        def module_call_wrapper(mod: Any, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return _orig_module_call(mod, *args, **kwargs)

            where = getattr(getattr(mod, "forward", mod), "__globals__", {})
            _autowrap_check(patcher, where, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        with _new_patcher() as patcher, _attributes_looked_up(self.root):
            patcher.patch_method(Module, "__getattr__", module_getattr_wrapper, deduplicate=False)
            patcher.patch_method(Module, "__call__", module_call_wrapper, deduplicate=False)
            _patch_wrapped_functions(patcher)
            _autowrap_check(patcher, names, self._autowrap_function_ids)
            for module in self._autowrap_search:
                _autowrap_check(patcher, module.__dict__, self._autowrap_function_ids)
            yield

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        copied = Tracer.__new__(Tracer)
        for name, value in self.__dict__.items():
            is_modules = name == "_autowrap_search"  # which cannot be copied
            copied.__dict__[name] = copy.copy(value) if is_modules else copy.deepcopy(value, memo)
        return copied


def _is_of_library(module: Module) -> bool:
    place = type(module).__module__
    return place.startswith(("mindtorch.nn", "mindtorch.ao.nn", "torch.nn", "torch.ao.nn"))


def _annotations_of(function: Any) -> dict[str, Any]:
    """The annotations of a function. Those of the library itself are strings, and tell more than torch's do."""
    if not str(function.__module__).startswith("mindtorch.nn"):
        return inspect.get_annotations(function)
    found = typing.get_type_hints(function)
    return {name: each for name, each in found.items() if each is not Any}


def _name_of(value: Any, members: Any) -> str | None:
    return next((name for name, member in members if member is value), None)


def _place_of(code: Any) -> dict[str, Any]:
    return {"co_name": code.co_name, "co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno}


def _tensors_of(root: Module) -> dict[Any, str]:
    """The tensors that modules have as plain attributes, with their dotted names."""
    return {
        value: f"{path}.{name}" if path else name
        for path, module in root.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, (Tensor, TreeSpec))
    }


@contextlib.contextmanager
def _attributes_looked_up(root: Module) -> Iterator[None]:
    """In this block the layers of a module read their parameters as attributes, of which the trace gives proxies."""
    modules = list(root.modules())
    for module in modules:
        module.__dict__["_has_plain_lookup"] = False
    try:
        yield
    finally:
        for module in modules:
            module.__dict__.pop("_has_plain_lookup", None)


# -------------------- functions and methods that are leaves --------------------

# By the `id` of a module's globals and the name in them: functions that `wrap` was called with.
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []
if os.environ.get("FX_PATCH_GETITEM") == "1":
    _wrapped_methods_to_patch.append((Tensor, "__getitem__"))


def _find_proxy(*objects_to_search: Any) -> Proxy | None:
    found: list[Proxy] = []
    map_aggregate(objects_to_search, lambda value: found.append(value) if isinstance(value, Proxy) else None)
    return found[-1] if found else None


def _create_wrapped_func(orig_fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is a leaf if one of its arguments is a proxy."""

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", orig_fn, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    return wrapped


def _create_wrapped_method(cls: type, name: str) -> Callable[..., Any]:
    orig_fn = getattr(cls, name)

    @functools.wraps(orig_fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return orig_fn(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class _PatchedFn(NamedTuple):
    """A name that stands for something else while a program is traced."""

    frame_dict: Any
    fn_name: str
    orig_fn: Any
    new_fn: Any

    def revert(self) -> None:
        raise NotImplementedError

    def patch(self) -> None:
        raise NotImplementedError


class _PatchedFnSetItem(_PatchedFn):
    """A global name."""

    def revert(self) -> None:
        self.frame_dict[self.fn_name] = self.orig_fn

    def patch(self) -> None:
        self.frame_dict[self.fn_name] = self.new_fn


class _PatchedFnDel(_PatchedFn):
    """A global name that hides a builtin."""

    def revert(self) -> None:
        del self.frame_dict[self.fn_name]

    def patch(self) -> None:
        self.frame_dict[self.fn_name] = self.new_fn


class _PatchedFnSetAttr(_PatchedFn):
    """A method of a class."""

    def revert(self) -> None:
        setattr(self.frame_dict, self.fn_name, self.orig_fn)

    def patch(self) -> None:
        setattr(self.frame_dict, self.fn_name, self.new_fn)


class _Patcher:
    """Has names stand for something else, until it is left."""

    def __init__(self) -> None:
        self.patches_made: list[_PatchedFn] = []
        self.visited: set[int] = set()

    def patch(
        self, frame_dict: dict[str, Any], name: str, new_fn: Callable[..., Any], deduplicate: bool = True
    ) -> None:
        """Replace a global name, or a builtin as one."""
        new_fn.__fx_already_patched = deduplicate  # type: ignore[attr-defined]
        if name not in frame_dict and hasattr(builtins, name):
            self._make(_PatchedFnDel(frame_dict, name, None, new_fn))
        elif not getattr(frame_dict[name], _MARK, False):
            self._make(_PatchedFnSetItem(frame_dict, name, frame_dict[name], new_fn))

    def patch_method(self, cls: type, name: str, new_fn: Callable[..., Any], deduplicate: bool = True) -> None:
        """Replace a method of a class."""
        new_fn.__fx_already_patched = deduplicate  # type: ignore[attr-defined]
        original = getattr(cls, name)
        if not getattr(original, _MARK, False):
            self._make(_PatchedFnSetAttr(cls, name, original, new_fn))

    def _make(self, patched: _PatchedFn) -> None:
        self.patches_made.append(patched)
        patched.patch()

    def visit_once(self, thing: Any) -> bool:
        """Whether this is the first visit to an object."""
        is_new = id(thing) not in self.visited
        self.visited.add(id(thing))
        return is_new

    def revert_all_patches(self) -> list[_PatchedFn]:
        for patched in self.patches_made:
            patched.revert()
        return self.patches_made

    def reapply_all_patches(self) -> list[_PatchedFn]:
        for patched in self.patches_made:
            patched.patch()
        return self.patches_made

    def __enter__(self) -> _Patcher:
        return self

    def __exit__(self, *exc_info: object) -> None:
        while self.patches_made:
            self.patches_made.pop().revert()
        self.visited.clear()


_MARK = "_Patcher__fx_already_patched"  # inside of a class, Python makes this of the name
CURRENT_PATCHER: _Patcher | None = None


@contextlib.contextmanager
def _new_patcher() -> Iterator[_Patcher]:
    global CURRENT_PATCHER
    before = CURRENT_PATCHER
    CURRENT_PATCHER = patcher = _Patcher()
    try:
        yield patcher
    finally:
        patcher.__exit__()
        CURRENT_PATCHER = before


@contextlib.contextmanager
def _maybe_revert_all_patches() -> Iterator[None]:
    """In this block nothing is patched."""
    patcher = CURRENT_PATCHER
    if patcher is not None:
        patcher.revert_all_patches()
    try:
        yield
    finally:
        if patcher is not None:
            patcher.reapply_all_patches()


def _patch_wrapped_functions(patcher: _Patcher) -> None:
    for (_, name), frame_dict in _wrapped_fns_to_patch.copy().items():
        original = frame_dict[name] if name in frame_dict else getattr(builtins, name)
        patcher.patch(frame_dict, name, _create_wrapped_func(original))
    for cls, name in _wrapped_methods_to_patch:
        patcher.patch_method(cls, name, _create_wrapped_method(cls, name))


def _autowrap_check(patcher: _Patcher, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """Wrap what a dictionary of globals has of these functions."""
    if patcher.visit_once(frame_dict):
        found = [
            (name, value)
            for name, value in frame_dict.items()
            if not name.startswith("_") and callable(value) and id(value) in function_ids
        ]
        for name, value in found:
            patcher.patch(frame_dict, name, _create_wrapped_func(value))


@compatibility(is_backward_compatible=True)
def wrap(fn_or_name: Function) -> Function:
    """Note that a function, or builtin, of the calling module is a leaf: graphs call it.

    To be called at the top of a module, with the function or its name, or as a decorator there.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__  # type: ignore[attr-defined]
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    if frame.f_back.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    names = frame.f_back.f_globals
    _wrapped_fns_to_patch[(id(names), name)] = names
    return fn_or_name


@compatibility(is_backward_compatible=True)
def symbolic_trace(root: Module | Callable[..., Any], concrete_args: Any = None) -> GraphModule:
    """A `GraphModule` that does what a module or function did when it was run on proxies (see `Tracer.trace`)."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)


@wrap
def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)
