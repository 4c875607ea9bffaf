"""Scalar expressions of ops.yaml: what a pointwise op computes for one element. The CPU's compiled loops are made of
them.

The language is a part of Python: the op's tensors and numbers, + - * /, comparisons joined by & | ~, tensors of bools
(which are those that stand where a condition is meant), the functions of `vector_math`, and a choice by a flag or a
word, `a if approximate == 'tanh' else b`, which gives a loop for each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

from ..errors import Problems, did_you_mean
from ..model import Argument, FunctionSchema, ScalarExpression
from ..sources.source_module import Module
from .formula_offsets import character_offset, syntax_offset
from .yaml_source import Scalar

FUNCTIONS_FILE = "mindtorch/backends/cpu/compiled/vector_math.py"

Kind = Literal["number", "condition"]
_KINDS: dict[str, Kind] = {"Value": "number", "Operand": "number", "Condition": "condition"}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_LOGIC = (ast.BitAnd, ast.BitOr)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_PARTS = "it has names, numbers, + - * /, comparisons joined by & | ~, functions, and `a if flag else b`"


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """A function of scalar expressions: what its arguments are, and its result."""

    parameters: tuple[Kind, ...]
    result: Kind


@dataclass(frozen=True, slots=True)
class ScalarNames:
    """The functions and constants that scalar expressions may use."""

    functions: Mapping[str, ScalarFunction]
    constants: frozenset[str]


def scalar_names(module: Module | None) -> ScalarNames:
    """Those that a file defines."""
    functions, constants = {}, set()
    for name, statement in module.definitions.items() if module is not None else ():
        if isinstance(statement, ast.FunctionDef) and not name.startswith("_"):
            parameters = tuple(_KINDS[ast.unparse(each.annotation)] for each in statement.args.args if each.annotation)
            functions[name] = ScalarFunction(parameters, _KINDS[ast.unparse(statement.returns or statement)])
        elif isinstance(statement, ast.Assign) and not name.startswith("_"):
            constants.add(name)
    return ScalarNames(functions, frozenset(constants))


def read_scalar(
    source: Scalar, schema: FunctionSchema, names: ScalarNames, problems: Problems
) -> ScalarExpression | None:
    """The expression of ``source``; None, with what is wrong in ``problems``."""
    reader = _Reader(source, schema, names, problems)
    try:
        tree = ast.parse(source.text, mode="eval").body
    except SyntaxError as error:
        message = f"the scalar expression is not a Python expression: {error.msg}"
        problems.add("E060", message, source.at(syntax_offset(source.text, error)), _PARTS)
        return None
    except (ValueError, RecursionError, MemoryError):
        problems.add("E060", "the scalar expression is too deeply nested", source.location, _PARTS)
        return None
    reader.check(tree, "number")
    for name in sorted(reader.masks & reader.numbers):
        problems.add("E062", f"'{name}' is a condition here, and a number there", source.location)
    if reader.is_wrong or reader.masks & reader.numbers:
        return None
    code = ast.unparse(ast.fix_missing_locations(_OfModule(reader.arguments).visit(tree)))
    inputs = [each for each in schema.inputs if each.name in reader.used]
    operands = [each.name for each in sorted(inputs, key=lambda each: not each.type.is_tensor)]
    choices = {name: tuple(values) for name, values in reader.choices.items()}
    operands = [name for name in operands if name not in choices]
    masks = tuple(name for name in operands if name in reader.masks)
    return ScalarExpression(source.text, code, tuple(operands), choices, masks)


class _Reader:
    """Walks one expression. ``numbers`` and ``masks`` are the arguments that it meets, and ``choices`` the values of
    those it chooses by."""

    def __init__(self, source: Scalar, schema: FunctionSchema, names: ScalarNames, problems: Problems) -> None:
        self._source, self._names, self._problems = source, names, problems
        self.arguments = {each.name: each for each in schema.inputs}
        self.numbers: set[str] = set()
        self.masks: set[str] = set()
        self.choices: dict[str, dict[str | bool, None]] = {}
        self.is_wrong = False

    @property
    def used(self) -> set[str]:
        return self.numbers | self.masks

    def check(self, node: ast.expr, wanted: Kind) -> None:
        """Reports a part that is of another kind than its place wants. A tensor in place of a condition is a mask."""
        if wanted == "condition" and isinstance(node, ast.Name):
            argument = self.arguments.get(node.id)
            if argument is not None and argument.type.is_tensor:
                self.masks.add(node.id)
                return
        found = self._kind(node)
        if found is not None and found != wanted:
            self._problem("E062", f"this is a {found}, and a {wanted} is meant here", node, "where(condition, a, b)")

    def _kind(self, node: ast.expr) -> Kind | None:
        """What a part gives; None if it is wrong."""
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
            return self._of(node, "number" if isinstance(node.op, ast.USub) else "condition", node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (*_ARITHMETIC, *_LOGIC)):
            kind: Kind = "number" if isinstance(node.op, _ARITHMETIC) else "condition"
            return self._of(node, kind, node.left, node.right)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], _COMPARISONS):
            self._of(node, "number", node.left, *node.comparators)
            return "condition"
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.IfExp):
            self._chosen_by(node.test)
            return self._of(node, "number", node.body, node.orelse)
        self._problem("E069", "a scalar expression cannot use this", node, _PARTS)
        return None

    def _of(self, node: ast.expr, kind: Kind, *parts: ast.expr) -> Kind:
        for part in parts:
            self.check(part, kind)
        return kind

    def _constant(self, node: ast.Constant) -> Kind | None:
        if type(node.value) in (int, float):
            return "number"
        self._problem("E069", f"a scalar expression cannot use {node.value!r} here", node, _PARTS)
        return None

    def _name(self, node: ast.Name) -> Kind | None:
        argument = self.arguments.get(node.id)
        if argument is not None and _is_operand(argument):
            self.numbers.add(node.id)
            return "number"
        if argument is not None:
            message = f"'{node.id}' is {argument.type}, no number"
            self._problem("E061", message, node, "a flag or a word is what `a if flag else b` chooses by")
        elif node.id in self._names.constants:
            return "number"
        else:
            known = [*self.arguments, *self._names.constants, *self._names.functions]
            hint = did_you_mean(node.id, known) or f"names are the op's arguments and those of {FUNCTIONS_FILE}"
            self._problem("E061", f"unknown name '{node.id}' in the scalar expression", node, hint)
        return None

    def _call(self, node: ast.Call) -> Kind | None:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        function = self._names.functions.get(name)
        if function is None:
            hint = did_you_mean(name, self._names.functions) or f"functions are those of {FUNCTIONS_FILE}"
            self._problem("E061", f"unknown function '{name}' in the scalar expression", node, hint)
            return None
        count = len(function.parameters)
        if node.keywords or len(node.args) != count:
            message = f"'{name}' takes {count} argument{'s' * (count != 1)} by position"
            self._problem("E062", message, node)
            return None
        for part, kind in zip(node.args, function.parameters):
            self.check(part, kind)
        return function.result

    def _chosen_by(self, test: ast.expr) -> None:
        """A flag by itself, or a word that is compared with another one."""
        name, word = test, None
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            name, word = test.left, test.comparators[0]
        argument = self.arguments.get(name.id) if isinstance(name, ast.Name) else None
        if argument is not None and word is None and argument.type.base == "bool":
            self.choices[argument.name] = {False: None, True: None}
        elif argument is not None and argument.type.base == "str" and isinstance(word, ast.Constant):
            values = self.choices.setdefault(argument.name, {(argument.default or "").strip("'\""): None})
            values[str(word.value)] = None
        else:
            hint = "where(condition, a, b) chooses for each element"
            self._problem("E069", "the choice is by no flag and no word of the op's arguments", test, hint)

    def _problem(self, code: str, message: str, node: ast.expr, hint: str = "") -> None:
        self.is_wrong = True
        offset = character_offset(self._source.text, node.lineno, node.col_offset)
        self._problems.add(code, message, self._source.at(offset), hint)


def _is_operand(argument: Argument) -> bool:
    return argument.type.is_tensor or argument.type.base in ("Scalar", "float", "int")


class _OfModule(ast.NodeTransformer):
    """The names that are no arguments are those of `m`."""

    def __init__(self, arguments: Mapping[str, Argument]) -> None:
        self._arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._arguments:
            return node
        return ast.Attribute(ast.Name("m", ast.Load()), node.id, ast.Load())


def rows(name: str, expression: ScalarExpression) -> Iterator[tuple[str, dict[str, str | bool]]]:
    """The loops that an expression gives, by name: one, or one for each choice. The first has the op's own name."""
    for values in product(*expression.choices.values()):
        choice = dict(zip(expression.choices, values))
        others = [(key, value) for key, value in choice.items() if value != expression.choices[key][0]]
        chosen = [key if value is True else str(value) for key, value in others]
        yield "_".join([name, *chosen]), choice
