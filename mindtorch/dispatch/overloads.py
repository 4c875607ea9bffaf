"""`operators`, which users know as `mindtorch.ops`: every op by namespace, name and overload, as in `torch.ops`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from keyword import iskeyword
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mindtorch._core import state
from mindtorch._support.lazy import lazy
from mindtorch._support.op_names import ATEN, qualified
from mindtorch.dispatch.families import functions_of
from mindtorch.dispatch.registry import OpEntry, all_ops, overloads_of
from mindtorch.dispatch.schema.tags import Tag, tags_named
from mindtorch.dispatch.torch_function import (
    ask,
    handle_torch_function,
    has_torch_function,
    multiple_dispatch_failed,
    overriding_arguments,
)

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Schema


def _python_name(name: str) -> str:
    """The parameter's name in Python, where `self` is `input` and `from` is `from_`."""
    return "input" if name == "self" else f"{name}_" if iskeyword(name) else name


_schemas: Any = lazy("mindtorch.dispatch.schema.function_schema")
_compiled: Any = lazy("mindtorch.library.compiled")
_MEAN = "Mean"


class OpOverload:
    """One overload of an op, callable, as `torch.ops.aten.add.Tensor` is."""

    def __init__(self, packet: OpOverloadPacket, entry: OpEntry) -> None:
        self.overloadpacket = packet
        self.namespace = entry.namespace
        self._entry = entry
        self._opname = entry.base
        self._overloadname = entry.schema.overload or "default"
        self.__name__ = f"{entry.base}.{self._overloadname}"
        self.__module__ = packet.__module__
        # The bound method: calling an object that has `__call__` takes longer.
        function: Any = entry.function
        self._call: Callable = function.__call__ if entry.boxed else self._call_by_schema
        self._has_mean = "=Mean" in entry.schema_text and not entry.boxed
        if self._has_mean:
            self._call = self._call_with_mean

    @property
    def _schema(self) -> Schema:
        return _schemas.parse_schema(self._entry.schema_text)

    def name(self) -> str:
        return qualified(self._entry.name)

    @property
    def tags(self) -> list[Tag]:
        own = tags_named(self._entry.tags)
        if self.namespace != ATEN:
            return own
        return sorted([*own, Tag.pt2_compliant_tag], key=lambda tag: tag.value)

    @property
    def is_view(self) -> bool:
        return self._entry.view is not None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if state.active_modes and has_torch_function((*args, *kwargs.values())):
            return self._taken_over(args, kwargs)
        return self._call(*args, **kwargs)

    def _taken_over(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        overriders = overriding_arguments((*args, *kwargs.values()))
        answer = ask(self, overriders, args, kwargs)
        if answer is NotImplemented:
            raise multiple_dispatch_failed(f"{self.__module__}.{self._opname}.{self._overloadname}", overriders)
        return answer

    def _call_by_schema(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the Python function of an op with the arguments of its schema."""
        if kwargs or self._out_names:
            kwargs = self._python_keywords(kwargs)
        try:
            return self._entry.function(*args, **kwargs)
        except TypeError as error:
            raise self._mismatch(args, kwargs) or error from None

    def _call_with_mean(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call_by_schema(*args, **self.with_mean(args, kwargs))

    def with_mean(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords, with a reduction that is left out: a mean here, but none in torch's Python functions."""
        place, mean = next((i, each) for i, each in enumerate(self._schema.arguments) if each.default == _MEAN)
        return kwargs if len(args) > place else {mean.name: 1, **kwargs}

    def _python_keywords(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        kwargs = self._entry.in_python({_python_name(name): value for name, value in kwargs.items()})
        if self._out_names and not isinstance(kwargs.get("out"), (tuple, list)):
            kwargs["out"] = self._outs(kwargs)
        return kwargs

    def _mismatch(self, args: tuple, kwargs: dict[str, Any]) -> RuntimeError | None:
        """torch's error for arguments that are too many, missing or unknown."""
        op, arguments = self._schema.name, self._schema.arguments
        positional = [argument for argument in arguments if not argument.keyword_only]
        if len(args) > len(positional):
            return RuntimeError(
                f"{op}() takes {len(positional)} positional argument(s) but {len(args)} was/were given.  "
                f"Declaration: {self._schema}"
            )
        names = self._entry.in_python({_python_name(argument.name): argument for argument in arguments})
        given = {*list(names)[: len(args)]} | kwargs.keys() | {*self._out_names}
        for name, argument in names.items():
            if argument.default is None and name not in given:
                return self._missing("self" if argument.name == "input" else argument.name)
        known = names.keys() | {"out"}
        unknown = next((name for name in kwargs if name not in known), None)
        if unknown is None:
            return None
        return RuntimeError(f"Unknown keyword argument '{unknown}' for operator '{op}'. Schema: {self._schema}")

    def _missing(self, name: str) -> RuntimeError:
        return RuntimeError(
            f"{self._schema.name}() is missing value for argument '{name}'. Declaration: {self._schema}"
        )

    @cached_property
    def _out_names(self) -> list[str]:
        return self._schema.out_names

    def _outs(self, kwargs: dict[str, Any]) -> Any:
        """What Python functions take as `out`: the tensor, or a tuple where the schema names several."""
        missing = [name for name in self._out_names if name not in kwargs]
        if missing:
            raise self._missing(missing[0])
        outs = tuple(kwargs.pop(name) for name in self._out_names)
        if any(out is None for out in outs):
            raise self._absent(dict(zip(self._out_names, outs)))
        return outs if len(outs) > 1 else outs[0]

    def _absent(self, outs: dict[str, Any]) -> RuntimeError:
        """torch's error for the first `out` that is None."""
        names = [argument.name for argument in self._schema.arguments]
        place = next(place for place, name in enumerate(names) if name in outs and outs[name] is None)
        return RuntimeError(
            "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument "
            f"#{place} '{names[place]}'"
        )

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All overloads of an op; calling it chooses the overload by the arguments."""

    def __init__(self, namespace: str, base: str) -> None:
        self._namespace = namespace
        self.__name__ = base
        self.__module__ = f"torch._ops.{namespace}"
        self._overloads: dict[str, OpOverload] = {}
        self._only: Callable | None = None
        self._refresh()

    def _refresh(self) -> None:
        """Take the overloads from the registry, which may have got some or lost some."""
        entries = overloads_of(self.__name__, self._namespace)
        self._overloads = {entry.schema.overload or "default": OpOverload(self, entry) for entry in entries}
        boxed = [entry for entry in entries if entry.boxed]
        self._is_boxed = len(boxed) == len(entries)
        plain = entries if self._is_boxed else [entry for entry in entries if not entry.boxed]
        self._only = self._overload_of(plain[0])._call if len(plain) == 1 else None
        self._mean = next((each for each in self._overloads.values() if each._has_mean), None)
        # The `out=` of ops whose Python function has none.
        self._copied_out = None
        if not self._is_boxed and len(boxed) == 1 and not any(entry.schema.is_out for entry in plain):
            self._copied_out = self._overload_of(boxed[0])

    def _overload_of(self, entry: OpEntry) -> OpOverload:
        return self._overloads[entry.schema.overload or "default"]

    @property
    def _qualified_op_name(self) -> str:
        return f"{self._namespace}::{self.__name__}"

    def overloads(self) -> list[str]:
        return list(self._overloads)

    def __getattr__(self, name: str) -> OpOverload:
        overloads = vars(self).get("_overloads", {})
        if name in overloads:
            return overloads[name]
        if name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if state.active_modes and self._is_boxed and has_torch_function((*args, *kwargs.values())):
            return handle_torch_function(self, overriding_arguments((*args, *kwargs.values())), args, kwargs)
        if kwargs and self._copied_out is not None and self._copied_out._schema.is_given_outs(kwargs):
            return self._copied_out(*args, **kwargs)
        if self._only is not None:
            return self._only(*args, **kwargs)
        if self._is_boxed:
            return self._fitting(args, kwargs)(*args, **kwargs)
        if self._mean is not None:
            kwargs = self._mean.with_mean(args, kwargs)
        return getattr(functions_of(self._namespace), self.__name__)(*args, **kwargs)

    def _fitting(self, args: tuple, kwargs: dict[str, Any]) -> OpOverload:
        """The first overload whose schema takes the arguments."""
        reasons = []
        for overload in self._overloads.values():
            function: Any = overload._entry.function
            try:
                function.bind(args, kwargs)
            except RuntimeError as error:
                reasons.append(str(error))
            else:
                return overload
        shown = "\n\n".join(reasons)
        raise RuntimeError(f"Overloaded torch operator invoked from Python failed to match any schema:\n{shown}\n\n")

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class OpNamespace(ModuleType):
    """The ops of a namespace: makes the packets when they are asked for."""

    __file__ = "torch.ops"

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self._name = name
        self._packets: dict[str, OpOverloadPacket] = {}  # also of ops that have gone: they may be defined again

    def __getattr__(self, name: str) -> OpOverloadPacket:
        packet = self._packets.get(name) or OpOverloadPacket(self._name, name)
        if not packet.overloads():
            raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")
        self._packets[name] = packet
        setattr(self, name, packet)
        return packet

    def __dir__(self) -> list[str]:
        return sorted({entry.base for entry in all_ops() if entry.namespace == self._name})

    def _changed(self, base: str) -> None:
        """Called when an overload was defined or has gone."""
        packet = self._packets.get(base)
        if packet is not None:
            packet._refresh()
            vars(self).pop(base, None)


class Operators(ModuleType):
    """All namespaces. One without ops is empty, and no error."""

    __file__ = "_ops.py"

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self.loaded_libraries: set[str] = set()

    def load_library(self, path: str) -> None:
        """Define the ops of a shared library that is compiled for PyTorch, as far as they are known."""
        path = os.path.realpath(path)
        _compiled.load_compiled(path)
        self.loaded_libraries.add(path)

    def __getattr__(self, name: str) -> OpNamespace:
        if name.startswith("__"):
            raise AttributeError(f"module 'mindtorch.ops' has no attribute '{name}'")
        namespace = OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def __dir__(self) -> list[str]:
        return sorted({entry.namespace for entry in all_ops()})

    def _overload(self, namespace: str, name: str) -> OpOverload:
        """The overload of a name such as `add.Tensor`."""
        base, _, overload = name.partition(".")
        packet = getattr(getattr(self, namespace), base)
        overload = overload or "default"
        return packet._overloads.get(overload) or getattr(packet, overload)


operators = Operators()
