"""What a rule that ops.yaml names asks of an op, as its source shows it: arguments of some types, a number of results.

The rules of ``shape`` and ``batch`` are factories: the function inside of them takes the arguments of the op's kernel.
Those of ``promotion`` take its operands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..model import FunctionSchema, Type

Kind: TypeAlias = Literal["Tensor", "list", "int", "bool", "str", ""]
More: TypeAlias = Literal["any", "values", ""]
Nodes: TypeAlias = tuple[ast.AST, ...]
Results: TypeAlias = Literal["one", "several", "by promotion", ""]

# How the rules deliver what they make; see mindtorch/backends/meta/results.py.
_RESULTS: dict[str, Results] = {
    "deliver": "one", "new": "one", "deliver_all": "several", "_with_second": "by promotion",
}  # fmt: skip
# What is read of an array and of nothing else that an op is given.
_OF_ARRAYS = ("shape", "ndim", "dtype")
_ASKS_FIRST = ("is_array", "isinstance", "hasattr")


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument that a rule takes; of no particular kind if it is ``""``."""

    name: str
    kind: Kind
    is_optional: bool

    def takes(self, type_: Type) -> bool:
        if self.kind == "list":
            return type_.is_list
        if self.kind == "Tensor":
            return type_.is_tensor
        is_base = type_.base.replace("SymInt", "int") == self.kind
        return not self.kind or is_base and not type_.is_list

    @property
    def words(self) -> str:
        article = "an" if self.kind == "int" else "a"
        return f"{article} {self.kind} '{self.name}'"


@dataclass(frozen=True, slots=True)
class RuleForm:
    """What one rule asks for.

    ``parameters``  those of the op's kernel, one after the other; ``more``: what others may follow
    ``results``     how many there are
    ``promotes``    whether a shape rule asks a promotion rule, and ``operands`` about how many arguments, if it is a
                    fixed number
    ``only``        the ops for which the rule has a way: those in its ``table`` in ``file``; None: every op
    """

    parameters: tuple[Parameter, ...]
    more: More = ""
    results: Results = ""
    promotes: bool = False
    operands: int | None = None
    only: frozenset[str] | None = None
    table: str = ""
    file: str = ""

    @property
    def required(self) -> int:
        return sum(not each.is_optional for each in self.parameters)

    def misfits(self, schema: FunctionSchema) -> Iterator[str]:
        """What is wrong with the arguments of an op, if it is to follow the rule."""
        given = schema.inputs
        too_many = len(given) > len(self.parameters) and not self.more
        if len(given) < self.required or too_many:
            yield f"takes ({self._spelled()}) but {schema.full_name} has ({', '.join(each.name for each in given)})"
            return
        for argument in given[len(self.parameters) :]:
            if argument.type.holds_tensors and self.more == "values":
                yield f"takes no tensor behind ({self._spelled()}), and {schema.full_name} has '{argument}'"
        for parameter, argument in zip(self.parameters, given):
            if not parameter.takes(argument.type):
                yield f"takes {parameter.words} where {schema.full_name} has '{argument}'"

    def _spelled(self) -> str:
        words = [f"{each.name}=..." if each.is_optional else each.name for each in self.parameters]
        return ", ".join([*words, *["..."] * bool(self.more)])


def form_of_rule(factory: ast.FunctionDef | None, inner: ast.FunctionDef, skipped: int = 0) -> RuleForm:
    """The form of a rule: what the function in it takes, the first few parameters left out.

    Nothing is known of a rule that sometimes gives a function from elsewhere.
    """
    if factory and _gives_another(factory):
        return RuleForm((), more="any")
    arguments, nodes = inner.args, tuple(ast.walk(inner))
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    parameters = [
        Parameter(each.arg, _kind(each, nodes), place >= required)
        for place, each in enumerate(positional)
        if place >= skipped and each.arg != "out"
    ]
    return RuleForm(
        tuple(parameters),
        more=_more(inner, nodes),
        results=_results(nodes),
        promotes=factory is not None and any(_is_name(node, "RULES") for node in ast.walk(factory)),
        operands=_operands(nodes),
        table=_table(factory),
    )


def _more(function: ast.FunctionDef, nodes: Nodes) -> More:
    """What is read by its place, ``options[0]``, is a dim or the like; tensors would not be told apart from it."""
    rest = function.args.vararg
    if rest is None:
        return ""
    subscripts = (node for node in nodes if isinstance(node, ast.Subscript))
    places = [node for node in subscripts if _is_name(node.value, rest.arg) and isinstance(node.slice, ast.Constant)]
    return "values" if places and function.args.args else "any"


def _gives_another(factory: ast.FunctionDef) -> bool:
    """Whether a factory returns a function that it does not define."""
    own = {node.name for node in ast.walk(factory) if isinstance(node, ast.FunctionDef)}
    returns = (node for statement in factory.body for node in _returns_of(statement))
    return any(isinstance(node.value, ast.Name) and node.value.id not in own for node in returns)


def _returns_of(statement: ast.stmt) -> Iterator[ast.Return]:
    """The return statements of a function, those of functions inside of it left out."""
    if not isinstance(statement, ast.FunctionDef):
        yield from (node for node in ast.walk(statement) if isinstance(node, ast.Return))


def _kind(parameter: ast.arg, nodes: Nodes) -> Kind:
    """What its annotation says; of one that says nothing, whether the function reads it as an array."""
    written = ast.unparse(parameter.annotation).removesuffix(" | None") if parameter.annotation else "Any"
    if written.startswith("Sequence[") or written == "Ints":
        return "list"
    named: dict[str, Kind] = {"int": "int", "bool": "bool", "str": "str"}
    is_array = written == "Any" and _is_read_as_array(parameter.arg, nodes)
    return "Tensor" if is_array else named.get(written, "")


def _is_read_as_array(name: str, nodes: Nodes) -> bool:
    asks = any(isinstance(node, ast.Call) and _asks_for(node, name) for node in nodes)
    reads = any(isinstance(node, ast.Attribute) and _reads(node, name) for node in nodes)
    return reads and not asks


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _asks_for(call: ast.Call, name: str) -> bool:
    """Whether a call asks what the argument is."""
    is_question = isinstance(call.func, ast.Name) and call.func.id in _ASKS_FIRST
    return is_question and any(_is_name(each, name) for each in call.args)


def _reads(node: ast.Attribute, name: str) -> bool:
    return node.attr in _OF_ARRAYS and _is_name(node.value, name)


def _results(nodes: Nodes) -> Results:
    values = [node.value for node in nodes if isinstance(node, ast.Return)]
    calls = [value.func.id for value in values if isinstance(value, ast.Call) and isinstance(value.func, ast.Name)]
    found = {_RESULTS.get(name, "") for name in calls}
    return found.pop() if len(found) == 1 and len(calls) == len(values) else ""


def _operands(nodes: Nodes) -> int | None:
    """How many arguments are written in the call of the promotion rule, which is called ``rule`` there."""
    for node in nodes:
        if isinstance(node, ast.Call) and _is_name(node.func, "rule"):
            return None if any(isinstance(each, ast.Starred) for each in node.args) else len(node.args)
    return None


def _table(factory: ast.FunctionDef | None) -> str:
    """The table in which the rule looks for its op: ``TABLE[op]``."""
    for node in ast.walk(factory) if factory else ():
        if isinstance(node, ast.Subscript) and _is_name(node.slice, "op"):
            return node.value.id if isinstance(node.value, ast.Name) else ""
    return ""
