"""`ops`: the public functions by name, and `ops.aten.<op>.<overload>` as in `torch.ops`."""

from collections.abc import Callable, Mapping
from functools import cached_property
from keyword import iskeyword
from typing import Any

from mindtorch.dispatch.registry import OpEntry, all_ops, overloads_of
from mindtorch.dispatch.schema import Schema


def _python_name(name: str) -> str:
    """The parameter's name in Python, where `self` is `input` and `from` is `from_`."""
    return "input" if name == "self" else f"{name}_" if iskeyword(name) else name


class OpOverload:
    """One overload of an op, callable, as `torch.ops.aten.add.Tensor` is."""

    def __init__(self, packet: "OpOverloadPacket", entry: OpEntry) -> None:
        self.overloadpacket = packet
        self._entry = entry
        self._overloadname = entry.schema.overload or "default"
        self.__name__ = f"{entry.base}.{self._overloadname}"

    @property
    def _schema(self) -> Schema:
        return self._entry.schema

    def name(self) -> str:
        return f"aten::{self._entry.name}"

    @property
    def tags(self) -> tuple[str, ...]:
        return self._entry.tags

    @property
    def is_view(self) -> bool:
        return self._entry.view is not None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        kwargs = {_python_name(name): value for name, value in kwargs.items()}
        if self._out_names and not isinstance(kwargs.get("out"), (tuple, list)):
            kwargs["out"] = self._outs(kwargs)
        try:
            return self._entry.function(*args, **kwargs)
        except TypeError as error:
            raise self._mismatch(args, kwargs) or error from None

    def _mismatch(self, args: tuple, kwargs: dict[str, Any]) -> RuntimeError | None:
        """torch's error for arguments that are too many, missing or unknown."""
        op, arguments = f"aten::{self._entry.base}", self._schema.arguments
        positional = [argument for argument in arguments if not argument.keyword_only]
        if len(args) > len(positional):
            return RuntimeError(
                f"{op}() takes {len(positional)} positional argument(s) but {len(args)} was/were given.  "
                f"Declaration: {self._schema}"
            )
        given = (
            {_python_name(argument.name) for argument in positional[: len(args)]} | kwargs.keys() | {*self._out_names}
        )
        for argument in arguments:
            if argument.default is None and _python_name(argument.name) not in given:
                return self._missing("self" if argument.name == "input" else argument.name)
        known = {_python_name(argument.name) for argument in arguments} | {"out"}
        unknown = next((name for name in kwargs if name not in known), None)
        if unknown is None:
            return None
        return RuntimeError(f"Unknown keyword argument '{unknown}' for operator '{op}'. Schema: {self._schema}")

    def _missing(self, name: str) -> RuntimeError:
        base = self._entry.base
        return RuntimeError(f"aten::{base}() is missing value for argument '{name}'. Declaration: {self._schema}")

    @cached_property
    def _out_names(self) -> list[str]:
        return [argument.name for argument in self._schema.arguments if argument.keyword_only and argument.written]

    def _outs(self, kwargs: dict[str, Any]) -> Any:
        """What Python functions take as `out`: the tensor, or a tuple where the schema names several."""
        missing = [name for name in self._out_names if name not in kwargs]
        if missing:
            raise self._missing(missing[0])
        outs = tuple(kwargs.pop(name) for name in self._out_names)
        return outs if len(outs) > 1 else outs[0]

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._entry.base}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All overloads of an op; calling it chooses the overload by the arguments."""

    def __init__(self, base: str, entries: list[OpEntry]) -> None:
        self.__name__ = base
        self._overloads = {entry.schema.overload or "default": OpOverload(self, entry) for entry in entries}

    def overloads(self) -> list[str]:
        return list(self._overloads)

    def __getattr__(self, name: str) -> OpOverload:
        overloads = vars(self).get("_overloads", {})
        if name not in overloads:
            raise AttributeError(f"The underlying op of 'aten.{self.__name__}' has no overload name '{name}'")
        return overloads[name]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if len(self._overloads) == 1:
            return next(iter(self._overloads.values()))(*args, **kwargs)
        return getattr(ops, self.__name__)(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class AtenNamespace:
    """`ops.aten`: makes the packets when they are asked for."""

    def __getattr__(self, name: str) -> OpOverloadPacket:
        entries = overloads_of(name)
        if not entries:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        packet = OpOverloadPacket(name, entries)
        setattr(self, name, packet)
        return packet

    def __dir__(self) -> list[str]:
        return sorted({entry.base for entry in all_ops()})


class OpsNamespace:
    """The public functions of all ops as attributes, for code in layers below the generated functions."""

    def __init__(self) -> None:
        self.aten = AtenNamespace()

    def fill(self, functions: Mapping[str, Callable]) -> None:
        """Called by the generated registry with the functions by name."""
        vars(self).update(functions)


ops = OpsNamespace()


def public_function(function: Callable) -> Callable:
    """The function a user would name: for `sum_dim_IntList` that is `sum`."""
    entry = getattr(function, "op", None)
    return function if entry is None else vars(ops).get(entry.base, function)
