"""Python calls as examples: what users of an op have written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..model import Argument, BaseType, FunctionSchema, ListType, Op, Type
from ..read.places import own_place_of
from .compat import is_out

_SAMPLES = {
    "int": "2",
    "SymInt": "2",
    "float": "0.5",
    "bool": "True",
    "SymBool": "True",
    "Scalar": "2",
    "complex": "1j",
    "str": '"mean"',
    "ScalarType": "torch.float32",
    "Layout": "torch.strided",
    "Device": '"cpu"',
    "DeviceIndex": "0",
    "MemoryFormat": "torch.contiguous_format",
    "Dimname": '"N"',
}
_DIMENSIONS = ("dim", "dims", "axis", "axes")


def function_name(op: Op | None, schema: FunctionSchema) -> str:
    """``torch.sum``, ``torch.linalg.vector_norm``; ``torch.ops.aten.tanh_backward`` for what no module shows.

    What is written by hand under the name of an op does not change with it: then the op itself is named.
    """
    return own_place_of(op, op.package, schema.name) if op else f"torch.{schema.name}"


def quoted(names: Iterable[str]) -> str:
    """Names as a list in a text."""
    return ", ".join(f"`{name}`" for name in names)


def stops_working(call: str, overloads: Iterable[str]) -> str:
    """What is said of a call whose op is gone, while there are other overloads."""
    others = quoted(overloads)
    return f"`{call}` stops working" + (f", unless another overload takes it ({others})" if others else "")


def method_name(schema: FunctionSchema) -> str:
    return f"x.{schema.name}"


def plain_call(op: Op | None, schema: FunctionSchema) -> str:
    """The op called with what it cannot do without."""
    return _call(op, schema, (), ())


def method_call(schema: FunctionSchema) -> str:
    others = [argument for argument in _required(schema) if argument.name != "self"]
    return _written(method_name(schema), _texts(others, schema))


def function_call(op: Op | None, schema: FunctionSchema) -> str:
    return _written(function_name(op, schema), _texts(_required(schema), schema))


def keyword_call(op: Op | None, schema: FunctionSchema, argument: Argument) -> str:
    """The op called with an argument by its name: ``x.sum(dim=0)``."""
    return _call(op, schema, (), (argument,))


def positional_call(op: Op | None, schema: FunctionSchema, argument: Argument) -> str:
    """The op called with every positional argument up to this one: ``x.sum(0)``."""
    if argument.kwarg_only:
        return keyword_call(op, schema, argument)
    return _call(op, schema, schema.positional[: schema.positional.index(argument) + 1], ())


def number_call(op: Op | None, schema: FunctionSchema, argument: Argument) -> str:
    """The op called with a number for a tensor argument."""
    number = replace(argument, type=BaseType("Scalar"))
    arguments = tuple(number if each is argument else each for each in schema.arguments)
    return keyword_call(op, replace(schema, arguments=arguments), number)


def sample(argument: Argument) -> str:
    """A value that could be passed."""
    text = _sample(argument.type.without_optional, argument)
    return "False" if text == argument.default == "True" else text


def _sample(type_: Type, argument: Argument) -> str:
    if isinstance(type_, ListType) and type_.size == 1:
        return _sample(type_.element.without_optional, argument)
    if isinstance(type_, ListType) and type_.holds_tensors:
        return "[x, y]"
    if isinstance(type_, ListType):
        element = _sample(type_.element.without_optional, argument)
        return f"({element}, {'1' if element == '0' else element})"
    if argument.name in _DIMENSIONS and type_.base in ("int", "SymInt"):
        return "0"
    if type_.base == "str" and argument.default not in (None, "None"):
        return str(argument.default)
    return _SAMPLES.get(type_.base) or _variable(argument)


def _variable(argument: Argument) -> str:
    return "x" if argument.name == "self" else argument.python_name


def _required(schema: FunctionSchema) -> list[Argument]:
    return [argument for argument in schema.inputs if argument.default is None]


def _call(op: Op | None, schema: FunctionSchema, positional: Iterable[Argument], by_name: tuple[Argument, ...]) -> str:
    """A call with the required arguments and those given; a method if that is what people write."""
    if _is_written_as_method(op, schema) and schema.self_argument and schema.self_argument not in by_name:
        name, implied = method_name(schema), schema.self_argument
    else:
        name, implied = function_name(op, schema), None
    given = tuple(positional) or _leading(schema, by_name)
    others = [each for each in _required(schema) if each not in given and each not in by_name]
    by_position = [sample(each) for each in given if each is not implied]
    keywords = [each for each in (*by_name, *others) if each is not implied and not is_out(each)]
    return _written(name, [*by_position, *map(_keyword, keywords), *_out(schema)])


def _leading(schema: FunctionSchema, by_name: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """The required positional arguments in front of the first one that is given by its name."""
    leading = []
    for argument in schema.positional:
        if argument in by_name or argument.default is not None:
            break
        leading.append(argument)
    return tuple(leading)


def _is_written_as_method(op: Op | None, schema: FunctionSchema) -> bool:
    return schema.kind != "out" and (op.is_called_as_method if op else schema.inplace)


def _texts(arguments: Iterable[Argument], schema: FunctionSchema) -> list[str]:
    return [_keyword(each) if each.kwarg_only else sample(each) for each in arguments] + _out(schema)


def _keyword(argument: Argument) -> str:
    return f"{argument.python_name}={sample(argument)}"


def _out(schema: FunctionSchema) -> list[str]:
    names = [argument.python_name for argument in schema.out_arguments]
    if not names:
        return []
    return [f"out={names[0]}" if len(names) == 1 else f"out=({', '.join(names)})"]


def _written(name: str, arguments: Iterable[str]) -> str:
    return f"{name}({', '.join(arguments)})"
