"""`Proxy`: what stands for a value while a program is traced, and notes what is done with it."""

from __future__ import annotations

import copy
import dis
import enum
import inspect
import operator
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from types import CodeType, FrameType
from typing import Any, NoReturn

from mindtorch._core import state
from mindtorch._support.pytree import tree_map_
from mindtorch.dispatch.overloads import OpOverload
from mindtorch.fx import traceback as fx_traceback
from mindtorch.fx._codegen import magic_methods, reflectable_magic_methods
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.node import Argument, Node, Target, base_types, is_named_tuple, map_arg
from mindtorch.fx.operator_schemas import check_for_mutable_operation
from mindtorch.nn.parameter import Parameter
from mindtorch.overrides import is_tensor_method_or_property

__all__ = [
    "Argument", "Attribute", "GraphAppendingTracer", "MetaProxy", "ParameterProxy", "Proxy", "Scope",
    "ScopeContextManager", "Target", "TraceError", "TracerBase",
]  # fmt: skip

# What nodes get of the meta of the nodes that an interpreter runs.
_COPY_META_FIELDS = (
    "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id",
    "has_backward_hook", "from_node", "quantization_tag", "_numeric_debug_handle", "custom", "partitioner_tag",
)  # fmt: skip


@compatibility(is_backward_compatible=False)
class Scope:
    """The module in which a trace is: its dotted name and its class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


@compatibility(is_backward_compatible=False)
class ScopeContextManager:
    """While it is open, a trace is in another module."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._prev_scope = copy.copy(scope)
        scope.module_path = current_scope.module_path
        scope.module_type = current_scope.module_type
        self._scope = scope

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *exc_info: object) -> None:
        self._scope.module_path = self._prev_scope.module_path
        self._scope.module_type = self._prev_scope.module_type


class _Watching:
    """While an object of this class lives, functions look whether their arguments take over the call.

    A tracer that has made proxies holds one, so that programs which have done with tracing pay nothing.
    """

    __slots__ = ()

    def __init__(self) -> None:
        state.count_active_mode(1)

    def __del__(self) -> None:
        state.count_active_mode(-1)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Watching:
        return _Watching()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Watching, ()


@compatibility(is_backward_compatible=True)
class TracerBase:
    """What makes nodes of the calls of proxies."""

    graph: Graph
    record_stack_traces: bool = False
    _record_forward_stack_traces_only: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, Any]]

    @compatibility(is_backward_compatible=True)
    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Add a node to the graph; its arguments are nodes and plain values."""
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if fx_traceback.has_preserved_node_meta():
            _note_current_meta(node)
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            stack = fx_traceback.stack_of_forward(self._record_forward_stack_traces_only)
            if stack:
                node.stack_trace = stack
        return node

    @compatibility(is_backward_compatible=True)
    def proxy(self, node: Node) -> Proxy:
        """The proxy of a node."""
        return Proxy(node, self)

    @compatibility(is_backward_compatible=True)
    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any | None = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:
        """Add a node whose arguments may be proxies, and give the proxy of its value."""
        nodes = self.create_arg(args)
        keywords = self.create_arg(kwargs)
        if not isinstance(nodes, tuple):
            raise AssertionError(f"Expected args_ to be tuple, got {type(nodes)}")
        if not isinstance(keywords, dict):
            raise AssertionError(f"Expected kwargs_ to be dict, got {type(keywords)}")
        node = self.create_node(kind, target, nodes, keywords, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    @compatibility(is_backward_compatible=True)
    def create_arg(self, a: Any) -> Any:
        """An argument as nodes have it: nodes in the place of proxies. Other types raise a NotImplementedError."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            values = [self.create_arg(each) for each in a]
            return type(a)(*values) if is_named_tuple(a) else type(a)(values)
        if isinstance(a, list):
            return [self.create_arg(each) for each in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, OpOverload):
            return a
        if is_dataclass(a) and not isinstance(a, type):
            keywords = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", type(a), (), keywords)
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        if not isinstance(key, str):
            key = self.create_arg(key)
            map_arg(key, _refuse_key)
        return key

    @compatibility(is_backward_compatible=True)
    def to_bool(self, obj: Proxy) -> bool:
        """What `if proxy:` does: a TraceError, unless a subclass knows better."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    @compatibility(is_backward_compatible=True)
    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What `for item in proxy` does: a TraceError, unless a subclass knows better."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors"
        )

    @compatibility(is_backward_compatible=True)
    def keys(self, obj: Proxy) -> Any:
        """What `**proxy` asks for: a traced call of `keys`, unless a subclass knows better."""
        return Attribute(obj, "keys")()


def _refuse_key(arg: Any) -> NoReturn:
    raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {arg}")


def _note_current_meta(node: Node) -> None:
    """Give a node what is preserved of the meta of the one that runs."""
    meta = fx_traceback.get_current_meta()
    stack = meta.get("stack_trace")
    if stack:
        node.stack_trace = stack
        if fx_traceback.GRADIENT_ACC_SPECIAL_STACK in stack:
            node.meta["is_gradient_acc"] = node.meta["autograd_backward"] = True
    for field in _COPY_META_FIELDS:
        if field in meta:
            node.meta[field] = copy.copy(meta[field])
    number = meta["grad_fn_seq_nr"][-1] if meta.get("in_grad_fn", 0) > 0 else meta.get("seq_nr")
    if number is not None:
        node.meta["seq_nr"] = number
    replayed = fx_traceback.get_current_replay_node()
    if replayed is not None:
        node.meta["is_functional_regenerated"] = True
        node.meta.update({key: replayed.meta[key] for key in ("custom", "stack_trace") if key in replayed.meta})
    if meta.get("autograd_backward", False):
        node.meta["autograd_backward"] = True


@compatibility(is_backward_compatible=True)
class GraphAppendingTracer(TracerBase):
    """Adds what is done with proxies to a graph that is there."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


@compatibility(is_backward_compatible=False)
def assert_fn(x: Any) -> None:
    """The assert statement of a traced program (`trace_asserts`)."""
    if not x:
        raise AssertionError("Assertion failed")


@compatibility(is_backward_compatible=True)
class TraceError(ValueError):
    """A program does what cannot be traced."""


@compatibility(is_backward_compatible=True)
class Proxy:
    """Stands for a value while a program is traced: every call with it becomes a node of the graph.

    `node` is the one that gives the value. What a proxy is asked for is another proxy; control flow that depends on
    its value is a `TraceError`.
    """

    @compatibility(is_backward_compatible=True)
    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        if tracer is None:
            tracer = GraphAppendingTracer(node.graph)
        _watch(tracer)
        self.tracer = tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        # Reading `_mt_array` is how the library's functions find out that something is no tensor.
        if k.startswith("_mt_"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__ = d

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        copied = Proxy(copy.deepcopy(self.node, memo), copy.deepcopy(self.tracer, memo))
        rest = {name: value for name, value in self.__dict__.items() if name not in ("node", "tracer")}
        copied.__dict__.update(copy.deepcopy(rest, memo))
        return copied

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        frame = inspect.currentframe()
        assert frame is not None and frame.f_back is not None
        _, place, instructions = _instructions_around(frame.f_back)
        if instructions[place].opname == "UNPACK_SEQUENCE":  # a, b = proxy
            return (self[number] for number in range(instructions[place].argval))
        return self.tracer.iter(self)

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts:
            frame = inspect.currentframe()
            assert frame is not None and frame.f_back is not None
            if _is_in_assert(frame.f_back):
                self.tracer.create_proxy("call_function", assert_fn, (self,), {})
                return True
        return self.tracer.to_bool(self)

    @compatibility(is_backward_compatible=True)
    def keys(self) -> Any:
        """What `**proxy` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __getitem__(self, index: Any) -> Any:
        return self.tracer.create_proxy("call_function", operator.getitem, (self, index), {})

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        args, kwargs = args or (), kwargs or {}
        tracers: dict[TracerBase, None] = {}
        tree_map_(lambda value: tracers.setdefault(value.tracer) if isinstance(value, cls) else None, (args, kwargs))
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        name = tracer.graph._target_to_str(orig_method)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


def _watch(tracer: Any) -> None:
    """From its first proxy on, a tracer has functions look at their arguments."""
    if "_mt_watching" not in tracer.__dict__:
        tracer._mt_watching = _Watching()


def _instructions_around(frame: FrameType) -> tuple[CodeType, int, list[dis.Instruction]]:
    """The code of a frame, the number of the instruction that runs, and all of them."""
    code = frame.f_code
    instructions = list(dis.get_instructions(code))
    return code, bisect_left([each.offset for each in instructions], frame.f_lasti), instructions


def _is_in_assert(frame: FrameType) -> bool:
    """Whether the truth of a value is asked for by an assert statement without a message."""
    _, place, instructions = _instructions_around(frame)
    # 3.12 and later: the test may be followed by instructions without effect.
    jump = next((each for each in instructions[place:] if each.opname.startswith("POP_JUMP")), None)
    if jump is None or "TRUE" not in jump.opname:
        return False
    behind = instructions[instructions.index(jump) + 1 :]
    behind = [each for each in behind if each.opname not in ("NOT_TAKEN", "CACHE")][:2]
    names = [each.opname for each in behind]
    loads_error = names[:1] == ["LOAD_ASSERTION_ERROR"] or names[:1] == ["LOAD_COMMON_CONSTANT"]
    return loads_error and names[1:] == ["RAISE_VARARGS"]


@compatibility(is_backward_compatible=False)
class MetaProxy(Proxy):
    """A proxy that also computes, on fake tensors, what its value is like."""

    def __init__(self, node: Node, tracer: TracerBase | None = None, fake_mode: Any = None) -> None:
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self) -> str:
        return f"MetaProxy({self.node.name})"

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        args, kwargs = args or (), kwargs or {}
        first = next((value for value in args if isinstance(value, MetaProxy)), None)
        if first is None:
            raise AssertionError("No MetaProxy found in arguments, but one is expected.")
        proxy = super().__torch_function__(orig_method, types, args, kwargs)
        values = [value.node.meta["val"] if isinstance(value, Proxy) else value for value in args]
        with first.fake_mode:
            proxy.node.meta["val"] = orig_method(*values, **kwargs)
        return MetaProxy(proxy.node, proxy.tracer, first.fake_mode)


@compatibility(is_backward_compatible=True)
class Attribute(Proxy):
    """An attribute of a proxy. Only when it is used does it become a node: mostly it is a method that is called."""

    @compatibility(is_backward_compatible=True)
    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


@compatibility(is_backward_compatible=False)
class ParameterProxy(Proxy):
    """The proxy of a parameter, whose shape is known (`param_shapes_constant`)."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, Parameter):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param: Any = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    def size(self) -> Any:
        return self.param.size()

    def dim(self) -> int:
        return int(self.param.dim())

    @property
    def ndim(self) -> int:
        return int(self.param.ndim)

    def numel(self) -> int:
        return int(self.param.numel())

    def nelement(self) -> int:
        return int(self.param.nelement())


def _operator(name: str) -> Callable[..., Any]:
    target = getattr(operator, name)

    def impl(*args: Any, **kwargs: Any) -> Any:
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    impl.__name__ = name
    return impl


def _reflected(name: str) -> Callable[..., Any]:
    target = getattr(operator, name)

    def impl(self: Proxy, rhs: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (rhs, self), {})

    impl.__name__ = impl.__qualname__ = f"__r{name.strip('_')}__"
    return impl


for _name in magic_methods:
    if hasattr(operator, _name):
        setattr(Proxy, f"__{_name.strip('_')}__", _operator(_name))
for _name in reflectable_magic_methods:
    if hasattr(operator, _name):
        setattr(Proxy, f"__r{_name.strip('_')}__", _reflected(_name))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
