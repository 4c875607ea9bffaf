"""What the generators of test inputs call ops with, as far as their source shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..model import Argument, Op
from .call_forms import form_of_schema

# The functions of tests/samples.py and of mindtorch.testing that make one sample of the arguments of a call.
_CALL = "call"
_MAKER = "make"
_DECORATOR = "samples"


@dataclass(frozen=True, slots=True)
class SampleCall:
    """The arguments of one call. ``kinds`` are those of the positional ones: Tensor, number, list, "" for unknown."""

    kinds: tuple[str, ...]
    keywords: tuple[str, ...]

    def misfit(self, op: Op) -> str:
        """What is wrong with the call, if it is one of the op."""
        schema = op.schema
        names = ", ".join([each.python_name for each in schema.inputs])
        if not form_of_schema(schema, method=False).accepts(len(self.kinds), self.keywords):
            count = "1 argument" if len(self.kinds) == 1 else f"{len(self.kinds)} arguments"
            given = count + "".join(f" and {word}=" for word in self.keywords)
            return f"call an op with {given}, and {op.name} takes ({names})"
        pairs = ((kind, each) for kind, each in zip(self.kinds, schema.positional) if not _takes(op, each, kind))
        return next((f"give {op.name} a {kind} where it takes '{each}'" for kind, each in pairs), "")


def _takes(op: Op, argument: Argument, kind: str) -> bool:
    if kind == "Tensor":
        return argument.type.is_tensor or argument.type.base in ("Scalar", "float")
    if kind == "list":
        return argument.type.is_list
    is_number_too = argument.name in op.numbers or op.hidden
    return kind != "number" or not argument.type.holds_tensors or is_number_too


def generators(definitions: Mapping[str, ast.stmt]) -> frozenset[str]:
    """The names that ``samples`` may have: all, or those with the decorator of that name if the file defines one."""
    if not isinstance(definitions.get(_DECORATOR), ast.FunctionDef):
        return frozenset(definitions)
    functions = (each for each in definitions.values() if isinstance(each, ast.FunctionDef))
    return frozenset(each.name for each in functions if any(_is(word, _DECORATOR) for word in each.decorator_list))


def sample_calls(definitions: Mapping[str, ast.stmt]) -> dict[str, tuple[SampleCall, ...]]:
    """The calls of each function in a file, and of those whose samples it yields, too."""
    functions = {name: each for name, each in definitions.items() if isinstance(each, ast.FunctionDef)}
    return {name: tuple(_calls(name, functions, set())) for name in functions}


def _calls(name: str, functions: Mapping[str, ast.FunctionDef], seen: set[str]) -> Iterator[SampleCall]:
    if name in seen or name not in functions:
        return
    seen.add(name)
    for node in ast.walk(functions[name]):
        if isinstance(node, ast.YieldFrom) and isinstance(node.value, ast.Call):
            called = node.value.func
            yield from _calls(called.id, functions, seen) if isinstance(called, ast.Name) else ()
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Call) and _is(node.value.func, _CALL):
            yield from _read(node.value)


def _read(call: ast.Call) -> Iterator[SampleCall]:
    """The arguments of a call that unpacks nothing."""
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
    if len(keywords) == len(call.keywords) and not any(isinstance(each, ast.Starred) for each in call.args):
        yield SampleCall(tuple(map(_kind, call.args)), tuple(keywords))


def _kind(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        maker = value.func.value if isinstance(value.func, ast.Attribute) else value.func
        return "Tensor" if _is(maker, _MAKER) else ""
    if isinstance(value, (ast.List, ast.Tuple)):
        return "list"
    is_number = isinstance(value, ast.Constant) and type(value.value) in (int, float, complex)
    return "number" if is_number else ""


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
