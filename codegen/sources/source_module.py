"""One hand-written source file, read with ``ast``: the names that its top level defines, and what is behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

from ..model import Location, Text
from ..read.defaults import is_literal
from ..read.scope import Helper
from ..read.yaml_source import Scalar
from .call_forms import CallForms, form_of_function, form_of_member


@cache
def parsed(text: str) -> ast.Module:
    """A parsed file, read only: the schema diff reads two states of the sources, most of which are the same."""
    return ast.parse(text)


class Module:
    """The top level of one source file, ``file`` below the folder ``root``."""

    def __init__(self, root: Path, file: str, tree: ast.Module) -> None:
        self.root = root
        self.file = file
        self._tree = tree

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """The statement that gives each name: a function, an assignment or an import."""
        return {name: statement for statement in self._tree.body for name in defined_names(statement)}

    @property
    def everything(self) -> dict[str, ast.stmt]:
        """The definitions, and the classes."""
        return self.definitions | {each.name: each for each in self._tree.body if isinstance(each, ast.ClassDef)}

    def location(self, name: str) -> Location:
        statement = self.definitions[name]
        return Location(self.file, statement.lineno, statement.col_offset + 1)

    def helpers(self) -> Iterator[Helper]:
        """The public functions and constants that are defined here, imported ones excepted."""
        for name, statement in self.definitions.items():
            if name.startswith("_") or isinstance(statement, ast.ImportFrom):
                continue
            yield Helper(name, form_of_function(statement.args) if isinstance(statement, ast.FunctionDef) else None)

    def defined_by_hand(self, generated: str) -> Iterator[str]:
        """The names that stand for something else than the op of that name. ``generated`` is a part of module names."""
        for name, statement in self.definitions.items():
            value = getattr(statement, "value", None)
            is_op = isinstance(value, ast.Attribute) and value.attr == name
            is_imported = isinstance(statement, ast.ImportFrom) and generated in (statement.module or "").split(".")
            if not is_op and not is_imported:
                yield name

    def dict_keys(self, name: str) -> frozenset[str]:
        """The literal keys of a dict."""
        value = getattr(self.definitions.get(name), "value", None)
        keys = value.keys if isinstance(value, ast.Dict) else []
        return frozenset(str(key.value) for key in keys if isinstance(key, ast.Constant))

    def dict_names(self, name: str) -> dict[str, str]:
        """The literal keys of a dict whose values are plain names, with these."""
        value = getattr(self.definitions.get(name), "value", None)
        pairs = zip(value.keys, value.values) if isinstance(value, ast.Dict) else ()
        return {
            str(key.value): named.id
            for key, named in pairs
            if isinstance(key, ast.Constant) and isinstance(named, ast.Name)
        }

    def dict_texts(self, name: str) -> Iterator[Scalar]:
        """The literal texts that are the values of a dict."""
        value = getattr(self.definitions.get(name), "value", None)
        for each in value.values if isinstance(value, ast.Dict) else []:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield Scalar(each.value, Location(self.file, each.lineno, each.col_offset + 1))

    def tensor_attributes(self) -> Iterator[tuple[str, CallForms]]:
        """What the bodies of class Tensor and of those with the decorator ``extend_tensor`` define."""
        for statement in self._tree.body:
            if isinstance(statement, ast.ClassDef) and (_extends_tensor(statement) or statement.name == "Tensor"):
                for member in statement.body:
                    yield from ((name, form_of_member(member)) for name in defined_names(member))

    def extensions(self) -> Iterator[str]:
        """The classes with that decorator."""
        for statement in self._tree.body:
            if isinstance(statement, ast.ClassDef) and _extends_tensor(statement):
                yield statement.name


def defined_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    elif isinstance(statement, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)


def _extends_tensor(statement: ast.ClassDef) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "extend_tensor" for node in statement.decorator_list)


def literal_defaults(arguments: ast.arguments, file: str) -> dict[str, Text]:
    """The parameters whose defaults are literals, and these."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = list(zip(reversed(positional), reversed(arguments.defaults)))
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults)
    literals = ((each, default) for each, default in pairs if default is not None and is_literal(default))
    return {
        each.arg: Text(ast.unparse(default), Location(file, default.lineno, default.col_offset + 1))
        for each, default in literals
    }


def parameter_names(arguments: ast.arguments) -> tuple[str, ...]:
    """All parameters in order, keyword-only ones flattened; ``*args`` and ``**kwargs`` keep their stars."""
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg:
        names.append(f"*{arguments.vararg.arg}")
    names += [argument.arg for argument in arguments.kwonlyargs]
    if arguments.kwarg:
        names.append(f"**{arguments.kwarg.arg}")
    return tuple(names)
