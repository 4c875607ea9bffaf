"""The rule about operators in formulas: `^`, `&`, `|`, `~`, `<<` and `>>` compute with bits, so with no fractions.

In mathematics `^` is a power, and `a > 0 & b > 0` needs no brackets. Both are Python, so that the mistake
would show only when the formula runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from ..errors import Problems
from ..model import Derivative, Formula
from .derivative_entries import DerivativeEntry
from .formula_offsets import character_offset
from .metadata import METADATA_METHODS
from .scope import output_names
from .yaml_source import Scalar

# What a part of a formula gives, as far as that can be told: whole numbers or masks, or what may have fractions.
Numbers = Literal["whole", "fractions", "unknown"]

_POWER = "a power is written **"
_BRACKETS = "it binds more tightly than a comparison: write (a > 0) & (b > 0), or logical_and(a, b)"
_OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.BitXor: ("^", _POWER),
    ast.BitAnd: ("&", _BRACKETS),
    ast.BitOr: ("|", _BRACKETS.replace("&", "|").replace("_and", "_or")),
    ast.LShift: ("<<", "write a * 2 ** b"),
    ast.RShift: (">>", "write a / 2 ** b"),
    ast.Invert: ("~", "it is for masks: write -a, or logical_not(a)"),
}
_WHOLE_TYPES = ("int", "SymInt", "bool", "SymBool")
_WHOLE_CALLS = METADATA_METHODS | {"bool", "int", "isinstance", "len"}
_WHOLE_FACTS = ("ndim", "shape")


def bits_are_of_integers(entry: DerivativeEntry, problems: Problems) -> None:
    """Report each operator on bits one of whose operands has fractions."""
    derivative = entry.derivative
    operands = _Operands(derivative)
    for formula in (*derivative.backward, *derivative.forward):
        for node in _nodes(formula):
            wrong = operands.wrong_in(node)
            if wrong is not None:
                sign, remedy = _OPERATORS[type(node.op)]
                message = f"'{sign}' computes with the bits of whole numbers: it cannot take '{ast.unparse(wrong)}'"
                place = _source(entry, formula).at(_sign_offset(formula.source, node, sign))
                problems.add("E072", message, place, remedy)


def _nodes(formula: Formula) -> Iterator[ast.BinOp | ast.UnaryOp]:
    """The operators on bits in a formula. One that is no Python has been reported."""
    try:
        tree = ast.parse(formula.source, mode="eval") if formula.is_expression else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.UnaryOp)) and type(node.op) in _OPERATORS:
            yield node


def _source(entry: DerivativeEntry, formula: Formula) -> Scalar:
    values = (value for _, value in entry.yaml.items if isinstance(value, Scalar))
    return next(value for value in values if value.location == formula.location)


def _sign_offset(text: str, node: ast.BinOp | ast.UnaryOp, sign: str) -> int:
    """Where the operator itself is: behind its left operand, if it has one."""
    if isinstance(node, ast.UnaryOp):
        return character_offset(text, node.lineno, node.col_offset)
    left = node.left
    return text.index(sign, character_offset(text, left.end_lineno or 1, left.end_col_offset or 0))


class _Operands:
    """What the names in the formulas of one op stand for, and what follows for the expressions made of them."""

    def __init__(self, derivative: Derivative) -> None:
        schema = derivative.op.schema
        tensors = {name for formula in derivative.backward if formula.is_expression for name in formula.targets}
        differentiable = dict(zip(schema.result_names, derivative.output_differentiability))
        outputs = {name for name, output in output_names(schema).items() if differentiable[output]}
        self._fractions = outputs | tensors
        self._fractions |= {f"{name}_{part}" for name in tensors for part in "pt"}
        self._fractions |= {f"grad_{name}" for name in self._fractions} | {"grad", "grads"}
        self._whole = {each.name for each in schema.inputs if str(each.type) in _WHOLE_TYPES}

    def wrong_in(self, node: ast.BinOp | ast.UnaryOp) -> ast.expr | None:
        """The operand whose bits cannot be computed with; of ``f(x) ^ 2`` it is safe to say that a power is meant."""
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        kinds = [self.numbers(each) for each in operands]
        meant = "unknown" if isinstance(node.op, ast.BitXor) and _has_constant(operands) else "fractions"
        wrong = (each for each, kind in zip(operands, kinds) if kind in ("fractions", meant))
        return next(wrong, None)

    def numbers(self, node: ast.expr) -> Numbers:
        match node:
            case ast.Constant(value=value):
                return "whole" if isinstance(value, int) else "fractions"
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id="grads" as name)):
                return self._named(name)
            case ast.Compare() | ast.UnaryOp(op=ast.Not() | ast.Invert()):
                return "whole"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                return "whole" if name in _WHOLE_CALLS else "unknown"
            case ast.Attribute(attr=name) | ast.Subscript(value=ast.Attribute(attr=name)):
                return "whole" if name in _WHOLE_FACTS else "unknown"
            case ast.UnaryOp(operand=operand):
                return self.numbers(operand)
            case ast.BinOp(left=left, op=operator, right=right):
                return "whole" if type(operator) in _OPERATORS else self._computed(left, operator, right)
        return "unknown"

    def _named(self, name: str) -> Numbers:
        return "fractions" if name in self._fractions else "whole" if name in self._whole else "unknown"

    def _computed(self, left: ast.expr, operator: ast.operator, right: ast.expr) -> Numbers:
        kinds = {self.numbers(left), self.numbers(right)}
        if "fractions" in kinds or isinstance(operator, ast.Div):
            return "fractions"
        return "whole" if kinds == {"whole"} else "unknown"


def _has_constant(operands: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Constant) and type(each.value) is int for each in operands)
