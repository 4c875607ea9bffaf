"""`make_fx`: the graph of the ops that a function runs, below autograd and with composite ops taken apart."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functions.symbolic import SymBool, SymFloat, SymInt
from mindtorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from mindtorch._support.pytree import tree_leaves, tree_map
from mindtorch.dispatch.modes.torch_dispatch import TorchDispatchMode, without_modes
from mindtorch.dispatch.overloads import operators
from mindtorch.fx._lazy_graph_module import _make_graph_module
from mindtorch.fx._symbolic_trace import PH, Tracer
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.shape_prop import _extract_tensor_metadata
from mindtorch.fx.proxy import Proxy
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

__all__ = [
    "PythonKeyTracer", "dispatch_trace", "get_proxy_mode", "is_sym_node", "make_fx", "maybe_disable_fake_tensor_mode",
    "py_sym_types",
]  # fmt: skip

py_sym_types = (SymInt, SymFloat, SymBool)

_A_VALUE_IS_ASKED_FOR = (
    "It appears that you're trying to get value out of a tracing tensor with {} - erroring out! It's likely that this "
    "is caused by data-dependent control flow or similar.  It may be possible to trace this with dynamic shapes; try "
    "setting tracing_mode='symbolic' in your make_fx call."
)


def is_sym_node(node: Node) -> bool:
    """Whether the value of a node is a symbolic number."""
    return isinstance(node.meta.get("val"), py_sym_types)


class _Values:
    """The proxies of the tensors of a trace.

    Autograd makes other objects of what it has saved, so that a tensor is also known by its array. All are kept: what
    is gone may come back as another one with the same `id`.
    """

    def __init__(self) -> None:
        self.by_object: dict[int, Proxy] = {}
        self.by_array: dict[int, Proxy] = {}
        self.kept: list[Any] = []

    def get(self, tensor: Any) -> Proxy | None:
        found = self.by_object.get(id(tensor))
        return self.by_array.get(id(tensor._mt_array)) if found is None else found

    def set(self, tensor: Any, proxy: Proxy, is_written: bool) -> None:
        self.kept += (tensor, tensor._mt_array)
        self.by_object[id(tensor)] = proxy
        if is_written:
            self.by_array[id(tensor._mt_array)] = proxy
        else:
            self.by_array.setdefault(id(tensor._mt_array), proxy)


class PythonKeyTracer(Tracer):
    """Makes the graph of ops: modules are traced through, and parameters are constants of the graph."""

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())
        self.values = _Values()

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, Parameter):
            name = next((name for name, each in self.root.named_parameters() if each is a), None)
            if name is None:
                name = self.get_fresh_qualname("_param_constant")
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def track(self, value: Any, proxy: Any, written: set[int]) -> None:
        """Note the proxies of what an op gave: one tensor, or several, which are taken out of the result."""
        if isinstance(value, Tensor):
            self.values.set(value, proxy, id(value) in written)
            _note_value(proxy.node, value)
        elif isinstance(value, (tuple, list)):
            proxy.node.meta["val"] = tree_map(_snapshot, list(value) if isinstance(value, list) else tuple(value))
            for place, each in enumerate(value):
                self.track(each, proxy[place], written)

    def unwrapped(self, value: Any) -> Any:
        """The proxy of a value, or the value."""
        found = self.values.get(value) if isinstance(value, Tensor) else None
        return value if found is None else found


_snapshots = FakeTensorMode()


def _snapshot(value: Any) -> Any:
    """What a value is like, without its data."""
    if not isinstance(value, Tensor):
        return value
    with without_modes():
        mode = value.fake_mode if isinstance(value, FakeTensor) else _snapshots
        return FakeTensor(mode, value, requires_grad=False)


snapshot_fake = _snapshot


def _note_value(node: Node, value: Any) -> None:
    node.meta["val"] = _snapshot(value)
    node.meta["tensor_meta"] = _extract_tensor_metadata(value)


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Makes nodes of the ops on tensors that are traced."""

    def __init__(
        self,
        tracer: PythonKeyTracer,
        decompositions: Mapping[Any, Callable[..., Any]],
        error_on_data_dependent_ops: bool = True,
    ) -> None:
        self.tracer = tracer
        self.decompositions = decompositions
        self.error_on_data_dependent_ops = error_on_data_dependent_ops

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in self.decompositions:
            with self:
                result = self.decompositions[func](*args, **kwargs)
            if result is not NotImplemented:
                return result
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        if func._opname == "_local_scalar_dense":
            if self.error_on_data_dependent_ops and any(self.tracer.values.get(each) is not None for each in tensors):
                raise RuntimeError(_A_VALUE_IS_ASKED_FOR.format(func))
            return func(*args, **kwargs)
        if func._opname in ("lift_fresh", "lift"):
            func = operators.aten.clone.default  # each run gets a constant of its own, which it may write
        given, keywords = tree_map(self.tracer.unwrapped, (args, kwargs))
        name = self.tracer.graph._target_to_str(func._opname)
        proxy = self.tracer.create_proxy("call_function", func, given, keywords, name=name)
        result = func(*args, **kwargs)
        written = {id(each) for each in tensors}
        self.tracer.track(result, proxy, written)
        return result


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode of the innermost `make_fx` that runs."""
    with without_modes() as modes:
        return next((mode for mode in reversed(modes) if isinstance(mode, ProxyTorchDispatchMode)), None)


@contextmanager
def disable_proxy_modes_tracing() -> Iterator[None]:
    """In this block nothing is traced."""
    with without_modes() as modes:
        others = [mode for mode in modes if not isinstance(mode, ProxyTorchDispatchMode)]
        opened: list[Any] = []
        try:
            for mode in others:
                mode.__enter__()
                opened.append(mode)
            yield
        finally:
            while opened:
                opened.pop().__exit__(None, None, None)


maybe_disable_fake_tensor_mode = nullcontext


def dispatch_trace(
    root: Module | Callable[..., Any], tracer: Tracer, concrete_args: tuple[Any, ...] | None = None
) -> GraphModule:
    """The module of the graph that a tracer makes of a function which runs ops on tensors."""
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)


def _with_signature(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function with `count` parameters that have names."""
    names = ", ".join([f"arg{number}" for number in range(count)])
    return eval(f"lambda {names}: fn({names})", {"fn": function})


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
    record_stack_traces: bool = False,
) -> Callable[..., GraphModule]:
    """A function that runs `f` on its arguments and gives a module of the ops that ran, backward passes included.

    `decomposition_table` has functions for ops that are to be taken apart. With `tracing_mode` "fake", nothing is
    computed.
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode must be real/fake/symbolic, got {tracing_mode}")
    if tracing_mode == "symbolic":
        raise NotImplementedError("make_fx has no symbolic sizes here: tracing_mode has to be 'real' or 'fake'")
    if pre_dispatch:
        raise NotImplementedError("make_fx traces below autograd here: pre_dispatch has to be False")

    def traced(*args: Any) -> GraphModule:
        tracer = PythonKeyTracer()
        tracer.record_stack_traces = record_stack_traces
        fake_mode = FakeTensorMode(allow_non_fake_inputs=_allow_non_fake_inputs) if tracing_mode == "fake" else None
        values = args if fake_mode is None else tree_map(
            lambda each: fake_mode.from_tensor(each) if isinstance(each, Tensor) else each, args
        )  # fmt: skip
        code = getattr(inspect.unwrap(f), "__code__", None)
        named = f if code is not None and not code.co_flags & inspect.CO_VARARGS else _with_signature(f, len(args))
        root = _wrap_key(named, values, tracer)
        mode = ProxyTorchDispatchMode(tracer, decomposition_table or {}, _error_on_data_dependent_ops)
        with _Below(fake_mode, mode):
            placeholders = tree_map(lambda leaf: PH, args)
            return dispatch_trace(root, tracer, tuple(placeholders))

    traced.__name__ = getattr(f, "__name__", type(f).__name__)
    return traced


class _Below:
    """Modes for a block, the outermost one first."""

    def __init__(self, *modes: Any) -> None:
        self.modes = [mode for mode in modes if mode is not None]

    def __enter__(self) -> None:
        for mode in self.modes:
            mode.__enter__()

    def __exit__(self, *exc_info: Any) -> None:
        for mode in reversed(self.modes):
            mode.__exit__(*exc_info)


def _wrap_key(f: Callable[..., Any], values: Any, tracer: PythonKeyTracer) -> Callable[..., Any]:
    """A function of proxies that runs `f` on the values which these stand for."""

    def wrapped(*proxies: Any) -> Any:
        leaves = tree_leaves(proxies)
        for value, proxy in zip(tree_leaves(values), leaves):
            if isinstance(value, Tensor):
                tracer.values.set(value, proxy, is_written=False)
                _note_value(proxy.node, value)
            elif isinstance(proxy, Proxy):
                proxy.node.meta["val"] = value
        return tree_map(tracer.unwrapped, f(*values))

    wrapped.__name__ = getattr(f, "__name__", type(f).__name__)
    wrapped.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
    wrapped.__wrapped__ = f  # type: ignore[attr-defined]  # whose parameters are the placeholders
    return wrapped
