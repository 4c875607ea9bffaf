"""Derivative formulas as mathematics: a Python expression, through ``ast``, to MathML.

A formula says ``self``, ``result`` and ``grad``; mathematics says x, y and g. Products, quotients, powers, matrix
products and a few functions have signs of their own; any other call stays a call of a named function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codegen.model import Derivative, Formula, FunctionSchema

from . import mathml as m

# How tightly the outermost sign of an expression binds; what binds less than its surroundings gets brackets.
CHOICE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(10)

Handler = Callable[..., "Piece"]

_MODULES = ("math", "ops")


# The names that every formula may use, and those that helpers share by custom.
SIGNS = {
    "self": m.identifier("x"),
    "self_t": m.tangent(m.identifier("x")),
    "result": m.identifier("y"),
    "grad": m.identifier("g"),
    "grads": m.identifier("g"),
    "LOG_2": m.row(m.identifier("ln"), m.number("2")),
    "SQRT_PI": m.root(m.identifier("π")),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a formula as MathML, and how tightly its outermost sign binds."""

    markup: str
    rank: int = ATOM

    def within(self, rank: int) -> str:
        """The markup, in brackets if it stands inside something that binds more tightly."""
        return self.markup if self.rank >= rank else m.fenced("(", self.markup, ")")


def gradient(derivative: Derivative, formula: Formula) -> str:
    """A backward formula: the gradients of the loss L on the left, the expression on the right."""
    symbols = symbols_of(derivative.op.schema)
    loss = m.row(m.operator("∂"), m.identifier("L"))
    wanted = [m.fraction(loss, m.row(m.operator("∂"), symbols[target])) for target in formula.targets]
    left = wanted[0] if len(wanted) == 1 else m.fenced("(", m.listed(wanted), ")")
    return _equation(left, expression(formula.source, symbols))


def tangent(derivative: Derivative, formula: Formula) -> str:
    """A forward formula: the tangent of the output on the left."""
    symbols = symbols_of(derivative.op.schema)
    left = m.tangent(symbols[formula.targets[0]])
    if formula.is_expression:
        return _equation(left, expression(formula.source, symbols))
    if formula.kind == "auto_linear":
        return _equation(left, _on_tangents(derivative, symbols))
    first = derivative.edges[0].name
    slope = m.fraction(m.row(m.operator("∂"), symbols[formula.targets[0]]), m.row(m.operator("∂"), symbols[first]))
    return _equation(left, m.row(slope, m.operator("⋅"), m.tangent(symbols[first])))


def expression(source: str, symbols: Mapping[str, str]) -> str:
    """A Python expression as MathML; ``symbols`` has the markup of the names with a sign of their own."""
    return _Translator(symbols).visit(ast.parse(source, mode="eval").body).markup


def symbols_of(schema: FunctionSchema) -> dict[str, str]:
    """The signs of an op's arguments, outputs, gradients and tangents."""
    values = {argument.name: m.identifier(argument.name) for argument in schema.inputs}
    if "self" in values:
        values["self"] = SIGNS["self"]
    outputs = {name: m.identifier(name) for name in schema.result_names}
    if len(schema.returns) == 1:
        outputs |= dict.fromkeys(("result", *schema.result_names), m.identifier("y"))
    numbered = {f"result{i}": m.index(m.identifier("y"), m.number(str(i))) for i in range(len(schema.returns))}
    gradients = {f"grad_{name}": m.index(m.identifier("g"), markup) for name, markup in outputs.items()}
    duals = {f"{name}_p": markup for name, markup in values.items()}
    duals |= {f"{name}_t": m.tangent(markup) for name, markup in values.items()}
    return SIGNS | numbered | outputs | gradients | duals | values


def _equation(left: str, right: str) -> str:
    return m.math(m.row(left, m.operator("="), right))


def _on_tangents(derivative: Derivative, symbols: Mapping[str, str]) -> str:
    """A linear op, called on the tangents; dots stand for its other arguments."""
    tangents = [m.tangent(symbols[edge.name]) for edge in derivative.edges]
    others = [m.operator("…")] if len(derivative.op.schema.inputs) > len(tangents) else []
    return m.call(m.identifier(derivative.op.schema.name), [*tangents, *others])


class _Translator(ast.NodeVisitor):
    """Walks one expression; every visit gives a Piece."""

    def __init__(self, symbols: Mapping[str, str]) -> None:
        self._symbols = symbols

    def visit(self, node: ast.AST) -> Piece:
        piece: Piece = super().visit(node)
        return piece

    def generic_visit(self, node: ast.AST) -> Piece:
        """What has no sign in mathematics stays Python."""
        return Piece(m.words(ast.unparse(node)))

    def visit_Name(self, node: ast.Name) -> Piece:
        if node.id in self._symbols:
            return Piece(self._symbols[node.id])
        primal = node.id.removesuffix("_t")
        return Piece(m.identifier(primal) if primal == node.id else m.tangent(m.identifier(primal)))

    def visit_Constant(self, node: ast.Constant) -> Piece:
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return Piece(m.number(repr(node.value)))
        return Piece(m.words(f"“{node.value}”" if isinstance(node.value, str) else repr(node.value)))

    def visit_BinOp(self, node: ast.BinOp) -> Piece:
        left, right = self.visit(node.left), self.visit(node.right)
        handler = _BINARY.get(type(node.op))
        return handler(left, right) if handler else self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Piece:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return Piece(m.row(m.operator("¬"), operand.within(ATOM)), NOT)
        return negative(operand) if isinstance(node.op, ast.USub) else self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Piece:
        sign, rank = ("∧", AND) if isinstance(node.op, ast.And) else ("∨", OR)
        return _joined([self.visit(value) for value in node.values], [sign] * (len(node.values) - 1), rank)

    def visit_Compare(self, node: ast.Compare) -> Piece:
        operands = [self.visit(value) for value in (node.left, *node.comparators)]
        return _joined(operands, [_COMPARISONS[type(sign)] for sign in node.ops], COMPARISON)

    def visit_IfExp(self, node: ast.IfExp) -> Piece:
        return choice(self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_Attribute(self, node: ast.Attribute) -> Piece:
        """``x.shape`` is shape(x); ``needs_input_grad.x`` asks whether the gradient of x is wanted."""
        if isinstance(node.value, ast.Name) and node.value.id == "needs_input_grad":
            wanted = self._symbols.get(node.attr) or m.identifier(node.attr)
            return Piece(m.call(m.identifier("wanted"), [wanted]))
        return Piece(m.call(m.identifier(node.attr), [self.visit(node.value).markup]))

    def visit_Subscript(self, node: ast.Subscript) -> Piece:
        return Piece(m.index(self.visit(node.value).within(ATOM), self.visit(node.slice).markup))

    def visit_Tuple(self, node: ast.Tuple) -> Piece:
        return Piece(m.fenced("(", m.listed(self.visit(item).markup for item in node.elts), ")"))

    def visit_List(self, node: ast.List) -> Piece:
        return Piece(m.fenced("[", m.listed(self.visit(item).markup for item in node.elts), "]"))

    def visit_Call(self, node: ast.Call) -> Piece:
        """A function of its arguments; a method is a function of its tensor."""
        arguments = [self.visit(argument) for argument in node.args]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) not in _MODULES:
            arguments.insert(0, self.visit(node.func.value))
        handler = None if node.keywords else _FUNCTIONS.get((name, len(arguments)))
        if handler is not None:
            return handler(*arguments)
        keywords = (self._keyword(keyword) for keyword in node.keywords)
        return Piece(m.call(m.identifier(name), [*(piece.markup for piece in arguments), *keywords]))

    def _keyword(self, keyword: ast.keyword) -> str:
        value = self.visit(keyword.value).markup
        return value if keyword.arg is None else m.row(m.identifier(keyword.arg), m.operator("="), value)


# -------------------- signs --------------------


def total(left: Piece, right: Piece) -> Piece:
    return Piece(m.row(left.within(SUM), m.operator("+"), right.within(SUM)), SUM)


def difference(left: Piece, right: Piece) -> Piece:
    return Piece(m.row(left.within(SUM), m.operator("−"), right.within(PRODUCT)), SUM)


def product(left: Piece, right: Piece) -> Piece:
    return Piece(m.row(left.within(PRODUCT), m.operator("⋅"), right.within(POWER)), PRODUCT)


def matrix_product(left: Piece, right: Piece) -> Piece:
    """Two matrices side by side, as in a textbook."""
    return Piece(m.row(left.within(POWER), m.space(), right.within(POWER)), PRODUCT)


def quotient(left: Piece, right: Piece) -> Piece:
    return Piece(m.fraction(left.markup, right.markup), POWER)


def power(base: Piece, exponent: Piece) -> Piece:
    return Piece(m.power(base.within(ATOM), exponent.markup), POWER)


def negative(operand: Piece) -> Piece:
    return Piece(m.row(m.operator("−"), operand.within(PRODUCT)), SIGN if operand.rank > PRODUCT else PRODUCT)


def conjugate(operand: Piece) -> Piece:
    return Piece(m.power(operand.within(ATOM), m.operator("∗")), POWER)


def transpose(operand: Piece, *_dims: Piece) -> Piece:
    return Piece(m.power(operand.within(ATOM), m.operator("⊤")), POWER)


def outer(left: Piece, right: Piece) -> Piece:
    return Piece(m.row(left.within(POWER), m.operator("⊗"), right.within(POWER)), PRODUCT)


def choice(condition: Piece, value: Piece, otherwise: Piece) -> Piece:
    if_ = m.row(m.words("if"), m.space(), condition.markup)
    return Piece(m.cases([(value.markup, if_), (otherwise.markup, m.words("otherwise"))]), CHOICE)


def summation(operand: Piece, *dims: Piece) -> Piece:
    """A sum over everything, or over the dims that are written below; whether they stay, the shapes tell."""
    sign = m.operator("∑")
    return Piece(m.row(m.under(sign, dims[0].markup) if dims else sign, operand.within(PRODUCT)), PRODUCT)


def _constant(text: str) -> Handler:
    return lambda *_: Piece(m.number(text))


def _function(markup: str) -> Handler:
    return lambda *arguments: Piece(m.call(markup, [argument.markup for argument in arguments]))


def _joined(operands: list[Piece], signs: list[str], rank: int) -> Piece:
    parts = [operands[0].within(rank + 1)]
    for sign, operand in zip(signs, operands[1:]):
        parts += [m.operator(sign), operand.within(rank + 1)]
    return Piece(m.row(*parts), rank)


_BINARY: dict[type[ast.operator], Handler] = {
    ast.Add: total,
    ast.Sub: difference,
    ast.Mult: product,
    ast.Div: quotient,
    ast.Pow: power,
    ast.MatMult: matrix_product,
}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "<",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.GtE: "≥",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "∈",
    ast.NotIn: "∉",
}
# By name and number of arguments, the tensor of a method included.
_FUNCTIONS: dict[tuple[str, int], Handler] = {
    ("conj", 1): conjugate,
    ("conj_physical", 1): conjugate,
    ("abs", 1): lambda x: Piece(m.fenced("|", x.markup, "|")),
    ("exp", 1): lambda x: Piece(m.power(m.identifier("e"), x.markup), POWER),
    ("sqrt", 1): lambda x: Piece(m.root(x.markup)),
    ("square", 1): lambda x: power(x, Piece(m.number("2"))),
    ("reciprocal", 1): lambda x: quotient(Piece(m.number("1")), x),
    ("neg", 1): negative,
    ("log", 1): _function(m.identifier("ln")),
    ("digamma", 1): _function(m.identifier("ψ")),
    ("polygamma", 2): lambda n, x: _function(m.power(m.identifier("ψ"), m.fenced("(", n.markup, ")")))(x),
    ("add", 2): total,
    ("sub", 2): difference,
    ("mul", 2): product,
    ("maybe_multiply", 2): product,
    ("div", 2): quotient,
    ("pow", 2): power,
    **{(name, 2): matrix_product for name in ("mm", "bmm", "mv", "matmul")},
    ("outer", 2): outer,
    ("t", 1): transpose,
    **{("sum", count): summation for count in (1, 2, 3)},
    ("zeros_like", 1): _constant("0"),
    ("new_zeros", 2): _constant("0"),
    ("ones_like", 1): _constant("1"),
    ("where", 3): choice,
    ("masked_fill", 3): lambda x, mask, value: choice(mask, value, x),
}

# The functions of formulas that have a sign, and so need no further explanation.
EXPLAINED = frozenset(name for name, _ in _FUNCTIONS)
