"""generated/functions.pyi and generated/tensor_methods.pyi: what type checkers and editors know about the ops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..keys import INPLACE_OPERATORS
from ..model import Argument, ListType, Model, Op, Type
from ..render import header, render
from .conversions import takes_number
from .functions import return_type
from .functions_index import function_names
from .methods import method_groups
from .names import visible_overloads
from .signatures import (
    generator_twin,
    is_int_list,
    python_default,
    takes_requires_grad,
    variadic_argument,
)

_TYPES = {
    "Scalar": "Number",
    "SymInt": "int",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device | str",
    "MemoryFormat": "memory_format",
}


@dataclass(frozen=True, slots=True)
class Stub:
    """One ``def`` line."""

    name: str
    parameters: str
    result: str


@dataclass(frozen=True, slots=True)
class Group:
    """The signatures of a name; several make overloads. ``ignore`` is what mypy has to overlook."""

    stubs: tuple[Stub, ...]
    ignore: str = ""


def emit(model: Model) -> dict[str, str]:
    functions = [_functions(model, name) for family in model.families for name in function_names(model, family)]
    methods = [group for family in model.families for group in _methods(model, family)]
    return {
        "generated/functions.pyi": header("type_stubs", "ops.yaml") + render("functions.pyi.jinja", groups=functions),
        "generated/tensor_methods.pyi": header("type_stubs", "ops.yaml")
        + render("tensor_methods.pyi.jinja", groups=methods),
    }


def _functions(model: Model, name: str) -> Group:
    overloads = [op for op in visible_overloads(model, name) if op.is_function]
    return Group(tuple(stub for op in overloads for stub in _stubs(model, op, name, method=False)))


def _methods(model: Model, family: str) -> Iterator[Group]:
    for name, overloads in method_groups(model, family):
        methods = [op for op in overloads if op.is_method]
        if methods:
            yield Group(tuple(stub for op in methods for stub in _stubs(model, op, name, method=True)))
        yield from (_operator(op, operator) for op in overloads for operator in op.operators)


def _operator(op: Op, operator: str) -> Group:
    """An operator takes its operand, which may be a number, and nothing else."""
    operands = [argument for argument in op.schema.positional if argument.name != "self"][:1]
    words = ["self", *(f"{argument.python_name}: Tensor | Number" for argument in operands), "/"]
    ignored = {"__eq__": "override", "__ne__": "override"}
    ignore = ignored.get(operator, "misc" if operator in INPLACE_OPERATORS else "")
    return Group((Stub(operator, ", ".join(words), _result(op)),), ignore)


def _stubs(model: Model, op: Op, name: str, *, method: bool) -> Iterator[Stub]:
    """The signature of an overload, and a second one for the call with separate ints."""
    yield Stub(name, _parameters(model, op, method, variadic=False), _result(op))
    if variadic_argument(op.schema) is not None:
        yield Stub(name, _parameters(model, op, method, variadic=True), _result(op))


def _parameters(model: Model, op: Op, method: bool, *, variadic: bool) -> str:
    schema = op.schema
    separate = variadic_argument(schema) if variadic else None
    positional = [argument for argument in schema.positional if not (method and argument.name == "self")]
    words = ["self"] if method else []
    words += [f"*{a.python_name}: int" if a is separate else _parameter(op, a) for a in positional]
    keywords = [_parameter(op, argument) for argument in schema.kwarg_only]
    keywords += _further_keywords(model, op, method)
    star = ["*"] if keywords and not variadic else []
    return ", ".join(words + star + keywords)


def _further_keywords(model: Model, op: Op, method: bool) -> list[str]:
    out = model.variant(op, "out")
    words = ["generator: Generator | None = None"] if generator_twin(model, op) else []
    if out is not None and not method:
        several = len(out.schema.out_arguments) > 1
        words.append(f"out: {'tuple[Tensor, ...]' if several else 'Tensor'} | None = None")
    return words + (["requires_grad: bool = False"] if takes_requires_grad(op) else [])


def _parameter(op: Op, argument: Argument) -> str:
    default = "False" if argument.name == "pin_memory" else python_default(argument)
    kind = _spelled(argument)
    if takes_number(op, argument):
        kind = "Tensor | Number"
    return f"{argument.python_name}: {kind}" + ("" if default is None else f" = {_shown(default)}")


def _shown(default: str) -> str:
    """A default as a stub shows it: names of the library are left out."""
    return default if default in ("None", "True", "False") or not default[0].isalpha() else "..."


def _spelled(argument: Argument) -> str:
    if is_int_list(argument):
        kind = argument.type.without_optional
        sized = isinstance(kind, ListType) and kind.size is not None
        text = "int | Sequence[int]" if sized else "Sequence[int]"
        return f"{text} | None" if argument.type.is_optional else text
    return _spelled_type(argument.type)


def _spelled_type(kind: Type) -> str:
    if kind.is_optional:
        return f"{_spelled_type(kind.without_optional)} | None"
    if isinstance(kind, ListType):
        return f"Sequence[{_spelled_type(kind.element)}]"
    return _TYPES.get(kind.base, kind.base)


def _result(op: Op) -> str:
    returns = op.schema.returns
    named = return_type(op)
    if named is not None:
        return f"return_types.{named}"
    if len(returns) == 1:
        return "tuple[Tensor, ...]" if returns[0].type.is_list else _spelled_type(returns[0].type)
    return f"tuple[{', '.join(_spelled_type(result.type) for result in returns)}]" if returns else "None"
