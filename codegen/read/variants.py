"""The in-place and ``out=`` schemas that follow from a functional schema by PyTorch's naming rule."""

from __future__ import annotations

from dataclasses import replace
from string import ascii_lowercase

from ..model import Alias, Argument, BaseType, FunctionSchema, ListType, Location, Return, Type

_TENSOR_OPTIONS = ("dtype", "layout", "device", "pin_memory")


def inplace_schema(schema: FunctionSchema, location: Location) -> FunctionSchema | None:
    """``name_`` that writes to ``self``; None when there is no ``self`` tensor to write to."""
    target = schema.self_argument
    if target is None or not target.type.holds_tensors:
        return None
    written = replace(target, alias=Alias(("a",), write=True))
    arguments = tuple(written if argument is target else argument for argument in schema.arguments)
    returns = () if target.type.is_list else (Return(target.type, alias=written.alias),)
    return replace(
        schema, inplace=True, arguments=arguments, returns=returns, tuple_return=not returns, location=location
    )


def out_schema(schema: FunctionSchema, location: Location) -> FunctionSchema:
    """``name.out`` that writes its results to keyword-only arguments."""
    overload = "out" if schema.overload in ("", "Tensor") else f"{schema.overload}_out"
    aliases = [Alias((letter,), write=True) for letter, _ in zip(ascii_lowercase, schema.returns)]
    outs = tuple(
        Argument(name, result.type, location, alias=alias, kwarg_only=True)
        for name, result, alias in zip(result_argument_names(schema), schema.returns, aliases)
    )
    returns = tuple(replace(result, alias=alias) for result, alias in zip(schema.returns, aliases))
    inputs = tuple(replace(argument, alias=None) for argument in _without_tensor_options(schema))
    return replace(schema, overload=overload, arguments=inputs + outs, returns=returns, location=location)


def generated_out_schema(schema: FunctionSchema, location: Location) -> FunctionSchema:
    """As PyTorch's generator names it: ``name.out`` is that of the overload without a name, and of no other.

    PyTorch has it in no file: all that shows it is TorchScript, so its defaults are spelled as there.
    """
    overload = f"{schema.overload}_out" if schema.overload else "out"
    derived = out_schema(schema, location)
    return replace(derived, overload=overload, arguments=tuple(map(_as_printed, derived.arguments)))


def _as_printed(argument: Argument) -> Argument:
    if argument.default in (None, "None"):
        return argument
    return replace(argument, default=_printed(argument.type, argument.default))


def _printed(type_: Type, default: str) -> str:
    """A default as TorchScript prints it: ``2.`` for a float ``2``, ``[0, 1]`` for ``[0,1]``, ``1`` for ``Mean``."""
    if default.startswith("["):
        return default.replace(",", ", ")
    if isinstance(type_, ListType) and type_.size == 1:
        return f"[{default}]"
    if type_ == BaseType("float") and default.removeprefix("-").isdecimal():
        return f"{default}."
    return "1" if default == "Mean" else default


def result_argument_names(schema: FunctionSchema) -> list[str]:
    """What the arguments of an ``out=`` variant are called."""
    if len(schema.returns) == 1:
        return ["out"]
    return [result.name or f"out{i}" for i, result in enumerate(schema.returns)]


def _without_tensor_options(schema: FunctionSchema) -> tuple[Argument, ...]:
    """The arguments without dtype, layout, device and pin_memory, which an ``out`` tensor already decides."""
    names = {argument.name for argument in schema.arguments}
    if not names.issuperset(_TENSOR_OPTIONS):
        return schema.arguments
    return tuple(argument for argument in schema.arguments if argument.name not in _TENSOR_OPTIONS)
