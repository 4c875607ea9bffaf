"""What type checkers and editors know about the ops: functions.pyi, modules/*.pyi, namespace.pyi, tensor_methods.pyi.

Those of mindtorch lie in mindtorch/_generated/, where type checkers look for the modules that are in generated/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..model import Argument, FunctionSchema, ListType, Model, OldForm, Op, Type
from ..project import LIBRARY
from ..read.places import modules_of_ops, name_in_module
from ..render import header, import_lines, literal, render, used_names
from .conversions import takes_number
from .functions import return_type
from .functions_index import function_names
from .methods import method_groups
from .names import visible_overloads
from .old_calls import old_forms, old_names
from .shown_calls import advice
from .signatures import (
    generator_counterpart,
    is_int_list,
    python_default,
    takes_requires_grad,
)

# The names that type stubs use, and where they come from.
IMPORTS = {
    "builtins": "",
    "Sequence": "collections.abc",
    **dict.fromkeys(("Any", "TypeAlias", "overload"), "typing"),
    "deprecated": "typing_extensions",
    "device": "mindtorch._core.device",
    "dtype": "mindtorch._core.dtype",
    "Generator": "mindtorch._core.generator",
    "layout": "mindtorch._core.layout",
    "memory_format": "mindtorch._core.memory_format",
    "Tensor": "mindtorch._core.tensor",
}
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
    """One ``def`` line. ``deprecated`` is what a type checker says of a call that matches it."""

    name: str
    parameters: str
    result: str
    deprecated: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The signatures of a name; several make overloads. ``ignore`` is what mypy has to overlook."""

    stubs: tuple[Stub, ...]
    ignore: str = ""


def emit(model: Model) -> dict[str, str]:
    files = {"generated/functions.pyi": _file(model, "functions.pyi.jinja", _functions(model, None))}
    for module in modules_of_ops(model):
        files[f"generated/modules/{module}.pyi"] = _file(model, "functions.pyi.jinja", _functions(model, module))
    if model.project.is_library:
        methods = [group for family in model.families for group in _methods(model, family)]
        files["generated/tensor_methods.pyi"] = _file(model, "tensor_methods.pyi.jinja", methods)
        files["generated/namespace.pyi"] = _file(model, "namespace.pyi.jinja", _in_no_index(model))
    return files


def _file(model: Model, template: str, groups: list[Group]) -> str:
    project = model.project
    body = render(template, groups=groups, extensions=model.extensions, package=project.generated_package)
    packages = dict.fromkeys(("typing_extensions", LIBRARY, project.package))
    sources = {**IMPORTS, "return_types": project.generated_package, **model.extensions}
    imports = import_lines(used_names(body), sources, packages)
    return f"{header(project, 'type_stubs', 'ops.yaml')}{imports}\n\n{body}"


def _functions(model: Model, module: str | None) -> list[Group]:
    """The functions of a module, or those at the top level."""
    names = [name for family in model.families for name in function_names(model, family, module)]
    own = (name for name in names if not _is_by_hand(model, name, "function"))
    return [_function(model, name, name_in_module(name, module)) for name in own]


def _is_by_hand(model: Model, name: str, way: str) -> bool:
    """Whether what users call by that name is something else than the op: type checkers read it where it is written."""
    return any(way in op.by_hand for op in visible_overloads(model, name))


def _in_no_index(model: Model) -> list[Group]:
    """The functions of the ops that are not at the top level, by their full names."""
    at_top = {name for family in model.families for name in function_names(model, family)}
    names = [name for name in model.groups if name not in at_top or _is_by_hand(model, name, "function")]
    return [_function(model, name, name) for name in names if any(op.is_function for op in model.groups[name])]


def _function(model: Model, name: str, shown: str) -> Group:
    overloads = [op for op in visible_overloads(model, name) if op.is_function]
    old = [(op, form) for op, form in old_forms(model, name) if op.is_function]
    stubs = [stub for op in overloads for stub in _stubs(model, op, shown, method=False)]
    return Group((*stubs, *_old_stubs(model, old, shown, method=False)))


def _methods(model: Model, family: str) -> Iterator[Group]:
    for name, overloads in method_groups(model, family):
        methods = [op for op in overloads if op.is_method and "method" not in op.by_hand]
        if methods:
            old = [(op, form) for op, form in old_forms(model, name) if op.is_method]
            stubs = [stub for op in methods for stub in _stubs(model, op, name, method=True)]
            yield Group((*stubs, *_old_stubs(model, old, name, method=True)))
        yield from (_operator(op, operator) for op in overloads for operator in op.operators)
    for old_name in old_names(model, family):
        if old_name.is_method:
            yield Group(tuple(_old_stubs(model, old_name.pairs, old_name.name, method=True)))


def _operator(op: Op, operator: str) -> Group:
    """An operator takes its operand, which may be a number, and nothing else."""
    operands = [argument for argument in op.schema.positional if argument.name != "self"][:1]
    words = ["self", *(f"{argument.python_name}: Tensor | Number" for argument in operands), "/"]
    ignore = "override" if operator in ("__eq__", "__ne__") else ""
    return Group((Stub(operator, ", ".join(words), _result(op)),), ignore)


def _stubs(model: Model, op: Op, name: str, *, method: bool) -> Iterator[Stub]:
    """The signature of an overload, and a second one for the call with separate ints."""
    yield Stub(name, _parameters(model, op, method, variadic=False), _result(op))
    if op.separate_ints is not None and (method or op.schema.self_argument is None):
        yield Stub(name, _parameters(model, op, method, variadic=True), _result(op))


def _old_stubs(model: Model, pairs: Iterable[tuple[Op, OldForm]], name: str, *, method: bool) -> Iterator[Stub]:
    """The deprecated forms of a call."""
    for op, form in pairs:
        parameters = _parameters(model, op, method, variadic=False, schema=form.schema)
        yield Stub(name, parameters, _result(op), literal(advice(model, op, form)))


def _parameters(model: Model, op: Op, method: bool, *, variadic: bool, schema: FunctionSchema | None = None) -> str:
    schema = schema or op.schema
    separate = schema.separate_ints if variadic else None
    positional = [argument for argument in schema.positional if not (method and argument.name == "self")]
    words = ["self"] if method else []
    words += [f"*{a.python_name}: int" if a is separate else _parameter(op, a) for a in positional]
    keywords = [_parameter(op, argument) for argument in schema.kwarg_only]
    keywords += _further_keywords(model, op, method)
    star = ["*"] if keywords and not variadic else []
    return ", ".join(words + star + keywords)


def _further_keywords(model: Model, op: Op, method: bool) -> list[str]:
    out = model.variant(op, "out")
    words = ["generator: Generator | None = None"] if generator_counterpart(model, op) else []
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
